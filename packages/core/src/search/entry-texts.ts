/** The texts of an entry that are searched, each with what it is. Pure. */
import { nameSaidBy, namingTypes } from "../projections/name.ts";
import type { SessionEntry } from "../entries/entry-types.ts";
import { isStoredObject, storedList, storedText } from "../projections/stored-value.ts";

/** What a text of an entry can be; see {@link EntryText}. */
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
 * `message`: what a user or an assistant said; `thinking` of an assistant; `call`: the name and the
 * arguments of tool calls; `result` of a tool; `shell`: a command of the user and its output;
 * `custom`: the message of an extension or of the system; `summary` of a compaction or a branch;
 * `name` of the session; `label` of an entry.
 */
export type SearchedKind = (typeof searchedKinds)[number];

export interface EntryText {
  readonly kind: SearchedKind;
  readonly text: string;
  /** Of a message, as stored. */
  readonly role?: string;
  /** The name of the tool that was called. */
  readonly tool?: string;
}

/** In the order in which a reader would see them. */
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

/** Of an assistant's blocks, those that are not what it said. */
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

/** The texts and numbers in a JSON value, in their order. */
function leaves(value: unknown): readonly string[] {
  const found: string[] = [];
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === "string" || typeof next === "number") found.push(String(next));
    else if (Array.isArray(next) || isStoredObject(next)) {
      const values: readonly unknown[] = Object.values(next);
      // Not as arguments of one call: there may be millions.
      for (const one of values.toReversed()) open.push(one);
    }
  }
  return found;
}

function stringOr(value: unknown, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
}
