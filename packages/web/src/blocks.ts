/**
 * Entries and messages as blocks that a page can show. Stored values may be anything: what does not
 * have the form of its type is shown as data. Pure.
 */
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

function textAt(value: unknown, key: string): string | undefined {
  const found = isFields(value) ? value[key] : undefined;
  return typeof found === "string" ? found : undefined;
}

export function entryBlocks(entry: unknown, options: Options): Block[] {
  if (!isFields(entry)) return [];
  switch (entry["type"]) {
    case "message":
      return messageBlocks(entry["message"], options);
    case "compaction":
    case "branch_summary":
      return [cutText("text", textAt(entry, "summary") ?? "", options.unitsMax)];
    case "custom_message":
      return messageBlocks({ ...entry, role: "custom" }, options);
    default: {
      const { id: _id, parentId: _parentId, timestamp: _timestamp, type, ...rest } = entry;
      return [dataBlock(String(type), rest, options.unitsMax)];
    }
  }
}

export function messageBlocks(message: unknown, options: Options): Block[] {
  const { unitsMax, places } = options;
  if (!isFields(message)) return [dataBlock("message", message, unitsMax)];
  const { role, content } = message;
  if (role === "bashExecution") return shellBlocks(message, unitsMax);
  if (role === "branchSummary" || role === "compactionSummary") {
    return [cutText("text", textAt(message, "summary") ?? "", unitsMax)];
  }
  if (role === "toolResult") return resultBlocks(message, options);
  const blocks = contentOf(content).map((block) => contentBlock(block, unitsMax, places));
  const error = textAt(message, "errorMessage");
  return error === undefined ? blocks : [...blocks, errorBlock(error, unitsMax)];
}

function contentOf(content: unknown): readonly unknown[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content : [];
}

function contentBlock(block: unknown, unitsMax: number, places: CallPlaces): Block {
  const type = textAt(block, "type");
  const text = textAt(block, "text");
  if (type === "text" && text !== undefined) return cutText("text", text, unitsMax);
  if (type === "thinking") return cutText("thinking", textAt(block, "thinking") ?? "", unitsMax);
  if (type === "image") return imageBlock(block);
  if (type === "toolCall" && isFields(block)) {
    const id = textAt(block, "id") ?? "";
    const { text: input, cut } = shortened(indented(block["arguments"]), unitsMax);
    const tool = textAt(block, "name") ?? "?";
    return { kind: "call", id, tool, input, cut, resultRow: places.resultRow(id) };
  }
  return dataBlock(type ?? "content", block, unitsMax);
}

function resultBlocks(message: Fields, { unitsMax, places }: Options): Block[] {
  const id = textAt(message, "toolCallId") ?? "";
  const parts = contentOf(message["content"]);
  const texts = parts.flatMap((part) => textAt(part, "text") ?? []).join("\n");
  const images = parts.filter((part) => textAt(part, "type") === "image");
  const tool = textAt(message, "toolName") ?? "?";
  const isError = message["isError"] === true;
  const shown = shortened(texts, unitsMax);
  return [
    { kind: "result", id, tool, ...shown, isError, callRow: places.callRow(id) },
    ...images.map((image) => imageBlock(image)),
  ];
}

function shellBlocks(message: Fields, unitsMax: number): Block[] {
  const { exitCode } = message;
  const command = cutText(
    "text",
    `\`\`\`sh\n${textAt(message, "command") ?? ""}\n\`\`\``,
    unitsMax,
  );
  const output = shortened(textAt(message, "output") ?? "", unitsMax);
  const isError = typeof exitCode === "number" && exitCode !== 0;
  return [command, { kind: "result", id: "", tool: "shell", ...output, isError, callRow: null }];
}

function errorBlock(text: string, unitsMax: number): Block {
  const shown = shortened(text, unitsMax);
  return { kind: "result", id: "", tool: "error", ...shown, isError: true, callRow: null };
}

function imageBlock(block: unknown): Block {
  const data = textAt(block, "data") ?? "";
  const type = textAt(block, "mimeType") ?? "";
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

function indented(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2) ?? "";
  } catch {
    return "(nested too deeply to be shown)";
  }
}

/** One line of the text of an entry. */
export function gistOf(entry: unknown): string {
  const parts: string[] = [];
  let units = 0;
  const places = { resultRow: () => null, callRow: () => null };
  for (const block of entryBlocks(entry, { unitsMax: 2 * gistUnitsMax, places })) {
    const text = blockGist(block);
    parts.push(text);
    units += text.length;
    if (units > gistUnitsMax) break;
  }
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
      return `${block.tool} ${block.input}`;
    case "image":
      return "(image)";
  }
}

/** Names of called tools, or the tool of a result. */
export function toolsOf(entry: unknown): string[] {
  const message = isFields(entry) ? entry["message"] : undefined;
  if (!isFields(message)) return [];
  const result = message["role"] === "toolResult" ? textAt(message, "toolName") : undefined;
  if (result !== undefined) return [result];
  return contentOf(message["content"]).flatMap((block) =>
    textAt(block, "type") === "toolCall" ? [textAt(block, "name") ?? "?"] : [],
  );
}

export function isErrorEntry(entry: unknown): boolean {
  const message = isFields(entry) ? entry["message"] : undefined;
  if (!isFields(message)) return false;
  return message["isError"] === true || typeof message["errorMessage"] === "string";
}

/** The ids of the calls in an entry, and the id of the call that it answers. */
export function callIdsOf(entry: unknown): {
  readonly calls: readonly string[];
  readonly answers: string | undefined;
} {
  const message = isFields(entry) ? entry["message"] : undefined;
  const calls = contentOf(isFields(message) ? message["content"] : undefined).flatMap((block) =>
    textAt(block, "type") === "toolCall" ? [textAt(block, "id") ?? ""] : [],
  );
  return { calls, answers: textAt(message, "toolCallId") };
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
