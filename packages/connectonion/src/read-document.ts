/**
 * Reads the text of a ConnectOnion document, in either of its shapes and in any layout: keys in any
 * order, with comments, as PyYAML writes it or as people do. Pure.
 */
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import { BranchlogError } from "@branchlog/core";
import { documentDiagnostics } from "./document-diagnostics.ts";
import { addedCost } from "./money.ts";
import type {
  ChatMessage,
  ConnectonionDocument,
  ConnectonionTotals,
  ConnectonionTurn,
  DocumentShape,
} from "./document-types.ts";
import { followed, pairOf, valueOf } from "./yaml-nodes.ts";
import type { YamlMap, YamlNode } from "./yaml-nodes.ts";
import { parseYaml } from "./yaml-parser.ts";
import type { YamlTree } from "./yaml-parser.ts";

/** A document with the nodes it was read from. */
export interface ReadDocument {
  readonly document: ConnectonionDocument;
  readonly tree: YamlTree;
  readonly root: YamlMap;
}

/**
 * Reads a document.
 * @param path Named by errors.
 * @throws BranchlogError `ERR_DOCUMENT_DAMAGED` with line and column, `ERR_DOCUMENT_REFUSED`.
 */
export function readDocument(text: string, path: string): ReadDocument {
  const tree = guardDepth(path, () => parseYaml(text, path));
  const { refuse } = tree;
  if (tree.root === null) throw empty(path);
  const root = followed(tree.root);
  if (root.kind !== "map") throw refuse("it is no mapping of keys to values", root.start);
  requireTurnList(root, tree);
  const data = guardDepth(path, () => valueOf(root, refuse));
  if (!isObject(data)) throw refuse("it is no mapping of keys to values", root.start);
  return { document: documentOf(data, root), tree, root };
}

function documentOf(data: JsonObject, root: YamlMap): ConnectonionDocument {
  const turns = objectsIn(data["turns"]);
  const shape = shapeOf(data, turns);
  const messages = messagesOf(data, turns, shape);
  const storedTotals = {
    total_cost: numberOrNothing(data["total_cost"]),
    total_tokens: numberOrNothing(data["total_tokens"]),
  };
  const systemPrompt = data["system_prompt"];
  const found = {
    data,
    name: textOf(data["name"]),
    created: textOf(data["created"]),
    updated: textOf(data["updated"]),
    systemPrompt: typeof systemPrompt === "string" ? systemPrompt : undefined,
    turns: asFound(turns),
    messages,
    shape,
    storedTotals,
    totals: totalsOf(turns),
  };
  return { ...found, diagnostics: documentDiagnostics(found, root) };
}

function asFound(turns: readonly JsonObject[]): readonly ConnectonionTurn[] {
  // Decoding boundary: turns are handed out as found.
  return turns as unknown as readonly ConnectonionTurn[];
}

/** Refuses what stands for turns and is no list of mappings: none of it may be lost on the way. */
function requireTurnList(root: YamlMap, { refuse }: YamlTree): void {
  const turns = nodeOf(root, "turns");
  if (turns !== undefined && turns.kind !== "list" && !isNull(turns)) {
    throw refuse("turns is no list", turns.start);
  }
  for (const item of turns?.kind === "list" ? turns.items : []) {
    if (followed(item).kind !== "map") throw refuse("a turn is no mapping", item.start);
  }
  const messages = nodeOf(root, "messages");
  if (messages !== undefined && messages.kind !== "map" && !isNull(messages)) {
    throw refuse("messages is no mapping of turns to lists", messages.start);
  }
}

function nodeOf(root: YamlMap, key: string): Exclude<YamlNode, { kind: "alias" }> | undefined {
  const pair = pairOf(root, key);
  return pair === undefined ? undefined : followed(pair.value);
}

function isNull(node: YamlNode): boolean {
  return node.kind === "scalar" && node.value === null;
}

/** Of a document that shows neither shape, the one of the format. */
function shapeOf(data: JsonObject, turns: readonly JsonObject[]): DocumentShape {
  const isKeyed = isObject(data["messages"]);
  return !isKeyed && turns.some((turn) => "messages" in turn) ? "nested" : "keyed";
}

function messagesOf(
  data: JsonObject,
  turns: readonly JsonObject[],
  shape: DocumentShape,
): ReadonlyMap<number, readonly ChatMessage[]> {
  const found = new Map<number, readonly ChatMessage[]>();
  if (shape === "nested") {
    for (const [place, turn] of turns.entries()) {
      const messages = messageList(turn["messages"]);
      if (messages !== undefined) found.set(numberOfTurn(turn, place), messages);
    }
  }
  const keyed = data["messages"];
  for (const [key, value] of isObject(keyed) ? Object.entries(keyed) : []) {
    const messages = /^\d+$/.test(key) ? messageList(value) : undefined;
    if (messages !== undefined) found.set(Number(key), messages);
  }
  return new Map([...found].sort(([one], [other]) => one - other));
}

/** The number that a turn says it has; else that of its place. */
export function numberOfTurn(turn: { readonly turn?: unknown }, place: number): number {
  const { turn: number } = turn;
  return typeof number === "number" && Number.isSafeInteger(number) ? number : place + 1;
}

/** A list of messages, also as JSON text; undefined for what is none. */
export function messageList(value: JsonValue | undefined): readonly ChatMessage[] | undefined {
  const list: unknown = typeof value === "string" ? parsedJson(value) : value;
  if (!Array.isArray(list) || !list.every((item) => isObject(item))) return undefined;
  // Decoding boundary: messages are handed out as found.
  return list as unknown as readonly ChatMessage[];
}

function parsedJson(text: string): unknown {
  try {
    const parsed: unknown = JSON.parse(text);
    return parsed;
  } catch {
    return undefined;
  }
}

/** What the turns of a document took together. */
function totalsOf(turns: readonly JsonObject[]): ConnectonionTotals {
  const sums = { count: turns.length, total_cost: 0, total_tokens: 0, passed: 0, failed: 0 };
  for (const turn of turns) {
    sums.total_cost = addedCost(sums.total_cost, numberOrNothing(turn["cost"]) ?? 0);
    sums.total_tokens += numberOrNothing(turn["tokens"]) ?? 0;
    if (turn["passed"] === true) sums.passed += 1;
    if (turn["passed"] === false) sums.failed += 1;
  }
  return sums;
}

/** Whether a value is an object of JSON: not null, not a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function objectsIn(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter((item) => isObject(item)) : [];
}

function numberOrNothing(value: JsonValue | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

/** Parsing and reading recurse as deep as the document does. */
function guardDepth<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    const message = `${path} is nested too deeply to be read. It was left as it is.`;
    throw new BranchlogError("ERR_DOCUMENT_REFUSED", message, { path, cause });
  }
}

function empty(path: string): BranchlogError {
  const message = `${path} holds nothing, or is only half written. It was left as it is.`;
  const place = { offset: 0, line: 1, column: 1 };
  return new BranchlogError("ERR_DOCUMENT_DAMAGED", message, { path, ...place });
}
