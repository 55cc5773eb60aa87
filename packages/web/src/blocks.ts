/**
 * Entries and messages as blocks that a page can show. Stored values may be anything: what does not
 * have the form of its type is shown as data. Pure.
 */
import { entryParts, messageParts, textOfParts } from "@branchlog/core/entries";
import type { EntryPart, SaidParts, ShellPart, Speaker } from "@branchlog/core/entries";
import { markText, toolUse, useText } from "@branchlog/library/catalogs";
import type { ToolUse } from "@branchlog/library/conversation";
import type { Block } from "./api.ts";

/** Characters of a text that is not asked for whole. */
export const shownUnitsMax: number = 64 * 1024;
/** Characters of the line of text of a row. */
const gistUnitsMax = 240;
/** Bytes of an image that is sent to the page, in base64. */
const imageUnitsMax = 8 * 1024 * 1024;

/** Colours and moves of terminals. */
// oxlint-disable-next-line eslint/no-control-regex -- They begin with a control character.
const terminalCodes = /\u001b\[[\d;?]*[A-Za-z]/g;

const imageTypes: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
]);

/** Where the other half of a call or a result is; null: not known, or not there. */
export interface CallPlaces {
  readonly resultRow: (callId: string) => number | null;
  readonly callRow: (callId: string) => number | null;
}

interface Options {
  readonly unitsMax: number;
  readonly places: CallPlaces;
}

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Stored values may be anything. */
export function fieldsOf(value: unknown): Fields | undefined {
  return isFields(value) ? value : undefined;
}

/** The message of an answer, as it is stored. */
export function assistantMessage(entry: unknown): Fields | undefined {
  const message = fieldsOf(fieldsOf(entry)?.["message"]);
  return message?.["role"] === "assistant" ? message : undefined;
}

export function entryBlocks(entry: unknown, options: Options): Block[] {
  if (!isFields(entry)) return [];
  const { id: _id, parentId: _parentId, timestamp: _timestamp, type, ...rest } = entry;
  const said = typeof type === "string" ? entryParts({ ...entry, type }) : undefined;
  const isData = said === undefined || said.parts.some(({ kind }) => namingKinds.has(kind));
  if (isData) return [dataBlock(String(type), rest, options.unitsMax)];
  return saidBlocks(said, options);
}

const namingKinds: ReadonlySet<EntryPart["kind"]> = new Set(["name", "label"]);

export function messageBlocks(message: unknown, options: Options): Block[] {
  return saidBlocks(messageParts(message), options);
}

function saidBlocks({ speaker, parts }: SaidParts, options: Options): Block[] {
  if (speaker.role === "toolResult") return resultBlocks(speaker, parts, options);
  return parts.flatMap((part) => partBlocks(part, options));
}

function partBlocks(part: EntryPart, { unitsMax, places }: Options): Block[] {
  switch (part.kind) {
    case "text":
    case "summary":
    case "name":
    case "label":
      return [cutText("text", part.text, unitsMax)];
    case "thinking":
      return [cutText("thinking", part.text, unitsMax)];
    case "error":
      return [errorBlock(part.text, unitsMax)];
    case "image":
      return [imageBlock(part)];
    case "shell":
      return shellBlocks(part, unitsMax);
    case "call": {
      const { id, tool = "?", arguments: given } = part;
      const { text: input, cut } = shortened(indented(given), unitsMax);
      const use = shownUse(toolUse(tool, given));
      return [{ kind: "call", id, tool, use, input, cut, resultRow: places.resultRow(id) }];
    }
    case "data":
      return [dataBlock(part.type ?? "content", part.value, unitsMax)];
  }
}

function resultBlocks(
  { callId: id = "", tool = "?", isError }: Speaker,
  parts: readonly EntryPart[],
  { unitsMax, places }: Options,
): Block[] {
  const shown = shortened(textOfParts(parts, "\n"), unitsMax);
  const images = parts.flatMap((part) => (part.kind === "image" ? [imageBlock(part)] : []));
  return [{ kind: "result", id, tool, ...shown, isError, callRow: places.callRow(id) }, ...images];
}

function shellBlocks({ command, output, exitCode = 0 }: ShellPart, unitsMax: number): Block[] {
  const shown = shortened(output, unitsMax);
  const isError = exitCode !== 0;
  return [
    cutText("text", `\`\`\`sh\n${command}\n\`\`\``, unitsMax),
    { kind: "result", id: "", tool: "shell", ...shown, isError, callRow: null },
  ];
}

function errorBlock(text: string, unitsMax: number): Block {
  const shown = shortened(text, unitsMax);
  return { kind: "result", id: "", tool: "error", ...shown, isError: true, callRow: null };
}

const changedLinesMax = 600;
const changedUnitsMax = 400;

/** What a page can show of a call. */
export function shownUse(use: ToolUse): ToolUse {
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

export function imageBlock({
  mimeType: type,
  data,
}: Extract<EntryPart, { kind: "image" }>): Extract<Block, { kind: "image" }> {
  const sizeBytes = Math.floor((data.length * 3) / 4);
  const isShown =
    imageTypes.has(type) && data.length <= imageUnitsMax && /^[A-Za-z0-9+/]*={0,2}$/.test(data);
  return { kind: "image", source: isShown ? `data:${type};base64,${data}` : "", sizeBytes };
}

function cutText(kind: "text" | "thinking", text: string, unitsMax: number): Block {
  return { kind, ...shortened(text, unitsMax) };
}

function dataBlock(title: string, value: unknown, unitsMax: number): Block {
  return { kind: "data", title, ...shortened(indented(value), unitsMax) };
}

/** `cut`: how many characters are missing. */
export function shortened(
  text: string,
  unitsMax: number,
): { readonly text: string; readonly cut: number } {
  if (text.length <= unitsMax) return { text, cut: 0 };
  return { text: text.slice(0, unitsMax), cut: text.length - unitsMax };
}

export function indented(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2) ?? "";
  } catch {
    return "(nested too deeply to be shown)";
  }
}

/** One line of the text of an entry. */
export function gistOf(entry: unknown): string {
  const isMark = isFields(entry) && typeof entry["type"] === "string" && !speaks(entry);
  if (isMark) return gistLine([markText(entry)]);
  const parts: string[] = [];
  let units = 0;
  const places = { resultRow: () => null, callRow: () => null };
  for (const block of entryBlocks(entry, { unitsMax: 2 * gistUnitsMax, places })) {
    const text = blockGist(block);
    parts.push(text);
    units += text.length;
    if (units > gistUnitsMax) break;
  }
  return gistLine(parts);
}

/** Settings, names and records of programs are data, which a row has no room for. */
function speaks({ type, ...rest }: Fields): boolean {
  return typeof type === "string" && entryParts({ ...rest, type }) !== undefined;
}

function gistLine(parts: readonly string[]): string {
  const line = parts.join(" ").replaceAll(terminalCodes, "").replaceAll(/\s+/g, " ").trim();
  return line.length > gistUnitsMax ? `${line.slice(0, gistUnitsMax - 1)}…` : line;
}

function blockGist(block: Block): string {
  switch (block.kind) {
    case "text":
    case "result":
    case "data":
      return block.text;
    case "thinking":
      return "";
    case "call":
      return useText(block.use);
    case "image":
      return "(image)";
  }
}

/** Names of called tools, or the tool of a result. */
export function toolsOf(entry: unknown): string[] {
  const { speaker, parts } = saidIn(entry);
  if (speaker?.role === "toolResult" && speaker.tool !== undefined) return [speaker.tool];
  return parts.flatMap((part) => (part.kind === "call" ? [part.tool ?? "?"] : []));
}

export function isErrorEntry(entry: unknown): boolean {
  const { speaker, parts } = saidIn(entry);
  return speaker?.isError === true || parts.some(({ kind }) => kind === "error");
}

/** The ids of the calls in an entry, and the id of the call that it answers. */
export function callIdsOf(entry: unknown): {
  readonly calls: readonly string[];
  readonly answers: string | undefined;
} {
  const { speaker, parts } = saidIn(entry);
  const calls = parts.flatMap((part) => (part.kind === "call" ? [part.id] : []));
  return { calls, answers: speaker?.callId };
}

/** Of an entry that is a message. */
function saidIn(entry: unknown): Partial<SaidParts> & Pick<SaidParts, "parts"> {
  const message = fieldsOf(fieldsOf(entry)?.["message"]);
  return message === undefined ? { parts: [] } : messageParts(message);
}

/** Estimated: four characters each. */
export function tokensOf(blocks: readonly Block[]): number {
  let units = 0;
  for (const block of blocks) {
    if (block.kind === "call") units += block.input.length + block.cut;
    else if (block.kind !== "image") units += block.text.length + block.cut;
  }
  return Math.ceil(units / 4);
}
