/**
 * Reads the text of a ConnectOnion document, in either of its shapes and in any layout: keys in any
 * order, with comments, as PyYAML writes it or as people do. Pure.
 */
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import { BranchlogError } from "@branchlog/core";
import { addedCost } from "./costs-and-times.ts";
import { documentDiagnostics } from "./document-diagnostics.ts";
import { numberOfTurn } from "./document-types.ts";
import type {
  ChatMessage,
  ConnectonionDocument,
  ConnectonionTotals,
  ConnectonionTurn,
} from "./document-types.ts";
import { isObject, parsedJson, textOf } from "./json-values.ts";
import { isMap, isSeq, nodeAt, readYaml } from "./yaml-reader.ts";
import type { YAMLMap, YamlText } from "./yaml-reader.ts";

/** A document with the nodes it was read from. */
export interface ReadDocument {
  readonly document: ConnectonionDocument;
  readonly yaml: YamlText;
  readonly root: YAMLMap.Parsed;
}

/**
 * Reads a document.
 * @param path Named by errors.
 * @throws BranchlogError `ERR_DOCUMENT_DAMAGED` with line and column, `ERR_DOCUMENT_REFUSED`.
 */
export function readDocument(text: string, path: string): ReadDocument {
  const yaml = readYaml(text, path);
  const { root, value: data, refuse } = yaml;
  if (root === null) {
    const message = `${path} holds nothing, or is only half written. It was left as it is.`;
    const place = { offset: 0, line: 1, column: 1 };
    throw new BranchlogError("ERR_DOCUMENT_DAMAGED", message, { path, ...place });
  }
  if (!isMap(root) || !isObject(data)) {
    throw refuse("it is no mapping of keys to values", root.range[0]);
  }
  requireKnownForm(root, data, yaml);
  const turns = Array.isArray(data["turns"]) ? data["turns"].filter((turn) => isObject(turn)) : [];
  const keyed = data["messages"];
  // Of a document that shows neither shape, the one of the format.
  const isNested = !isObject(keyed) && turns.some((turn) => "messages" in turn);
  const systemPrompt = data["system_prompt"];
  const found = {
    data,
    name: textOf(data["name"]),
    created: textOf(data["created"]),
    updated: textOf(data["updated"]),
    systemPrompt: typeof systemPrompt === "string" ? systemPrompt : undefined,
    turns: asFound(turns),
    messages: messagesOf(turns, isObject(keyed) ? keyed : {}, isNested),
    shape: isNested ? ("nested" as const) : ("keyed" as const),
    storedTotals: {
      total_cost: numberOrNothing(data["total_cost"]),
      total_tokens: numberOrNothing(data["total_tokens"]),
    },
    totals: totalsOf(turns),
  };
  return { document: { ...found, diagnostics: documentDiagnostics(found, yaml) }, yaml, root };
}

function asFound(turns: readonly JsonObject[]): readonly ConnectonionTurn[] {
  // Decoding boundary: turns are handed out as found.
  return turns as unknown as readonly ConnectonionTurn[];
}

/** Refuses a value of `turns` that is no list of mappings: none of it may be lost on the way. */
function requireKnownForm(
  root: YAMLMap.Parsed,
  { turns = null, messages = null }: JsonObject,
  { refuse }: YamlText,
): void {
  const node = nodeAt(root, "turns");
  if (turns !== null && !Array.isArray(turns)) {
    throw refuse("turns is no list", node?.range[0] ?? 0);
  }
  const wrong = turns?.findIndex((turn) => !isObject(turn)) ?? -1;
  if (wrong >= 0) {
    const item = isSeq(node) ? node.items[wrong] : node;
    throw refuse("a turn is no mapping", item?.range[0] ?? 0);
  }
  if (messages !== null && !isObject(messages)) {
    const offset = nodeAt(root, "messages")?.range[0] ?? 0;
    throw refuse("messages is no mapping of turns to lists", offset);
  }
}

function messagesOf(
  turns: readonly JsonObject[],
  keyed: JsonObject,
  isNested: boolean,
): ReadonlyMap<number, readonly ChatMessage[]> {
  const given = isNested
    ? turns.map((turn, place) => [numberOfTurn(turn, place), turn["messages"]] as const)
    : [];
  const others = Object.entries(keyed).filter(([key]) => /^\d+$/.test(key));
  const found = [...given, ...others].flatMap(([number, value]) => {
    const messages = messageList(value);
    return messages === undefined ? [] : [[Number(number), messages] as const];
  });
  return new Map(found.sort(([one], [other]) => one - other));
}

/** A list of messages, also as JSON text; undefined for what is none. */
export function messageList(value: JsonValue | undefined): readonly ChatMessage[] | undefined {
  const list: unknown = typeof value === "string" ? parsedJson(value) : value;
  if (!Array.isArray(list) || !list.every((item) => isObject(item))) return undefined;
  // Decoding boundary: messages are handed out as found.
  return list as unknown as readonly ChatMessage[];
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

function numberOrNothing(value: JsonValue | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}
