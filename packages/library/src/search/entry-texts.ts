/** The searchable texts of an entry. Pure. */
import {
  nameSaidBy,
  namingTypes,
  isStoredObject,
  storedList,
  storedText,
} from "@branchlog/core/rows";
import type { SessionEntry } from "@branchlog/core";

export const searchedKinds = [
  "message",
  "thinking",
  "call",
  "result",
  "shell",
  "custom",
  "summary",
  "name",
  "label",
] as const;

/**
 * `message` of user or assistant; `thinking`; `call`: name and arguments of a tool call; `result`
 * of a tool; `shell`: a user's command and its output; `custom`: of an extension or the system;
 * `summary` of a compaction or branch; `name` of the session; `label` of an entry.
 */
export type SearchedKind = (typeof searchedKinds)[number];

export interface EntryText {
  readonly kind: SearchedKind;
  readonly text: string;
  readonly role?: string;
  readonly tool?: string;
}

/** In reading order. */
export function entryTexts(entry: SessionEntry): readonly EntryText[] {
  if (namingTypes.includes(entry.type)) return asText("name", nameSaidBy(entry));
  switch (entry.type) {
    case "label":
      return asText("label", entry.label);
    case "message":
      return messageTexts(entry.message);
    case "custom_message":
      return [{ kind: "custom", text: storedText(entry.content, " ") }];
    case "compaction":
    case "branch_summary":
      return asText("summary", entry.summary);
    default:
      return [];
  }
}

function asText(kind: SearchedKind, text: unknown): readonly EntryText[] {
  return typeof text === "string" ? [{ kind, text }] : [];
}

function messageTexts(message: unknown): readonly EntryText[] {
  if (!isStoredObject(message)) return [];
  // Decoding boundary: of a message nothing was checked.
  const { role, content, ...rest }: Readonly<Record<string, unknown>> = { ...message };
  if (typeof role !== "string") return [];
  const text = storedText(content, " ");
  switch (role) {
    case "user":
      return [{ kind: "message", role, text }];
    case "assistant":
      return [{ kind: "message", role, text }, ...blockTexts(role, content)];
    case "toolResult": {
      const tool = stringOr(rest["toolName"], "");
      return [{ kind: "result", role, tool, text }];
    }
    case "bashExecution": {
      const output = stringOr(rest["output"], "");
      return [{ kind: "shell", role, text: `${stringOr(rest["command"], "")}\n${output}` }];
    }
    default:
      return [{ kind: "custom", role, text }];
  }
}

/** Blocks of an assistant that are not text. */
function blockTexts(role: string, content: unknown): readonly EntryText[] {
  const texts: EntryText[] = [];
  for (const block of storedList(content)) {
    if (!isStoredObject(block)) continue;
    // Decoding boundary: of a block nothing was checked.
    const { type, thinking, name, ...rest }: Readonly<Record<string, unknown>> = { ...block };
    if (type === "thinking" && typeof thinking === "string") {
      texts.push({ kind: "thinking", role, text: thinking });
    }
    if (type !== "toolCall" || typeof name !== "string") continue;
    const words = [name, ...leaves(rest["arguments"])];
    texts.push({ kind: "call", role, tool: name, text: words.join(" ") });
  }
  return texts;
}

function leaves(value: unknown): readonly string[] {
  const found: string[] = [];
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === "string" || typeof next === "number") found.push(String(next));
    else if (Array.isArray(next) || isStoredObject(next)) {
      const values: readonly unknown[] = Object.values(next);
      // Not spread into one call: there may be millions.
      for (const one of values.toReversed()) open.push(one);
    }
  }
  return found;
}

function stringOr(value: unknown, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
}
