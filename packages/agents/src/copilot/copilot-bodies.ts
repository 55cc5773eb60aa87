/** Maps events of Copilot CLI to the bodies of entries. Pure. */
import type { AssistantContent, Usage } from "@branchlog/core/entries";
import type { JsonObject } from "@branchlog/streaming";
import {
  countAt,
  isObject,
  listAt,
  noUsage,
  objectAt,
  stringAt,
  usageOf,
} from "@branchlog/core/rows";
import type { AnswerUsage, TranscriptPlace } from "@branchlog/core/rows";
import { answerBody, resultBody, textContent, thinkingContent } from "../entry-bodies.ts";
import type { Body } from "../entry-bodies.ts";
import { foundAbove } from "../transcript-entries.ts";

/** As pi names the service. */
export const provider = "github-copilot";

/** Such as `session.start`. */
const eventType =
  /^(?:session|user|assistant|tool|subagent|hook|skill|model|system|permission)\.[a-zA-Z_]+$/;

/** Each event has a type, data, and the id of the event before it. */
export function isEvent(record: JsonObject): boolean {
  const type = stringAt(record, "type");
  if (type === undefined || !eventType.test(type)) return false;
  const { id, parentId } = record;
  const isLink = typeof parentId === "string" || parentId === null;
  return isLink && typeof id === "string" && objectAt(record, "data") !== undefined;
}

/** Of a subagent, and its content; undefined: of the session itself. */
export function agentOf(record: JsonObject): string | undefined {
  const data = objectAt(record, "data");
  const agent = stringAt(record, "agentId") ?? stringAt(data, "parentToolCallId");
  if (agent !== undefined) return agent;
  const isOfAgent = stringAt(record, "type")?.startsWith("subagent.") === true;
  return isOfAgent ? stringAt(data, "toolCallId") : undefined;
}

/** Those that pi calls otherwise. */
const levelNames: ReadonlyMap<string, string> = new Map([["none", "off"]]);

/** Whether a person typed a message; others have a source, as tasks of subagents and skills do. */
export function isTyped(record: JsonObject): boolean {
  const data = objectAt(record, "data");
  const source = stringAt(data, "source") ?? "user";
  const isContinuation = data?.["isAutopilotContinuation"] === true;
  return source === "user" && !isContinuation && agentOf(record) === undefined;
}

export function customType(record: JsonObject): string {
  const type = stringAt(record, "type") ?? "";
  if (type !== "user.message") return `copilot.${type.slice(0, 60)}`;
  return agentOf(record) === undefined ? "copilot.injected" : "copilot.task";
}

/** The changes of an event: it also repeats unchanged values. */
export function settingsIn(
  data: JsonObject,
): readonly ("model_change" | "thinking_level_change")[] {
  const [model, level] = [stringAt(data, "newModel"), stringAt(data, "reasoningEffort")];
  const isModel = Boolean(model) && model !== stringAt(data, "previousModel");
  const isLevel = Boolean(level) && level !== stringAt(data, "previousReasoningEffort");
  return [
    ...(isModel ? (["model_change"] as const) : []),
    ...(isLevel ? (["thinking_level_change"] as const) : []),
  ];
}

/** Whether a compaction took place; otherwise the conversation continues with its full context. */
export function isCompacted(data: JsonObject): boolean {
  return data["success"] === true;
}

/** Facts of an event from earlier ones. */
interface KnownBefore {
  /** Of an entry that only the end of a run gives. */
  readonly sum: AnswerUsage | undefined;
  /** Whether a record of its request has the usage of an answer. */
  readonly isRecorded: boolean;
  /** By the id of a call; undefined: it was called long before. */
  readonly toolOf: (callId: string) => string | undefined;
}

export function copilotBody(record: JsonObject, place: TranscriptPlace, known: KnownBefore): Body {
  const data = objectAt(record, "data") ?? {};
  const timestamp = Date.parse(place.timestamp);
  switch (stringAt(record, "type")) {
    case "user.message": {
      const content = stringAt(data, "content") ?? "";
      const attached = attachmentsOf(data);
      if (isTyped(record))
        return { type: "message", message: { role: "user", content, timestamp }, ...attached };
      return {
        type: "custom_message",
        customType: customType(record),
        content,
        display: true,
        ...attached,
      };
    }
    case "assistant.message":
      return answerBody(answerContent(data), {
        api: "openai-completions",
        provider,
        model: stringAt(data, "model") ?? foundAbove(place, modelIn) ?? "",
        usage: known.isRecorded ? noUsage : usageOf(0, countAt(data, "outputTokens"), 0, 0),
        timestamp,
      });
    case "tool.execution_complete":
      return resultOf(data, place, known);
    case "session.model_change": {
      const settings = settingsIn(data);
      const type = place.id.endsWith("#0") ? settings[0] : settings.at(-1);
      if (type === "model_change") {
        return { type, provider, modelId: stringAt(data, "newModel") ?? "" };
      }
      const thinkingLevel = stringAt(data, "reasoningEffort") ?? "";
      return {
        type: "thinking_level_change",
        thinkingLevel: levelNames.get(thinkingLevel) ?? thinkingLevel,
      };
    }
    case "session.usage_record": {
      const model = stringAt(objectAt(data, "usage"), "model") ?? "";
      return {
        type: "usage",
        kind: "copilot.request",
        provider,
        model,
        usage: recordedUsage(data),
      };
    }
    case "session.compaction_complete":
      if (isCompacted(data)) return compactionOf(data, place);
      return { type: "custom", customType: customType(record), data };
    case "session.shutdown": {
      const { model, usage } = known.sum ?? { model: "", usage: noUsage };
      return { type: "usage", kind: "copilot.run", provider, model, usage };
    }
    default:
      return { type: "custom", customType: customType(record), data };
  }
}

/** Which files a message names; their contents are not in it. */
function attachmentsOf(data: JsonObject): object {
  const attachments = listAt(data, "attachments");
  return attachments.length === 0 ? {} : { "copilot.attachments": attachments };
}

function compactionOf(data: JsonObject, { id }: TranscriptPlace): Body {
  const used = objectAt(data, "compactionTokensUsed");
  if (id.endsWith("#0")) {
    const model = stringAt(used, "model") ?? "";
    return { type: "usage", kind: "copilot.compaction", provider, model, usage: tokensOf(used) };
  }
  const { summaryContent: _summary, compactionTokensUsed: _used, ...details } = data;
  return {
    type: "compaction",
    summary: stringAt(data, "summaryContent") ?? "",
    // Its own id: nothing is kept.
    firstKeptEntryId: id,
    tokensBefore: countAt(data, "preCompactionTokens"),
    details,
  };
}

/** Reasoning, text and calls. */
export function answerContent(data: JsonObject): AssistantContent[] {
  const calls = listAt(data, "toolRequests").flatMap((request): AssistantContent[] => {
    const id = isObject(request) ? stringAt(request, "toolCallId") : undefined;
    const name = isObject(request) ? stringAt(request, "name") : undefined;
    if (!isObject(request) || id === undefined || name === undefined) return [];
    const given = request["arguments"] ?? {};
    return [{ type: "toolCall", id, name, arguments: isObject(given) ? given : { input: given } }];
  });
  return [
    ...thinkingContent(stringAt(data, "reasoningText")),
    ...textContent(stringAt(data, "content")),
    ...calls,
  ];
}

function modelIn(record: JsonObject): string | undefined {
  const data = objectAt(record, "data");
  const names = ["newModel", "selectedModel", "model"];
  return names.map((name) => stringAt(data, name)).find((name) => name !== undefined);
}

/** Of a tool, or of a command that the user ran. */
function resultOf(data: JsonObject, place: TranscriptPlace, { toolOf }: KnownBefore): Body {
  const callId = stringAt(data, "toolCallId") ?? "";
  const result = objectAt(data, "result");
  const given = objectAt(data, "shellExecution")?.["exitCode"];
  const exitCode = typeof given === "number" ? given : undefined;
  // A tool that ran a command succeeds, for any outcome of the command.
  const isError = data["success"] !== true || (exitCode ?? 0) !== 0;
  const error = objectAt(data, "error");
  const text = stringAt(result, "content") ?? stringAt(error, "message") ?? "";
  const timestamp = Date.parse(place.timestamp);
  if (data["isUserRequested"] === true) {
    const command = stringAt(calledAbove(callId, place)?.arguments, "command") ?? "";
    const code = exitCode === undefined ? {} : { exitCode };
    const ended = { ...code, cancelled: false, truncated: false };
    const message = { role: "bashExecution", command, output: text, ...ended, timestamp };
    return { type: "message", message };
  }
  const toolName = toolOf(callId) ?? calledAbove(callId, place)?.name ?? "unknown";
  const told = { toolCallId: callId, toolName, content: textContent(text), isError };
  return resultBody({ ...told, details: detailsOf(data, result) }, timestamp);
}

/** The display form of a result in addition to that for the model, such as a diff. */
function detailsOf(data: JsonObject, result: JsonObject | undefined): JsonObject | undefined {
  const shell = objectAt(data, "shellExecution");
  const diff = stringAt(result, "detailedContent");
  const isOther = diff !== undefined && diff !== stringAt(result, "content");
  if (shell === undefined && !isOther) return undefined;
  return { ...shell, ...(isOther ? { detailedContent: diff } : {}) };
}

interface Called {
  readonly name: string;
  readonly arguments: JsonObject | undefined;
}

/** By an answer, or by the user. */
function calledAbove(callId: string, place: TranscriptPlace): Called | undefined {
  return foundAbove(place, (record) => {
    const data = objectAt(record, "data");
    const isOfUser = stringAt(record, "type") === "tool.user_requested";
    const requests = isOfUser ? [data ?? {}] : listAt(data, "toolRequests").filter(isObject);
    const called = requests.find((one) => stringAt(one, "toolCallId") === callId);
    if (called === undefined) return undefined;
    const name = stringAt(called, isOfUser ? "toolName" : "name") ?? "";
    return { name, arguments: objectAt(called, "arguments") };
  });
}

/** Of one request. */
export function recordedUsage(data: JsonObject): Usage {
  return tokensOf(objectAt(data, "usage"));
}

/** The sums of a run, by models. */
export function shutdownUsage(data: JsonObject): readonly AnswerUsage[] {
  const metrics = objectAt(data, "modelMetrics") ?? {};
  return Object.entries(metrics).map(([model, metric]) => {
    const usage = isObject(metric) ? objectAt(metric, "usage") : undefined;
    return { model, usage: tokensOf(usage) };
  });
}

/** Tokens that were read from the cache are among those of the input. */
function tokensOf(usage: JsonObject | undefined): Usage {
  const read = countAt(usage, "cacheReadTokens");
  const written = countAt(usage, "cacheWriteTokens");
  const input = Math.max(0, countAt(usage, "inputTokens") - read - written);
  return usageOf(input, countAt(usage, "outputTokens"), read, written);
}
