/** Reads a ConnectOnion document of either shape, and reports its irregularities. Pure. */
import { isObject } from "@branchlog/core/rows";
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import { BranchlogError } from "@branchlog/core";
import { addedCost, localTimeMs } from "./costs-and-times.ts";
import { numberOfTurn } from "./document-types.ts";
import type {
  ChatMessage,
  ConnectonionDocument,
  ConnectonionTotals,
  ConnectonionTurn,
  DocumentDiagnostic,
} from "./document-types.ts";
import { parsedJson, textOf } from "./json-values.ts";
import { isMap, isSeq, nodeAt, readYaml } from "./yaml-reader.ts";
import type { YAMLMap, YamlText } from "./yaml-reader.ts";

export interface ReadDocument {
  readonly document: ConnectonionDocument;
  readonly yaml: YamlText;
  readonly root: YAMLMap.Parsed;
}

/**
 * @param path Named by errors.
 * @throws BranchlogError `ERR_DOCUMENT_DAMAGED` with line and column, `ERR_DOCUMENT_REFUSED`.
 */
export function readDocument(text: string, path: string): ReadDocument {
  const yaml = readYaml(text, path);
  const { root, value: data, refuse } = yaml;
  if (root === null) {
    const message = `${path} is empty, or partly written. It was not changed.`;
    const place = { offset: 0, line: 1, column: 1 };
    throw new BranchlogError("ERR_DOCUMENT_DAMAGED", message, { path, ...place });
  }
  if (!isMap(root) || !isObject(data)) {
    throw refuse("it is not a mapping of keys to values", root.range[0]);
  }
  requireKnownForm(root, data, yaml);
  const turns = Array.isArray(data["turns"]) ? data["turns"].filter((turn) => isObject(turn)) : [];
  const keyed = data["messages"];
  // Without messages, the shape of the format.
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

/** Refuses `turns` and `messages` of another form, whose content would be lost. */
function requireKnownForm(
  root: YAMLMap.Parsed,
  { turns = null, messages = null }: JsonObject,
  { refuse }: YamlText,
): void {
  const node = nodeAt(root, "turns");
  if (turns !== null && !Array.isArray(turns)) {
    throw refuse("turns is not a list", node?.range[0] ?? 0);
  }
  const wrong = turns?.findIndex((turn) => !isObject(turn)) ?? -1;
  if (wrong >= 0) {
    const item = isSeq(node) ? node.items[wrong] : node;
    throw refuse("a turn is not a mapping", item?.range[0] ?? 0);
  }
  if (messages !== null && !isObject(messages)) {
    const offset = nodeAt(root, "messages")?.range[0] ?? 0;
    throw refuse("messages is not a mapping of turns to lists", offset);
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

/** Also from JSON text; undefined for other values. */
export function messageList(value: JsonValue | undefined): readonly ChatMessage[] | undefined {
  const list: unknown = typeof value === "string" ? parsedJson(value) : value;
  if (!Array.isArray(list) || !list.every((item) => isObject(item))) return undefined;
  // Decoding boundary: messages are handed out as found.
  return list as unknown as readonly ChatMessage[];
}

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

type Undiagnosed = Omit<ConnectonionDocument, "diagnostics">;

/** Rounding errors of sums with four places. */
const noise = 0.000_01;

function documentDiagnostics(
  document: Undiagnosed,
  { repeatedKeys, beyondJsonCount }: YamlText,
): DocumentDiagnostic[] {
  const found = [...turnFindings(document), ...sumFindings(document)];
  for (const key of repeatedKeys) {
    const message = `The key ${key} is there twice in one mapping; the last one counts.`;
    found.push({ kind: "duplicate-key", message });
  }
  if (beyondJsonCount > 0) {
    const count = `${beyondJsonCount} values without quotes`;
    const message = `${count} are more than JSON can say, as times are.`;
    found.push({ kind: "no-json-form", message });
  }
  return found;
}

function turnFindings({ turns, messages, data, shape }: Undiagnosed): DocumentDiagnostic[] {
  const found: DocumentDiagnostic[] = [];
  const seen = new Set<number>();
  for (const [place, turn] of turns.entries()) {
    const own = numberOfTurn(turn, place);
    if (seen.has(own)) {
      found.push({ kind: "duplicate-turn", message: `Turn ${own} is there twice.`, turn: own });
    } else if (!messages.has(own)) {
      const message = `Turn ${own} has no messages.`;
      found.push({ kind: "turn-without-messages", message, turn: own });
    }
    seen.add(own);
  }
  for (let number = 1; number <= turns.length; number += 1) {
    if (seen.has(number)) continue;
    found.push({ kind: "missing-turn", message: `No turn is number ${number}.`, turn: number });
  }
  for (const number of messages.keys()) {
    if (seen.has(number)) continue;
    const message = `There are messages of turn ${number}, but no such turn.`;
    found.push({ kind: "messages-without-turn", message, turn: number });
  }
  const inBatches = shape === "nested" ? turns.filter((turn) => "messages" in turn).length : 0;
  const keyed = data["messages"];
  const count = inBatches + (isObject(keyed) ? Object.keys(keyed).length : 0) - messages.size;
  if (count > 0) {
    const message = `${count} of its lists of messages cannot be read, or are there twice.`;
    found.push({ kind: "messages-unreadable", message });
  }
  return found;
}

function sumFindings({ storedTotals, totals, updated, turns }: Undiagnosed): DocumentDiagnostic[] {
  const { total_cost: cost, total_tokens: tokens } = storedTotals;
  const found: DocumentDiagnostic[] = [];
  if (cost !== undefined && Math.abs(cost - totals.total_cost) > noise) {
    const message = `total_cost says ${cost}; its turns cost ${totals.total_cost}.`;
    found.push({ kind: "total-cost-differs", message });
  }
  if (tokens !== undefined && tokens !== totals.total_tokens) {
    const message = `total_tokens says ${tokens}; its turns took ${totals.total_tokens}.`;
    found.push({ kind: "total-tokens-differ", message });
  }
  const last = turns.at(-1)?.timestamp;
  // A comparison with NaN is never true.
  if (localTimeMs(updated) < localTimeMs(last)) {
    const message = `updated says ${updated}, before the last turn at ${String(last)}.`;
    found.push({ kind: "updated-before-last-turn", message });
  }
  return found;
}
