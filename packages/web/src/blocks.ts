/**
 * Blocks of a conversation for the page: long texts are shortened, images are checked. Stored
 * values can be anything. Pure.
 */
import type { AgentMessage } from "@branchlog/core";
import { entryParts } from "@branchlog/core/entries";
import type { EntryPart, SaidParts, SessionEntry } from "@branchlog/core/entries";
import { usage } from "@branchlog/core/rows";
import { shownUsage, turnItems, useText } from "@branchlog/library/catalogs";
import type {
  CallItem,
  ConversationPage,
  PlacedEntry,
  TurnItem,
} from "@branchlog/library/catalogs";
import type { ToolUse } from "@branchlog/library/conversation";
import type { CallOutcome, ContextMessage, TurnBlock, TurnPage, Usage } from "./api.ts";

/** Characters of a text unless requested in full. */
export const shownUnitsMax: number = 64 * 1024;
/** Results are mostly not opened; an opened one can be shown in full. */
const resultUnitsMax = 6_000;
/** Characters of the line of text of a row. */
const gistUnitsMax = 240;
/** Bytes of an image that is sent to the page, in base64. */
const imageUnitsMax = 8 * 1024 * 1024;
const changedLinesMax = 600;
const changedUnitsMax = 400;

/** Colours and moves of terminals. */
// oxlint-disable-next-line eslint/no-control-regex -- They begin with a control character.
const terminalCodes = /\u001b\[[\d;?]*[A-Za-z]/g;

const imageTypes: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
]);

export function shownPage(page: ConversationPage): TurnPage {
  const sections = page.sections.map(({ items, ...facts }) => {
    return { ...facts, blocks: items.map((item) => shownItem(item)) };
  });
  return { ...page, sections };
}

/** The content of an entry, with the results of its calls if they are among `results`. */
export function entryBlocks(
  row: number,
  entry: SessionEntry,
  { results, isFull }: { readonly results: readonly PlacedEntry[]; readonly isFull: boolean },
): TurnBlock[] {
  const items = turnItems([placed(row, entry), ...results]).filter((item) => item.row === row);
  return items.map((item) => (isFull ? shownItem(item, Infinity, Infinity) : shownItem(item)));
}

/** A message of a context, which has no row. */
export function contextMessage(message: AgentMessage): ContextMessage {
  // Decoding boundary: an entry as the message would be stored.
  const entry = { type: "message", message } as unknown as SessionEntry;
  const blocks = turnItems([placed(-1, entry)]).map((item) => shownItem(item));
  return { role: message.role, blocks, tokens: tokensOf(blocks) };
}

function placed(row: number, entry: SessionEntry): PlacedEntry {
  return { row, timeMs: Date.parse(entry.timestamp), type: entry.type, role: undefined, entry };
}

function shownItem(
  item: TurnItem,
  unitsMax: number = shownUnitsMax,
  outputUnitsMax: number = resultUnitsMax,
): TurnBlock {
  const { row } = item;
  switch (item.kind) {
    case "prompt":
    case "answer":
    case "error":
    case "note":
    case "thinking":
    case "compaction":
    case "branchSummary":
      return { ...item, ...shortened(item.text, unitsMax) };
    case "call": {
      const { tool, use } = item;
      const result = outcomeOf(item.result, outputUnitsMax);
      return { kind: "call", row, tool, use: shownUse(use), line: useText(use), result };
    }
    case "image":
      return { row, ...imageBlock(item.image) };
    case "data": {
      const { title } = item;
      return { kind: "data", row, title, ...shortened(indented(item.value), outputUnitsMax) };
    }
    case "mark":
      return item;
  }
}

function outcomeOf(result: CallItem["result"], unitsMax: number): CallOutcome | null {
  if (result === null) return null;
  const images = result.images.map((image) => imageBlock(image));
  return { ...result, images, ...shortened(result.text, unitsMax) };
}

/** The visible parts of a call. */
function shownUse(use: ToolUse): ToolUse {
  switch (use.kind) {
    case "shell":
      return { ...use, command: use.command.slice(0, shownUnitsMax) };
    case "edit":
    case "write": {
      const shown = use.lines
        .slice(0, changedLinesMax)
        .map(({ kind, text }) => ({ kind, text: text.slice(0, changedUnitsMax) }));
      const rest = use.lines.length - shown.length;
      const more = { kind: "place", text: `… ${rest} more lines` } as const;
      return { ...use, lines: rest > 0 ? [...shown, more] : shown };
    }
    case "task":
      return { ...use, prompt: use.prompt.slice(0, shownUnitsMax) };
    case "read":
    case "search":
    case "other":
      return use;
  }
}

type ShownImage = CallOutcome["images"][number];

function imageBlock({ mimeType, data }: Extract<EntryPart, { kind: "image" }>): ShownImage {
  const isShown =
    imageTypes.has(mimeType) && data.length <= imageUnitsMax && /^[A-Za-z0-9+/]*={0,2}$/.test(data);
  const source = isShown ? `data:${mimeType};base64,${data}` : "";
  return { kind: "image", source, sizeBytes: Math.floor((data.length * 3) / 4) };
}

/** `cut`: how many characters are missing. */
export function shortened(
  text: string,
  unitsMax: number,
): { readonly text: string; readonly cut: number } {
  if (text.length <= unitsMax) return { text, cut: 0 };
  return { text: text.slice(0, unitsMax), cut: text.length - unitsMax };
}

function indented(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2) ?? "";
  } catch {
    return "(nested too deeply to be shown)";
  }
}

/** One line of the text of an entry. */
export function gistOf(entry: SessionEntry): string {
  const parts: string[] = [];
  let units = 0;
  const items = turnItems([placed(0, entry)]);
  // Some agents store thinking as a separate entry.
  const isThought = items.every(({ kind }) => kind === "thinking");
  for (const item of items) {
    const gist = item.kind === "thinking" && isThought ? `(thinking) ${item.text}` : itemGist(item);
    const text = gist.slice(0, 2 * gistUnitsMax);
    parts.push(text);
    units += text.length;
    if (units > gistUnitsMax) break;
  }
  const line = parts.join(" ").replaceAll(terminalCodes, "").replaceAll(/\s+/g, " ").trim();
  return line.length > gistUnitsMax ? `${line.slice(0, gistUnitsMax - 1)}…` : line;
}

function itemGist(item: TurnItem): string {
  switch (item.kind) {
    case "thinking":
      return "";
    case "call":
      return useText(item.use);
    case "image":
      return "(image)";
    case "data":
      return indented(item.value);
    default:
      return item.text;
  }
}

/** Names of called tools, or the tool of a result. */
export function toolsOf(entry: SessionEntry | undefined): string[] {
  const { speaker, parts } = saidIn(entry);
  if (speaker?.role === "toolResult" && speaker.tool !== undefined) return [speaker.tool];
  return parts.flatMap((part) => (part.kind === "call" ? [part.tool ?? "?"] : []));
}

export function isErrorEntry(entry: SessionEntry | undefined): boolean {
  const { speaker, parts } = saidIn(entry);
  return speaker?.isError === true || parts.some(({ kind }) => kind === "error");
}

export function callIdsOf(entry: SessionEntry): string[] {
  return saidIn(entry).parts.flatMap((part) => (part.kind === "call" ? [part.id] : []));
}

/** Of a result. */
export function answeredIdOf(entry: SessionEntry): string | undefined {
  return saidIn(entry).speaker?.callId;
}

function saidIn(entry: SessionEntry | undefined): Partial<SaidParts> & Pick<SaidParts, "parts"> {
  const said = entry?.type === "message" ? entryParts(entry) : undefined;
  return said ?? { parts: [] };
}

/** Estimated: four characters each. */
function tokensOf(blocks: readonly TurnBlock[]): number {
  const units = blocks.map((block) => {
    if (block.kind === "call") return JSON.stringify(block.use).length;
    return "text" in block ? block.text.length + ("cut" in block ? block.cut : 0) : 0;
  });
  return Math.ceil(units.reduce((sum, one) => sum + one, 0) / 4);
}

export function messageUsage(entry: SessionEntry | undefined): Usage | null {
  if (entry === undefined) return null;
  const { total } = usage.apply(usage.initial(), { revision: 0, entry });
  return total.requests === 0 ? null : shownUsage(total);
}
