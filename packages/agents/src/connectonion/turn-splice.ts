/**
 * Inserts a turn into the text of a document in its own layout. No other byte changes but totals,
 * and the result is read again: a layout in which it is ambiguous is refused. Pure.
 */
import { isObject } from "@branchlog/core/rows";
import { isDeepStrictEqual } from "node:util";
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import { addedCost } from "./costs-and-times.ts";
import { numberOfTurn } from "./document-types.ts";
import type { ConnectonionDocument } from "./document-types.ts";
import { inOrder, printableJson } from "./json-values.ts";
import { readDocument } from "./read-document.ts";
import type { ReadDocument } from "./read-document.ts";
import { isMap, isPair, isScalar, isSeq, nodeAt, Scalar } from "./yaml-reader.ts";
import type { Pair, ParsedNode, YAMLMap, YAMLSeq, YamlText } from "./yaml-reader.ts";
import { flowText, indented, itemText, layouts, outerListText, quotedText } from "./yaml-text.ts";

export interface TurnToAdd {
  readonly fields: JsonObject;
  readonly messages: readonly JsonValue[];
  readonly updated: string;
}

export interface SplicedTurn {
  readonly text: string;
  /** One more than the highest number in the document. */
  readonly turn: number;
  readonly document: ConnectonionDocument;
}

interface TextEdit {
  readonly start: number;
  readonly end?: number;
  readonly text: string;
}

/** @throws BranchlogError `ERR_DOCUMENT_DAMAGED`, `ERR_DOCUMENT_REFUSED`. */
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
  // A key added at the end of the document follows additions to the last key.
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

function summaryOf(
  { turns }: ConnectonionDocument,
  turn: number,
  { fields, messages }: TurnToAdd,
  isNested: boolean,
): JsonObject {
  const given = { turn, ...fields, ...(isNested ? { messages: printableJson(messages) } : {}) };
  const order = Object.keys(turns.at(-1) ?? {});
  // The number comes first.
  if (!order.includes("turn")) order.unshift("turn");
  return inOrder(given, order);
}

function headEdit({ root, yaml }: ReadDocument, key: string, shown: string): TextEdit[] {
  const node = nodeAt(root, key);
  if (node === undefined) return [];
  const isBlock = isScalar(node) && (node.type ?? "PLAIN").startsWith("BLOCK");
  if (!isScalar(node) || isBlock) {
    throw yaml.refuse(`${key} is not a value on one line`, node?.range[0] ?? root.range[0]);
  }
  const [start, end] = node.range;
  if (start < end) return [{ start, end, text: shown }];
  return [{ start: yaml.text.slice(0, start).trimEnd().length, text: ` ${shown}` }];
}

interface Insert {
  readonly key: "turns" | "messages";
  readonly lines: string;
  readonly flowItem: string;
  readonly column: number;
  /** Whether an empty line precedes it, if the document does not show that. */
  readonly isAiry: boolean;
}

function insertsOf(
  { root, yaml: { text } }: ReadDocument,
  turn: number,
  summary: JsonObject,
  messages: readonly JsonValue[] | undefined,
): Insert[] {
  const dash = columnIn(nodeAt(root, "turns"));
  // A document without turns is in the format's layout if it has its sections.
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
  // Python does not sort strings among numbers.
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

function columnIn(node: ParsedNode | null | undefined): number | undefined {
  if (!(isSeq(node) || isMap(node)) || node.items.length === 0) return undefined;
  const { srcToken } = node;
  return srcToken?.type === "flow-collection" ? undefined : srcToken?.indent;
}

/** Whether an empty line precedes the last node, or the comments above it. */
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
  // The block replaces `[]`, `{}` or nothing.
  const [start, end] = node?.range ?? [0, 0];
  if (node === null || text.slice(start, end).includes("#")) {
    throw refuse(`nothing can be put behind ${key} without a doubt`, start);
  }
  const removed = { start: text.slice(0, start).trimEnd().length, end, text: "" };
  const at = afterComments(text, nextLine(text, end), 0);
  return [...(start === end ? [] : [removed]), lineInsert(text, at, lines, false)];
}

const flowIndentDefault = 2;

/** Inserts an item at the end of a non-empty flow collection, in the layout of its bracket. */
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
  // A trailing comma is followed by an empty item.
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

/** The column of an offset with only spaces before it in its line. */
function indentOf(text: string, offset: number): number | undefined {
  const before = text.slice(lineStart(text, offset), offset);
  return /^ *$/.test(before) ? before.length : undefined;
}

/** The line after a block, including comments indented by more than `column`. */
function placeAfter(text: string, node: ParsedNode, column: number): number {
  // The end of the node is not used: the parser counts the comments after it as parts of it.
  let last = node;
  while ((isSeq(last) || isMap(last)) && last.flow !== true) {
    const item: ParsedNode | Pair<ParsedNode, ParsedNode | null> | undefined = last.items.at(-1);
    if (item === undefined) break;
    last = isPair(item) ? (item.value ?? item.key) : item;
  }
  const [, end] = last.range;
  return afterComments(text, text[end - 1] === "\n" ? end : nextLine(text, end), column);
}

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

function lineInsert(text: string, at: number, lines: string, isApart: boolean): TextEdit {
  const isCutOff = at > 0 && text[at - 1] !== "\n";
  const shown = `${isCutOff ? "\n" : ""}${isApart ? "\n" : ""}${lines}`;
  return { start: at, text: shown.replaceAll("\n", lineEndOf(text)) };
}

function withEdits(text: string, edits: readonly TextEdit[]): string {
  const lastFirst = edits.toReversed().sort((one, other) => other.start - one.start);
  return lastFirst.reduce((edited, { start, end = start, text: put }) => {
    return edited.slice(0, start) + put + edited.slice(end);
  }, text);
}

function lineStart(text: string, offset: number): number {
  return offset === 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;
}

function nextLine(text: string, offset: number): number {
  const newline = text.indexOf("\n", offset);
  return newline < 0 ? text.length : newline + 1;
}

function lineEndOf(text: string): "\n" | "\r\n" {
  const newline = text.indexOf("\n");
  return newline > 0 && text[newline - 1] === "\r" ? "\r\n" : "\n";
}
