/**
 * Puts a turn into the text of a document: its summary at the end of the turns, its messages where
 * the document keeps them, `updated` and the totals as they are then. No other byte changes, so
 * that comments, layout and what was added by hand survive, and what is inserted has the form of
 * what is there. The result is read again: a layout in which it does not say exactly what is meant
 * is refused. Pure.
 */
import { isDeepStrictEqual } from "node:util";
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import { addedCost } from "./costs-and-times.ts";
import { numberOfTurn } from "./document-types.ts";
import type { ConnectonionDocument } from "./document-types.ts";
import { inOrder, isObject, printableJson } from "./json-values.ts";
import { readDocument } from "./read-document.ts";
import type { ReadDocument } from "./read-document.ts";
import { isMap, isPair, isScalar, isSeq, nodeAt, Scalar } from "./yaml-reader.ts";
import type { Pair, ParsedNode, YAMLMap, YAMLSeq, YamlText } from "./yaml-reader.ts";
import { flowText, indented, itemText, layouts, outerListText, quotedText } from "./yaml-text.ts";

/** A turn that is to be put in, without its number; plain JSON. */
export interface TurnToAdd {
  readonly fields: JsonObject;
  readonly messages: readonly JsonValue[];
  /** What `updated` is to say. */
  readonly updated: string;
}

/** A text with the turn in it. */
export interface SplicedTurn {
  readonly text: string;
  /** The number that the turn got: one more than the highest that the document names. */
  readonly turn: number;
  /** The text, read. */
  readonly document: ConnectonionDocument;
}

/** A change of a text: what is at `[start, end)` becomes `text`. Without an end it is put in. */
interface TextEdit {
  readonly start: number;
  readonly end?: number;
  readonly text: string;
}

/**
 * The text with the turn in it.
 * @throws BranchlogError `ERR_DOCUMENT_DAMAGED`, `ERR_DOCUMENT_REFUSED`.
 */
export function spliceTurn(text: string, path: string, added: TurnToAdd): SplicedTurn {
  const read = readDocument(text, path);
  const { document, root, yaml } = read;
  if (root.srcToken?.type !== "block-map" || root.srcToken.indent !== 0) {
    throw yaml.refuse("its keys do not stand at the beginning of their lines", root.range[0]);
  }
  const { data, storedTotals, totals } = document;
  const turn = nextTurn(document);
  const isNested = document.shape === "nested";
  const summary = summaryOf(document, turn, added, isNested);
  const { cost, tokens } = added.fields;
  const total = storedTotals.total_cost ?? totals.total_cost;
  const taken = storedTotals.total_tokens ?? totals.total_tokens;
  const head = {
    updated: added.updated,
    total_cost: addedCost(total, typeof cost === "number" ? cost : 0),
    total_tokens: taken + (typeof tokens === "number" ? tokens : 0),
  };
  const inserts = insertsOf(read, turn, summary, isNested ? undefined : added.messages);
  // A key that is added at the end of the document comes after what is added to the last key.
  inserts.sort((one, other) => Number(!(one.key in data)) - Number(!(other.key in data)));
  const spliced = withEdits(text, [
    ...headEdit(read, "updated", quotedText(head.updated)),
    ...headEdit(read, "total_cost", flowText(head.total_cost, true)),
    ...headEdit(read, "total_tokens", flowText(head.total_tokens)),
    ...inserts.flatMap((insert) => insertEdits(read, insert)),
  ]);
  const after = meantDocument(spliced, path, {
    ...data,
    ...Object.fromEntries(Object.entries(head).filter(([key]) => key in data)),
    turns: [...(Array.isArray(data["turns"]) ? data["turns"] : []), summary],
    ...(isNested ? {} : { messages: { ...messagesIn(data), [turn]: [...added.messages] } }),
  });
  if (after !== undefined) return { text: spliced, turn, document: after };
  const what = text.endsWith("\n")
    ? "a turn cannot be inserted into its layout without a doubt"
    : "its last line has no newline, which one behind it would add to a text";
  throw yaml.refuse(what, root.range[1]);
}

function messagesIn({ messages }: JsonObject): JsonObject {
  return isObject(messages) ? messages : {};
}

/** The document in a text if it says what is meant, and nothing else. */
function meantDocument(
  text: string,
  path: string,
  expected: JsonObject,
): ConnectonionDocument | undefined {
  try {
    const { document } = readDocument(text, path);
    return isDeepStrictEqual(document.data, expected) ? document : undefined;
  } catch {
    return undefined;
  }
}

function nextTurn({ turns, messages }: ConnectonionDocument): number {
  const numbers = [...turns.map((turn, place) => numberOfTurn(turn, place)), ...messages.keys()];
  return numbers.reduce((highest, number) => Math.max(highest, number), 0) + 1;
}

/** The turn with its keys where the turn before it has them; what that lacks comes last. */
function summaryOf(
  { turns }: ConnectonionDocument,
  turn: number,
  { fields, messages }: TurnToAdd,
  isNested: boolean,
): JsonObject {
  const given = { turn, ...fields, ...(isNested ? { messages: printableJson(messages) } : {}) };
  const order = Object.keys(turns.at(-1) ?? {});
  // A number is no good at the end.
  if (!order.includes("turn")) order.unshift("turn");
  return inOrder(given, order);
}

/** Puts a value where a key has one; a key that is not there is not added. */
function headEdit({ root, yaml }: ReadDocument, key: string, shown: string): TextEdit[] {
  const node = nodeAt(root, key);
  if (node === undefined) return [];
  const isBlock = isScalar(node) && (node.type ?? "PLAIN").startsWith("BLOCK");
  if (!isScalar(node) || isBlock) {
    throw yaml.refuse(`${key} is no value on one line`, node?.range[0] ?? root.range[0]);
  }
  const [start, end] = node.range;
  if (start < end) return [{ start, end, text: shown }];
  return [{ start: yaml.text.slice(0, start).trimEnd().length, text: ` ${shown}` }];
}

/** Something that goes to the end of the block below a key, or into the brackets behind it. */
interface Insert {
  readonly key: "turns" | "messages";
  /** Whole lines, indented as they are to be. */
  readonly lines: string;
  /** The same in flow style. */
  readonly flowItem: string;
  readonly column: number;
  /** Whether an empty line goes before it where there are no two to tell by. */
  readonly isAiry: boolean;
}

/** The turn, and its messages if they are not part of it, in the layout of the document. */
function insertsOf(
  { root, yaml: { text } }: ReadDocument,
  turn: number,
  summary: JsonObject,
  messages: readonly JsonValue[] | undefined,
): Insert[] {
  const dash = columnIn(nodeAt(root, "turns"));
  // A document without turns shows by its sections whether it is in the form of the format.
  const isDumped = dash === undefined ? !/^# =+ .+ =+\s*$/m.test(text) : dash === 0;
  const style = isDumped ? layouts.dumped : layouts.ideal;
  const keyed = nodeAt(root, "messages");
  const pairs = isMap(keyed) ? keyed.items : [];
  const keyColumn = columnIn(keyed) ?? 2;
  const lists = pairs.flatMap(({ value }) => {
    return isSeq(value) && columnIn(value) !== undefined ? [value] : [];
  });
  const listColumn = columnIn(lists.at(-1)) ?? keyColumn + style.listIndent;
  const listIndent = Math.max(0, listColumn - keyColumn);
  const column = dash ?? style.listIndent;
  const lines = indented(itemText(summary, { ...style, listIndent }), column);
  const { isAiry } = style;
  const ofTurn: Insert = { key: "turns", lines, flowItem: flowText(summary), column, isAiry };
  if (messages === undefined) return [ofTurn];
  // Python does not sort texts among numbers.
  const lastKey = pairs.at(-1)?.key;
  const isQuoted = isScalar(lastKey) && lastKey.type !== Scalar.PLAIN;
  const key = isQuoted ? `'${turn}'` : String(turn);
  const long = lists.findLast(({ items }) => items.length > 1)?.items ?? [];
  const layout = { listIndent, isAiry: areApart(text, long) ?? isAiry };
  const ofMessages: Insert = {
    key: "messages",
    lines: indented(outerListText(key, messages, layout), keyColumn),
    flowItem: `${key}: ${flowText([...messages])}`,
    column: keyColumn,
    isAiry,
  };
  return [ofTurn, ofMessages];
}

/** The column of the dashes or keys of a block with items; undefined for everything else. */
function columnIn(node: ParsedNode | null | undefined): number | undefined {
  if (!(isSeq(node) || isMap(node)) || node.items.length === 0) return undefined;
  const { srcToken } = node;
  return srcToken?.type === "flow-collection" ? undefined : srcToken?.indent;
}

/** Whether an empty line comes before the last of several, or before the comments above it. */
function areApart(text: string, nodes: readonly ParsedNode[]): boolean | undefined {
  const last = nodes.at(-1);
  if (last === undefined || nodes.length < 2) return undefined;
  for (let at = lineStart(text, last.range[0]); at > 0; at = lineStart(text, at - 1)) {
    const line = text.slice(lineStart(text, at - 1), at).trim();
    if (!line.startsWith("#")) return line === "";
  }
  return false;
}

function insertEdits({ root, yaml }: ReadDocument, insert: Insert): TextEdit[] {
  const { text, refuse } = yaml;
  const { key, lines, column, isAiry } = insert;
  const node = nodeAt(root, key);
  if (node === undefined) {
    return [lineInsert(text, placeAfter(text, root, 0), `${key}:\n${lines}`, false)];
  }
  if ((isSeq(node) || isMap(node)) && node.items.length > 0) {
    if (node.flow === true) return flowEdits(yaml, node, insert.flowItem);
    const items = isSeq(node) ? node.items : node.items.map((pair) => pair.key);
    const isApart = areApart(text, items) ?? isAiry;
    return [lineInsert(text, placeAfter(text, node, column), lines, isApart)];
  }
  // `[]`, `{}` or nothing gives way to the block.
  const [start, end] = node?.range ?? [0, 0];
  if (node === null || text.slice(start, end).includes("#")) {
    throw refuse(`nothing can be put behind ${key} without a doubt`, start);
  }
  const removed = { start: text.slice(0, start).trimEnd().length, end, text: "" };
  const at = afterComments(text, nextLine(text, end), 0);
  return [...(start === end ? [] : [removed]), lineInsert(text, at, lines, false)];
}

/** Columns from a bracket to what it holds, where nothing shows them. */
const flowIndentDefault = 2;

/**
 * Puts an item, or a pair, at the end of one in flow style that is not empty: behind the last, in
 * front of the bracket, on a line of its own if the bracket has one. A comma at the end and
 * comments stay with what they follow.
 */
function flowEdits(
  { text, refuse }: YamlText,
  { srcToken: token, items, range }: YAMLMap.Parsed | YAMLSeq.Parsed,
  item: string,
): TextEdit[] {
  const last = items.at(-1);
  const first = isPair(last) ? last.key : last;
  const end = (isPair(last) ? last.value : last)?.range;
  if (token?.type !== "flow-collection" || !first || !end || end[0] === end[1]) {
    throw refuse("the end of a list in flow style is unclear", range[1] - 1);
  }
  const bracket = token.end[0]?.offset ?? range[1] - 1;
  // What follows the last comma has no value if the comma is at the end.
  const rest = token.items.at(-1);
  const isRest = rest?.key === undefined && rest?.value === undefined;
  const comma = isRest ? rest?.start.find(({ type }) => type === "comma")?.offset : undefined;
  const line = lineStart(text, bracket);
  if (line < end[1] || text.slice(line, bracket).trim() !== "") {
    if (comma === undefined) return [{ start: end[1], text: `, ${item}` }];
    return [{ start: comma + 1, text: ` ${item},` }];
  }
  const indent = indentOf(text, first.range[0]) ?? bracket - line + flowIndentDefault;
  const ending = `${comma === undefined ? "" : ","}${lineEndOf(text)}`;
  const own = { start: line, text: `${" ".repeat(indent)}${item}${ending}` };
  return comma === undefined ? [{ start: end[1], text: "," }, own] : [own];
}

/** The column of an offset, if there are only spaces before it in its line; else undefined. */
function indentOf(text: string, offset: number): number | undefined {
  const before = text.slice(lineStart(text, offset), offset);
  return /^ *$/.test(before) ? before.length : undefined;
}

/**
 * Where the line after a block begins. Comments behind it that are indented by more than `column`
 * belong to it, and what follows them comes after.
 */
function placeAfter(text: string, node: ParsedNode, column: number): number {
  // Not the end of the node itself: the parser counts all comments behind it as parts of it.
  let last = node;
  while ((isSeq(last) || isMap(last)) && last.flow !== true) {
    const item: ParsedNode | Pair<ParsedNode, ParsedNode | null> | undefined = last.items.at(-1);
    if (item === undefined) break;
    last = isPair(item) ? (item.value ?? item.key) : item;
  }
  const [, end] = last.range;
  return afterComments(text, text[end - 1] === "\n" ? end : nextLine(text, end), column);
}

/** The line after the comments that begin at a line and are indented by more than `column`. */
function afterComments(text: string, from: number, column: number): number {
  let place = from;
  for (let at = from; at < text.length; at = nextLine(text, at)) {
    const line = text.slice(at, nextLine(text, at)).trimEnd();
    const rest = line.trimStart();
    if (rest === "") continue;
    if (!rest.startsWith("#") || line.length - rest.length <= column) break;
    place = nextLine(text, at);
  }
  return place;
}

/** Puts whole lines in at the start of a line, with the line ends of the text. */
function lineInsert(text: string, at: number, lines: string, isApart: boolean): TextEdit {
  const isCutOff = at > 0 && text[at - 1] !== "\n";
  const shown = `${isCutOff ? "\n" : ""}${isApart ? "\n" : ""}${lines}`;
  return { start: at, text: shown.replaceAll("\n", lineEndOf(text)) };
}

/** The text with all edits made, those of one place in their order; they must not overlap. */
function withEdits(text: string, edits: readonly TextEdit[]): string {
  const lastFirst = edits.toReversed().sort((one, other) => other.start - one.start);
  return lastFirst.reduce((edited, { start, end = start, text: put }) => {
    return edited.slice(0, start) + put + edited.slice(end);
  }, text);
}

/** Where the line that holds an offset begins. */
function lineStart(text: string, offset: number): number {
  return offset === 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;
}

/** Where the line after the one that holds an offset begins; the end of the text for the last. */
function nextLine(text: string, offset: number): number {
  const newline = text.indexOf("\n", offset);
  return newline < 0 ? text.length : newline + 1;
}

/** The line end that a text uses. */
function lineEndOf(text: string): "\n" | "\r\n" {
  const newline = text.indexOf("\n");
  return newline > 0 && text[newline - 1] === "\r" ? "\r\n" : "\n";
}
