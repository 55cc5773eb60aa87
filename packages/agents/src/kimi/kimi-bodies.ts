/** Maps records of Kimi Code to the bodies of entries. Pure. */
import type { AssistantContent, Usage, UserContent } from "@branchlog/core/entries";
import type { JsonObject } from "@branchlog/streaming";
import {
  answerKey,
  continuedKey,
  countAt,
  isObject,
  listAt,
  noUsage,
  objectAt,
  stringAt,
  usageOf,
} from "@branchlog/core/rows";
import type { TranscriptPlace } from "@branchlog/core/rows";
import { answerBody, injectedBody, resultBody, spokenBody } from "../entry-bodies.ts";
import type { Body, ResultFacts } from "../entry-bodies.ts";
import { partsOf, spokenBlocks } from "../genai-content.ts";
import { foundAbove } from "../transcript-entries.ts";

export const provider = "kimi";

const recordType = /^[a-z_]+(?:\.[a-z_]+)+$/;

/** The first record of a file, or one with a type such as `context.append_message` and a time. */
export function isKimiRecord(record: JsonObject): boolean {
  const type = stringAt(record, "type") ?? "";
  // Those of kimi-cli have no time.
  const isVersioned = stringAt(record, "protocol_version") !== undefined;
  if (type === "metadata") return isVersioned && typeof record["created_at"] === "number";
  const isOwn = "agentId" in record || record["kind"] === "event" || "subagentId" in record;
  return recordType.test(type) && isOwn && typeof record["time"] === "number";
}

/** Who a message is from: others than the user are the agent itself. */
function originOf(message: JsonObject): string {
  const origin = objectAt(message, "origin");
  return stringAt(origin, "kind") ?? "user";
}

/** Whether the user gave a message, in the beginning of a turn: an undo goes back before it. */
export function isPrompt(message: JsonObject): boolean {
  if (stringAt(message, "role") !== "user") return false;
  const origin = objectAt(message, "origin");
  if (origin?.["inTurn"] === true) return false;
  const kind = originOf(message);
  const isCommand = kind === "skill_activation" || kind === "plugin_command";
  return kind === "user" || (isCommand && origin?.["trigger"] === "user-slash");
}

/** Also those that steer a turn, and the task of a subagent. */
export function isSpoken(message: JsonObject): boolean {
  const origin = objectAt(message, "origin");
  const isTask = stringAt(origin, "name") === "subagent";
  return isPrompt({ ...message, origin: { ...origin, inTurn: false } }) || isTask;
}

export function customType(record: JsonObject): string {
  const message = objectAt(record, "message");
  const name = message === undefined ? (stringAt(record, "type") ?? "") : originOf(message);
  return `kimi.${name.slice(0, 60)}`;
}

/** Of a part of an answer: its step, and its content; undefined for any other. */
export function partOf(
  event: JsonObject,
): { readonly step: string; readonly content: AssistantContent } | undefined {
  const step = stringAt(event, "stepUuid") ?? "";
  if (stringAt(event, "type") === "tool.call") {
    const [id, name] = [stringAt(event, "toolCallId"), stringAt(event, "name")];
    if (id === undefined || name === undefined) return undefined;
    const given = event["args"] ?? {};
    const called = isObject(given) ? given : { input: given };
    return { step, content: { type: "toolCall", id, name, arguments: called } };
  }
  if (stringAt(event, "type") !== "content.part") return undefined;
  const part = objectAt(event, "part");
  const [text, thinking] = [stringAt(part, "text"), stringAt(part, "think")];
  if (thinking) return { step, content: { type: "thinking", thinking } };
  return text ? { step, content: { type: "text", text } } : undefined;
}

export function kimiUsage(record: JsonObject): Usage {
  const usage = objectAt(record, "usage");
  const [input, output] = [countAt(usage, "inputOther"), countAt(usage, "output")];
  return usageOf(
    input,
    output,
    countAt(usage, "inputCacheRead"),
    countAt(usage, "inputCacheCreation"),
  );
}

export function kimiBody(
  record: JsonObject,
  place: TranscriptPlace,
  isContinued: boolean,
): Body | undefined {
  const timestamp = Date.parse(place.timestamp);
  switch (stringAt(record, "type")) {
    case "context.append_message":
      return messageBody(objectAt(record, "message") ?? {}, record, timestamp);
    case "context.append_loop_event": {
      const event = objectAt(record, "event") ?? {};
      const part = partOf(event);
      if (part === undefined) {
        return resultBody(resultOf(event, place), timestamp);
      }
      const { step, content } = part;
      const mark = { [answerKey]: step, ...(isContinued ? { [continuedKey]: true } : {}) };
      // That of the last request: its usage is right above.
      const model = foundAbove(place, requestedModel) ?? "";
      return { ...saidBody([content], model, timestamp), ...mark };
    }
    case "usage.record": {
      const model = stringAt(record, "model") ?? "";
      return { type: "usage", kind: "kimi.request", provider, model, usage: kimiUsage(record) };
    }
    case "context.apply_compaction":
      return compactionBody(record, place);
    default:
      return { type: "custom", customType: customType(record), data: record };
  }
}

function messageBody(message: JsonObject, record: JsonObject, timestamp: number): Body {
  const content = contentOf(message);
  if (isSpoken(message)) return spokenBody(content, timestamp);
  if (stringAt(message, "role") === "user") return injectedBody(customType(record), content);
  const callId = stringAt(message, "toolCallId");
  if (callId !== undefined) {
    const result = { toolCallId: callId, toolName: "unknown", content, isError: false };
    return resultBody(result, timestamp);
  }
  return saidBody(saidIn(message), "", timestamp);
}

/** Texts, and images by their data. */
export function contentOf(message: JsonObject): UserContent[] {
  return partsOf(message["content"]).flatMap((part): UserContent[] => {
    const image = objectAt(part, "imageUrl") ?? objectAt(part, "image_url");
    const url = stringAt(image, "url") ?? "";
    const [, mimeType, data] = /^data:(image\/[\w.+-]+);base64,(.*)$/s.exec(url) ?? [];
    if (mimeType !== undefined && data !== undefined) return [{ type: "image", data, mimeType }];
    return spokenBlocks([part]);
  });
}

/** The content of an answer that was inserted into the conversation as a whole. */
export function saidIn(message: JsonObject): AssistantContent[] {
  const parts = partsOf(message["content"]).map((part) => ({ type: "content.part", part }));
  const calls = listAt(message, "toolCalls").filter(isObject);
  const called = calls.map((call) => {
    const { name = null, arguments: args = null } = { ...call, ...objectAt(call, "function") };
    return { type: "tool.call", toolCallId: call["id"] ?? null, name, args: parsed(args) };
  });
  return [...parts, ...called].flatMap((event) => partOf(event)?.content ?? []);
}

/** Arguments are a text of JSON there. */
function parsed(value: JsonObject[string]): JsonObject[string] {
  if (typeof value !== "string") return value;
  try {
    // Decoding boundary: any JSON will do.
    return JSON.parse(value) as JsonObject[string];
  } catch {
    return value;
  }
}

function saidBody(content: readonly AssistantContent[], model: string, timestamp: number): Body {
  const stated = { api: "openai-completions", provider, model, usage: noUsage };
  return answerBody(content, { ...stated, timestamp });
}

function requestedModel(record: JsonObject): string | undefined {
  const isRequest = stringAt(record, "type") === "usage.record";
  return isRequest ? (stringAt(record, "model") ?? "") : undefined;
}

function resultOf(event: JsonObject, place: TranscriptPlace): ResultFacts {
  const callId = stringAt(event, "toolCallId") ?? "";
  const result = objectAt(event, "result");
  const output = result?.["output"] ?? "";
  const content = typeof output === "string" ? [{ text: output }] : output;
  return {
    toolCallId: callId,
    toolName: toolAbove(callId, place),
    content: contentOf({ content }),
    isError: result?.["isError"] === true,
  };
}

function toolAbove(callId: string, place: TranscriptPlace): string {
  const called = foundAbove(place, (record) => {
    const event = objectAt(record, "event");
    const isCall = stringAt(event, "type") === "tool.call";
    return isCall && stringAt(event, "toolCallId") === callId ? event : undefined;
  });
  return called === undefined ? "unknown" : (stringAt(called, "name") ?? "");
}

function compactionBody(record: JsonObject, place: TranscriptPlace): Body {
  const { summary: _summary, contextSummary: _context, ...details } = record;
  const summary = stringAt(record, "summary") ?? stringAt(record, "contextSummary");
  return {
    type: "compaction",
    summary:
      summary ??
      contentOf(objectAt(record, "summary") ?? {})
        .flatMap(textOf)
        .join("\n"),
    firstKeptEntryId: unansweredAbove(place) ?? place.id,
    tokensBefore: countAt(record, "tokensBefore"),
    details,
  };
}

function textOf(block: UserContent): readonly string[] {
  return block.type === "text" ? [block.text] : [];
}

/** The prompt that was compacted before its answer; it is in the following context. */
function unansweredAbove({ above }: TranscriptPlace): string | undefined {
  for (const record of above()) {
    const message = objectAt(record, "message");
    if (message !== undefined && isPrompt(message)) return stringAt(message, "id");
    if (message === undefined && stringAt(record, "type") !== "usage.record") return undefined;
  }
  return undefined;
}
