/**
 * Items of a conversation as entries of a session: as messages, so that every command reads them,
 * with the item itself next to the message. Pure.
 */
import type { AgentInputItem } from "@openai/agents-core";
import type { SessionEntry } from "@branchlog/core";
import type { AnyDraft } from "@branchlog/core/entries";
import type { JsonObject } from "@branchlog/streaming";
import { isObject, listAt, stringAt } from "@branchlog/core/rows";
import { jsonText } from "../json-text.ts";

/** Where an entry keeps its item. */
const itemKey = "openaiItem";
/** Of a compaction that stands for all items before. */
const replacesKey = "openaiReplaces";
/** Which change of several items an entry is a part of. */
const changeKey = "openaiChange";
/** Of the last entry of such a change. */
const endsKey = "openaiChangeEnds";
/** Of the last entry of a transaction: its digest. */
const operationKey = "openaiOperation";

/** The usage of one request. */
export interface Spent {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
}

export interface EntryFacts {
  readonly timeMs: number;
  readonly spent?: Spent | undefined;
  readonly replaces?: boolean;
  readonly change?: string | undefined;
  readonly ends?: boolean;
  readonly operation?: string | undefined;
}

/** Throws `ERR_UNSERIALIZABLE` for an item that JSON would change. */
export function itemDraft(item: AgentInputItem, facts: EntryFacts): AnyDraft {
  const copy: unknown = JSON.parse(jsonText(item, "An item of the session"));
  const fields: JsonObject = isObject(copy) ? copy : {};
  const { change, ends = false, operation, replaces = false } = facts;
  const beside = {
    [itemKey]: fields,
    ...(replaces && { [replacesKey]: true }),
    ...(change !== undefined && { [changeKey]: change, ...(ends && { [endsKey]: true }) }),
    ...(operation !== undefined && { [operationKey]: operation }),
  };
  if (fields["type"] === "compaction") {
    const summary =
      "The conversation before was compacted by the provider, which alone can read it.";
    const kept = { summary, firstKeptEntryId: null, tokensBefore: 0 };
    return { type: "compaction", ...kept, ...beside };
  }
  return { type: "message", message: messageOf(fields, facts), ...beside };
}

/** The item of an entry, as it was given. */
export function itemOf(entry: SessionEntry): AgentInputItem | undefined {
  const item: unknown = Reflect.get(entry, itemKey);
  return isItem(item) ? item : undefined;
}

export function replacesItems(entry: SessionEntry): boolean {
  return Reflect.get(entry, replacesKey) === true;
}

/** For a transaction without items. */
export function operationDraft(operation: string): AnyDraft {
  return { type: "custom", customType: "openai.operation", [operationKey]: operation };
}

/** Undefined: it completes no transaction. */
export function operationOf(entry: SessionEntry): unknown {
  return Reflect.get(entry, operationKey);
}

export function endsChange(entry: SessionEntry): boolean {
  return Reflect.get(entry, endsKey) === true;
}

export function changeOf(entry: SessionEntry): string | undefined {
  const change: unknown = Reflect.get(entry, changeKey);
  return typeof change === "string" ? change : undefined;
}

/** Decoding boundary: only `itemDraft` writes it. */
function isItem(value: unknown): value is AgentInputItem {
  return typeof value === "object" && value !== null;
}

/** Whether its message is one of the model. */
export function isAnswer(item: AgentInputItem): boolean {
  if ("role" in item) return item.role === "assistant";
  return item.type !== "compaction" && !resultTypes.test(item.type);
}

function messageOf(item: JsonObject, { timeMs, spent }: EntryFacts): object {
  const role = stringAt(item, "role");
  const type = stringAt(item, "type") ?? "message";
  const text = textOf(item["content"]);
  if (role === "user" || role === "system") return { role, content: text, timestamp: timeMs };
  if (role === "assistant") return answer([{ type: "text", text }], "stop", timeMs, spent);
  if (type === "reasoning") {
    const raw = listAt(item, "rawContent") ?? listAt(item, "content");
    return answer([{ type: "thinking", thinking: textOf(raw) }], "stop", timeMs, spent);
  }
  const toolCallId =
    stringAt(item, "callId") ?? stringAt(item, "call_id") ?? stringAt(item, "id") ?? "";
  const name =
    stringAt(item, "name") ?? type.replace(/_(?:call|call_result|call_output|output)$/, "");
  if (resultTypes.test(type)) {
    const content = [{ type: "text", text: textOf(item["output"] ?? item["tools"]) }];
    const isError = item["status"] === "incomplete" || item["status"] === "failed";
    return { role: "toolResult", toolCallId, toolName: name, content, isError, timestamp: timeMs };
  }
  const call = { type: "toolCall", id: toolCallId, name, arguments: argumentsOf(item) };
  return answer([call], "toolUse", timeMs, spent);
}

const resultTypes = /(?:_result|_output)$/;

function answer(content: object[], stopReason: string, timestamp: number, spent?: Spent): object {
  const { input = 0, output = 0, cacheRead = 0 } = spent ?? {};
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  const totalTokens = input + output + cacheRead;
  const usage = { input, output, cacheRead, cacheWrite: 0, totalTokens, cost };
  const from = { api: "openai-responses", provider: "openai", model: "unknown" };
  return { role: "assistant", content, ...from, usage, stopReason, timestamp };
}

/** Fields of calls that do not describe the call. */
const envelope: ReadonlySet<string> = new Set([
  "providerData",
  "id",
  "type",
  "callId",
  "call_id",
  "name",
  "namespace",
  "status",
  "caller",
]);

function argumentsOf(item: JsonObject): object {
  const given = item["arguments"];
  if (given === undefined) {
    return Object.fromEntries(Object.entries(item).filter(([key]) => !envelope.has(key)));
  }
  const parsed = typeof given === "string" ? parsedObject(given) : given;
  return isObject(parsed) ? parsed : { arguments: given };
}

function parsedObject(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The text of a content, part by part; for other parts, their kind. */
function textOf(content: unknown): string {
  if (content === undefined) return "";
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return content.map(textOf).join("\n");
  if (!isObject(content)) return JSON.stringify(content);
  for (const key of ["text", "refusal", "transcript"]) {
    const text = stringAt(content, key);
    if (text !== undefined) return text;
  }
  const type = stringAt(content, "type");
  const printed = [stringAt(content, "stdout"), stringAt(content, "stderr")];
  if (printed.some((text) => text !== undefined)) return printed.filter(Boolean).join("\n");
  return type === undefined ? JSON.stringify(content) : `[${type}]`;
}
