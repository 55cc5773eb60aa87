/**
 * The content of the entries of a turn, as blocks in order: a call and its result are one block.
 * Every part of every entry is in exactly one block; an entry without parts is one mark. Pure.
 */
import { entryParts, textOfParts } from "@branchlog/core/entries";
import type { EntryPart, SessionEntry, Speaker, ToolCallPart } from "@branchlog/core/entries";
import { countAt, isObject, stringAt } from "@branchlog/core/rows";
import { toolUse } from "./tool-use.ts";
import type { ToolUse } from "./shown-conversation.ts";

/** An entry at its row; undefined if it is damaged. */
export interface PlacedEntry {
  readonly row: number;
  /** Epoch milliseconds; NaN: unknown. */
  readonly timeMs: number;
  readonly type: string;
  /** Of a message. */
  readonly role: string | undefined;
  readonly entry: SessionEntry | undefined;
}

export type ImagePart = Extract<EntryPart, { kind: "image" }>;

export interface CallResult {
  readonly row: number;
  readonly text: string;
  readonly images: readonly ImagePart[];
  readonly isError: boolean;
  /** Of a command; null: unknown. */
  readonly exitCode: number | null;
  /** From the call to its result; null: unknown. */
  readonly durationMs: number | null;
}

export interface CallItem {
  readonly kind: "call";
  readonly row: number;
  readonly tool: string;
  readonly use: ToolUse;
  /** As it is stored; null: a command of the user. */
  readonly call: ToolCallPart | null;
  /** Null: there is none here. */
  readonly result: CallResult | null;
}

export type TurnItem =
  | CallItem
  /** `prompt`: of the user. `error`: why an answer ended. */
  | {
      readonly kind: "prompt" | "answer" | "thinking" | "error";
      readonly row: number;
      readonly text: string;
    }
  /** Content added by a program or an extension, and results without their call. */
  | {
      readonly kind: "note";
      readonly row: number;
      readonly title: string;
      readonly text: string;
      readonly isError: boolean;
      /** Whether a tool produced it: it is not Markdown. */
      readonly isOutput: boolean;
    }
  /** A summary in place of what was before, or of another branch. */
  | {
      readonly kind: "compaction" | "branchSummary";
      readonly row: number;
      readonly text: string;
      /** Of the context that a compaction replaced; 0: unknown. */
      readonly tokensBefore: number;
    }
  | { readonly kind: "image"; readonly row: number; readonly image: ImagePart }
  /** Of another form. */
  | { readonly kind: "data"; readonly row: number; readonly title: string; readonly value: unknown }
  /** Settings, usage, names, records of programs: not conversation. */
  | { readonly kind: "mark"; readonly row: number; readonly title: string; readonly text: string };

/** The rows that a block shows. */
export function rowsOfItem(item: TurnItem): readonly number[] {
  const isPair = item.kind === "call" && item.result !== null && item.result.row !== item.row;
  return isPair && item.result !== null ? [item.row, item.result.row] : [item.row];
}

/** O(parts). A result is joined to the latest call before it that has its id. */
export function turnItems(entries: readonly PlacedEntry[]): readonly TurnItem[] {
  const items: TurnItem[] = [];
  const open = new Map<string, { readonly at: number; readonly timeMs: number }>();
  for (const placed of entries) {
    const said = placed.entry === undefined ? undefined : entryParts(placed.entry);
    if (said === undefined || said.parts.length === 0) {
      items.push(markOf(placed));
      continue;
    }
    const { speaker, parts } = said;
    if (speaker.role === "toolResult") {
      addResult(items, open, placed, speaker, parts);
      continue;
    }
    for (const part of parts) {
      if (part.kind === "call") {
        open.set(part.id, { at: items.length, timeMs: placed.timeMs });
      }
      items.push(partItem(placed, speaker, part));
    }
  }
  return items;
}

type OpenCalls = Map<string, { readonly at: number; readonly timeMs: number }>;

function addResult(
  items: TurnItem[],
  open: OpenCalls,
  { row, timeMs }: PlacedEntry,
  speaker: Speaker,
  parts: readonly EntryPart[],
): void {
  const { callId = "", isError, tool = "?" } = speaker;
  const call = open.get(callId);
  const item = call === undefined ? undefined : items[call.at];
  const text = textOfResult(parts);
  const images = parts.flatMap((part) => (part.kind === "image" ? [part] : []));
  if (call === undefined || item?.kind !== "call") {
    items.push({ kind: "note", row, title: `result of ${tool}`, text, isError, isOutput: true });
    for (const image of images) items.push({ kind: "image", row, image });
    return;
  }
  // A second result of the same call is a block of its own.
  open.delete(callId);
  const durationMs = timeMs - call.timeMs;
  const result: CallResult = {
    row,
    text,
    images,
    isError,
    exitCode: item.use.kind === "shell" ? exitCodeIn(text, isError) : null,
    durationMs: durationMs >= 0 ? durationMs : null,
  };
  items[call.at] = { ...item, result };
}

/** Everything but images, which are shown as such. */
function textOfResult(parts: readonly EntryPart[]): string {
  const texts = parts.flatMap((part) => {
    if (part.kind === "image") return [];
    return "text" in part ? [part.text] : [jsonOf(part)];
  });
  return texts.join("\n");
}

function partItem({ row, entry }: PlacedEntry, speaker: Speaker, part: EntryPart): TurnItem {
  switch (part.kind) {
    case "text":
      return textItem(row, speaker, part.text);
    case "thinking":
    case "error":
      return { kind: part.kind, row, text: part.text };
    case "name":
    case "label":
      return { kind: "mark", row, title: part.kind, text: part.text };
    case "summary":
      return summaryItem(row, speaker, part.text, entry);
    case "call": {
      const tool = part.tool ?? "?";
      const use = toolUse(tool, part.arguments);
      return { kind: "call", row, tool, use, call: part, result: null };
    }
    case "shell": {
      const { command, output: text, exitCode = null } = part;
      const isError = exitCode !== null && exitCode !== 0;
      const result = { row, text, images: [], isError, exitCode, durationMs: null };
      return {
        kind: "call",
        row,
        tool: "user",
        use: { kind: "shell", command },
        call: null,
        result,
      };
    }
    case "image":
      return { kind: "image", row, image: part };
    case "data":
      return { kind: "data", row, title: part.type ?? "content", value: part.value };
  }
}

function textItem(row: number, speaker: Speaker, text: string): TurnItem {
  const { role = "unknown", customType, isError } = speaker;
  if (role === "user") return { kind: "prompt", row, text };
  if (role === "assistant") return { kind: "answer", row, text };
  return { kind: "note", row, title: customType ?? role, text, isError, isOutput: false };
}

function summaryItem(
  row: number,
  { role }: Speaker,
  text: string,
  entry: SessionEntry | undefined,
): TurnItem {
  const kind = role === "branchSummary" ? "branchSummary" : "compaction";
  const tokensBefore = isObject(entry) ? countAt(entry, "tokensBefore") : 0;
  return { kind, row, text, tokensBefore };
}

/** Fields that every entry has. */
const commonFields: ReadonlySet<string> = new Set(["type", "id", "parentId", "timestamp"]);
const markUnitsMax = 200;

function markOf({ row, type, entry }: PlacedEntry): TurnItem {
  if (entry === undefined) return { kind: "mark", row, title: "damaged", text: "" };
  return { kind: "mark", row, title: type.replaceAll(/[_-]/g, " "), text: markText(entry) };
}

/** The values of a record outside the conversation, on one line. */
function markText(entry: object): string {
  const fields = Object.entries(entry).filter(([key]) => !commonFields.has(key));
  const text = fields.map(([, value]) => shortOf(value)).join(" · ");
  return text.slice(0, markUnitsMax);
}

function shortOf(value: unknown): string {
  return typeof value === "string" ? value.slice(0, markUnitsMax) : jsonOf(value);
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "(nested too deeply to be shown)";
  }
}

/** As pi, Claude Code and Codex write it at the start or the end of an output. */
const exitCode = /(?:exited with code|exit code:?|"exit_code":)\s*(-?\d{1,10})\b/i;
const edgeUnits = 300;

function exitCodeIn(text: string, isError: boolean): number | null {
  const edges = [text.slice(0, edgeUnits), text.slice(-edgeUnits)];
  const found = edges.map((edge) => exitCode.exec(edge)?.[1]).find((code) => code !== undefined);
  // Outputs have numbers of their own: only one that agrees with the result is taken.
  if (found !== undefined && (Number(found) !== 0) === isError) return Number(found);
  return isError ? null : 0;
}

/** The first line of a text, as a title; empty if it has none. */
export function firstLine(text: string, unitsMax = 200): string {
  const line = text.trimStart().split("\n", 1)[0]?.trim() ?? "";
  return line.length > unitsMax ? `${line.slice(0, unitsMax - 1)}…` : line;
}

/** The text of the user's message, joined. */
export function promptText(entry: SessionEntry | undefined): string {
  const said = entry === undefined ? undefined : entryParts(entry);
  return said === undefined ? "" : textOfParts(said.parts, "\n");
}

/** `provider/model` of an answer; empty for other entries. */
export function answeringModel(entry: SessionEntry | undefined): string {
  const message: unknown = entry?.type === "message" ? entry.message : undefined;
  if (!isObject(message) || message["role"] !== "assistant") return "";
  const names = [stringAt(message, "provider"), stringAt(message, "model")];
  return names.filter((name) => name !== undefined && name !== "").join("/");
}
