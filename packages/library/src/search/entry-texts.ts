/** The searchable texts of an entry. Pure. */
import { entryParts, textOfParts } from "@branchlog/core/entries";
import type { EntryPart } from "@branchlog/core/entries";
import { isStoredObject } from "@branchlog/core/rows";
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
  const said = entryParts(entry);
  if (said === undefined) return [];
  const { speaker, parts } = said;
  const role = entry.type === "message" ? speaker.role : undefined;
  if (entry.type === "message" && role === undefined) return [];
  const own = parts.flatMap((part) => partTexts(part, role));
  const kind = spokenKind(entry.type, role);
  if (kind === undefined) return own;
  const tool = kind === "result" ? { tool: speaker.tool ?? "" } : {};
  const text = textOfParts(parts, " ");
  return [{ kind, ...(role === undefined ? {} : { role }), ...tool, text }, ...own];
}

/** Of the texts; undefined: there are none. */
function spokenKind(type: string, role: string | undefined): SearchedKind | undefined {
  if (type === "custom_message") return "custom";
  switch (role) {
    case undefined:
    case "bashExecution":
      return undefined;
    case "user":
    case "assistant":
      return "message";
    case "toolResult":
      return "result";
    default:
      return "custom";
  }
}

/** Of a part that is not text. */
function partTexts(part: EntryPart, role: string | undefined): readonly EntryText[] {
  switch (part.kind) {
    case "name":
    case "label":
      return [{ kind: part.kind, text: part.text }];
    case "summary":
      return [{ kind: "summary", text: part.text }];
    case "shell":
      return [{ kind: "shell", ...roleOf(role), text: `${part.command}\n${part.output}` }];
    case "thinking":
      return [{ kind: "thinking", ...roleOf(role), text: part.text }];
    case "call": {
      const { tool, arguments: given } = part;
      if (tool === undefined) return [];
      const text = [tool, ...leaves(given)].join(" ");
      return [{ kind: "call", ...roleOf(role), tool, text }];
    }
    case "text":
    case "error":
    case "image":
    case "data":
      return [];
  }
}

function roleOf(role: string | undefined): { readonly role?: string } {
  return role === undefined ? {} : { role };
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
