/**
 * Puts a turn into the text of a document: its summary at the end of the turns, its messages where
 * the document keeps them, `updated` and the totals as they are then. No other byte changes, so
 * that comments, layout and what was added by hand survive. What came of it is read again before
 * anybody gets it. Pure.
 */
import { isDeepStrictEqual } from "node:util";
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import { itemsText, itemText } from "./block-text.ts";
import type { Layout } from "./block-text.ts";
import { documentLayout } from "./document-layout.ts";
import type { DocumentLayout } from "./document-layout.ts";
import type { ConnectonionDocument } from "./document-types.ts";
import { flowEdits } from "./flow-splice.ts";
import { flowText } from "./flow-text.ts";
import { asciiJson } from "./json-line.ts";
import { addedCost } from "./money.ts";
import { isObject, numberOfTurn, readDocument } from "./read-document.ts";
import type { ReadDocument } from "./read-document.ts";
import { floatText, lineText, numberText } from "./scalar-text.ts";
import { afterComments, lineEndOf, nextLine, placeAfter, withEdits } from "./text-places.ts";
import type { TextEdit } from "./text-places.ts";
import { followed, pairOf } from "./yaml-nodes.ts";
import type { YamlList, YamlMap, YamlPair } from "./yaml-nodes.ts";

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

/**
 * The text with the turn in it.
 * @throws BranchlogError `ERR_DOCUMENT_DAMAGED`, `ERR_DOCUMENT_REFUSED`.
 */
export function spliceTurn(text: string, path: string, added: TurnToAdd): SplicedTurn {
  const read = readDocument(text, path);
  const { document, root, tree } = read;
  const turn = nextTurn(read);
  const layout = documentLayout(read);
  const isNested = document.shape === "nested";
  const summary = summaryOf(read, turn, added, isNested);
  const head: Record<string, string | number> = {
    updated: added.updated,
    total_cost: newCost(read, added.fields),
    total_tokens: newTokens(read, added.fields),
  };
  const inserts = [turnInsert(summary, layout)];
  if (!isNested) inserts.push(messagesInsert(turn, added.messages, layout));
  // A key that is added at the end of the document comes after what is added to the last key.
  const [there, missing] = [true, false].map((isThere) =>
    inserts.filter(({ key }) => (pairOf(root, key) !== undefined) === isThere),
  );
  const edits = [
    ...Object.entries(head).flatMap(([key, value]) => scalarEdits(read, key, value)),
    ...[...(there ?? []), ...(missing ?? [])].flatMap((insert) => blockInsert(read, insert)),
  ];
  const spliced = withEdits(text, joined(edits));
  const expected = expectedData(document.data, summary, head);
  if (!isNested) expected["messages"] = { ...objectAt(document.data), [turn]: [...added.messages] };
  const after = meantDocument(spliced, path, expected);
  if (after === undefined) {
    const what = text.endsWith("\n")
      ? "a turn cannot be inserted into its layout without a doubt"
      : "its last line has no newline, which one behind it would add to a text";
    throw tree.refuse(what, root.end);
  }
  return { text: spliced, turn, document: after };
}

/** Several things that are put in at one place are one edit, in their order. */
function joined(edits: readonly TextEdit[]): TextEdit[] {
  const byPlace = new Map<string, TextEdit>();
  for (const edit of edits) {
    const place = `${edit.start}-${edit.end}`;
    const before = byPlace.get(place)?.text ?? "";
    byPlace.set(place, { ...edit, text: before + edit.text });
  }
  return [...byPlace.values()];
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

function expectedData(data: JsonObject, summary: JsonObject, head: JsonObject): JsonObject {
  const turns = data["turns"];
  const changed = Object.entries(head).filter(([key]) => key in data);
  const summaries = [...(Array.isArray(turns) ? turns : []), summary];
  return { ...data, ...Object.fromEntries(changed), turns: summaries };
}

function objectAt(data: JsonObject): JsonObject {
  const messages = data["messages"];
  return isObject(messages) ? messages : {};
}

function nextTurn({ document: { turns, messages } }: ReadDocument): number {
  const numbers = [...turns.map((turn, place) => numberOfTurn(turn, place)), ...messages.keys()];
  return numbers.reduce((highest, number) => Math.max(highest, number), 0) + 1;
}

/** The turn with its keys where the turn before it has them. */
function summaryOf(
  { document: { turns } }: ReadDocument,
  turn: number,
  { fields, messages }: TurnToAdd,
  isNested: boolean,
): JsonObject {
  const own = isNested ? { messages: asciiJson(messages) } : {};
  const entries = Object.entries({ turn, ...fields, ...own });
  const order = Object.keys(turns.at(-1) ?? {});
  const placeOf = (key: string): number => (order.includes(key) ? order.indexOf(key) : Infinity);
  const known = entries.filter(([key]) => order.includes(key));
  const others = entries.filter(([key]) => !order.includes(key));
  known.sort(([one], [other]) => placeOf(one) - placeOf(other));
  // What the turn before does not have comes last, but a number is no good there.
  const isNumbered = order.includes("turn");
  const [first, rest] = [others.filter(([key]) => key === "turn"), others];
  return Object.fromEntries(isNumbered ? [...known, ...rest] : [...first, ...known, ...rest]);
}

function newCost({ document }: ReadDocument, { cost }: JsonObject): number {
  const total = document.storedTotals.total_cost ?? document.totals.total_cost;
  return addedCost(total, typeof cost === "number" ? cost : 0);
}

function newTokens({ document }: ReadDocument, { tokens }: JsonObject): number {
  const total = document.storedTotals.total_tokens ?? document.totals.total_tokens;
  return total + (typeof tokens === "number" ? tokens : 0);
}

/** Puts a value where a key has one; a key that is not there is not added. */
function scalarEdits(read: ReadDocument, key: string, value: string | number): TextEdit[] {
  const { root, tree } = read;
  const pair = pairOf(root, key);
  if (pair === undefined) return [];
  const { value: node } = pair;
  const shown = typeof value === "string" ? quoted(value) : numberOf(key, value);
  if (node.start === node.end) return [inserted(colonEnd(read, pair), ` ${shown}`)];
  if (node.kind !== "scalar" || node.style === "block") {
    throw tree.refuse(`${key} is no value on one line`, node.start);
  }
  return [{ start: node.start, end: node.end, text: shown }];
}

function numberOf(key: string, value: number): string {
  return key === "total_cost" ? floatText(value) : numberText(value);
}

/** Times are quoted in any case, as the tool does. */
function quoted(text: string): string {
  const line = lineText(text);
  return line === text ? `'${text}'` : line;
}

function inserted(at: number, text: string): TextEdit {
  return { start: at, end: at, text };
}

function colonEnd({ tree: { text, refuse } }: ReadDocument, { key }: YamlPair): number {
  const colon = text.indexOf(":", key.end);
  const isNext = colon >= 0 && /^["' \t]*$/.test(text.slice(key.end, colon));
  if (!isNext) throw refuse("a key stands apart from its colon", key.start);
  return colon + 1;
}

function turnInsert(summary: JsonObject, { turns, style }: DocumentLayout): BlockInsert {
  const item = itemText(summary, turns.column, style);
  return { key: "turns", item, flowItem: flowText(summary), ...turns };
}

function messagesInsert(
  turn: number,
  messages: readonly JsonValue[],
  { messages: place, messageStyle, hasQuotedKeys }: DocumentLayout,
): BlockInsert {
  const key = hasQuotedKeys ? `'${turn}'` : turn;
  const item = messagesText(key, messages, place.column, messageStyle);
  return { key: "messages", item, flowItem: `${key}: ${flowText([...messages])}`, ...place };
}

/** The messages of a turn under its number. */
export function messagesText(
  turn: string | number,
  messages: readonly JsonValue[],
  column: number,
  layout: Layout,
): string {
  const lead = " ".repeat(column);
  if (messages.length === 0) return `${lead}${turn}: []\n`;
  return `${lead}${turn}:\n${itemsText(messages, column + layout.listIndent, layout)}`;
}

/** Something that goes to the end of the block below a key, or into the brackets behind it. */
interface BlockInsert {
  readonly key: "turns" | "messages";
  /** Whole lines. */
  readonly item: string;
  /** The same in flow style. */
  readonly flowItem: string;
  readonly column: number;
  /** Whether an empty line goes before it. */
  readonly isApart: boolean;
}

function blockInsert(read: ReadDocument, insert: BlockInsert): TextEdit[] {
  const { root, tree } = read;
  const { text } = tree;
  const pair = pairOf(root, insert.key);
  if (pair === undefined) return [keyInsert(read, insert)];
  const block = followed(pair.value);
  if (pair.value.kind === "alias") {
    throw tree.refuse(`${insert.key} stands there by an alias`, pair.value.start);
  }
  if (block.kind !== "scalar" && itemsIn(block) > 0) {
    if (block.isFlow) return flowEdits(tree, block, insert.flowItem);
    const at = placeAfter(text, pair.value, insert.column);
    return [lineInsert(text, at, insert.item, insert.isApart)];
  }
  // `[]`, `{}` or nothing gives way to the block.
  const colon = colonEnd(read, pair);
  const isEmpty = block.start === block.end;
  const removed = isEmpty ? [] : [{ start: colon, end: block.end, text: "" }];
  const at = afterComments(text, nextLine(text, Math.max(colon, block.end)), 0);
  return [...removed, lineInsert(text, at, insert.item, false)];
}

function itemsIn(block: YamlMap | YamlList): number {
  return block.kind === "list" ? block.items.length : block.pairs.length;
}

/** Adds a key that the document does not have, at its end. */
function keyInsert(read: ReadDocument, { key, item }: BlockInsert): TextEdit {
  const { root, tree } = read;
  const at = placeAfter(tree.text, root, 0);
  return lineInsert(tree.text, at, `${key}:\n${item}`, false);
}

/** Puts whole lines in at the start of a line, with the line ends of the text. */
function lineInsert(text: string, at: number, lines: string, isApart: boolean): TextEdit {
  const lineEnd = lineEndOf(text);
  const isCutOff = at > 0 && text[at - 1] !== "\n";
  const shown = `${isCutOff ? "\n" : ""}${isApart ? "\n" : ""}${lines}`;
  return inserted(at, lineEnd === "\n" ? shown : shown.replaceAll("\n", lineEnd));
}
