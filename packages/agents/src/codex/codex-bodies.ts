/** Maps records of a rollout of Codex to the bodies of entries. Pure. */
import type { AssistantContent, UserContent } from "@branchlog/core/entries";
import type { JsonObject } from "@branchlog/streaming";
import { answerKey, countedKey } from "@branchlog/core/rows";
import { countAt, isObject, listAt, objectAt, stringAt } from "@branchlog/core/rows";
import type { CodexHistory } from "./codex-history.ts";
import {
  assistantBlocks,
  calledBy,
  codexUsage,
  contentOf,
  isContext,
  shellRun,
  splitRequest,
  toolOutput,
} from "./codex-items.ts";
import { codexRecord } from "./codex-record.ts";
import { noUsage } from "@branchlog/core/rows";
import { textsOf } from "../foreign-content.ts";
import type { TranscriptPlace } from "@branchlog/core/rows";

interface Body {
  readonly type: string;
  readonly [key: string]: unknown;
}

interface CodexPlace extends TranscriptPlace {
  readonly line: number;
}

export function codexBody(
  type: string,
  payload: JsonObject,
  place: CodexPlace,
  history: CodexHistory,
): Body {
  switch (type) {
    case "turn_context":
      return settingOf(payload, place, history);
    case "compacted":
      return compactionOf(payload, place, history);
    case "response_item":
      return bodyOfItem(payload, place, history);
    case "event_msg":
      return bodyOfEvent(payload, place, history);
    default:
      return customBody(`codex.${type.slice(0, 40)}`, payload);
  }
}

function settingOf(payload: JsonObject, { id, line }: CodexPlace, history: CodexHistory): Body {
  const isModel = history.changesModelAt(line);
  const isOnly = !history.changesLevelAt(line);
  if (isModel && (isOnly || id.endsWith("#0"))) {
    const modelId = stringAt(payload, "model") ?? "";
    return { type: "model_change", provider: history.provider, modelId };
  }
  return { type: "thinking_level_change", thinkingLevel: levelOf(payload) };
}

/** Without a readable summary, the model continues from the kept messages. */
function compactionOf(payload: JsonObject, { id, line }: CodexPlace, history: CodexHistory): Body {
  const replacement = listAt(payload, "replacement_history");
  const kept = replacement.filter(isObject).flatMap((item) => textsOf(item["content"]));
  return {
    type: "compaction",
    summary: stringAt(payload, "message") || kept.join("\n\n"),
    // Its own id: nothing is kept.
    firstKeptEntryId: id,
    tokensBefore: history.contextTokensAt(line),
    ...(replacement.length === 0 ? {} : { details: { replacement } }),
  };
}

function bodyOfItem(item: JsonObject, place: CodexPlace, history: CodexHistory): Body {
  const output = toolOutput(item);
  const timestamp = Date.parse(place.timestamp);
  if (output !== undefined) {
    const { callId, content, isError } = output;
    const toolName = toolNameOf(callId, place);
    const result = { role: "toolResult", toolCallId: callId, toolName, content, isError };
    return { type: "message", message: { ...result, timestamp } };
  }
  const role = stringAt(item, "role");
  if (stringAt(item, "type") === "message" && role !== "assistant") {
    const { content, rest } = contentOf(item["content"]);
    if (role !== "user" || (rest.length === 0 && isContext(content))) {
      const customType = contextType(role ?? "");
      return { type: "custom_message", customType, content, display: false };
    }
    const run = shellRun(content);
    if (run !== undefined) {
      const message = { role: "bashExecution", ...run, cancelled: false, truncated: false };
      return { type: "message", message: { ...message, timestamp } };
    }
    return userBody(content, place, history);
  }
  const blocks = assistantBlocks(item);
  if (blocks === undefined) return customBody("codex.item", item);
  return answerBody(blocks, place, history);
}

function bodyOfEvent(event: JsonObject, place: CodexPlace, history: CodexHistory): Body {
  const text = stringAt(event, "message") ?? "";
  switch (stringAt(event, "type")) {
    case "user_message":
      return userBody([{ type: "text", text }], place, history);
    case "agent_message":
      return answerBody([{ type: "text", text }], place, history);
    case "item_completed":
      return bodyOfCompleted(event, place, history);
    case "token_count": {
      const info = objectAt(event, "info");
      const usage = codexUsage(info) ?? noUsage;
      const model = history.modelAt(place.line);
      const spent = { kind: "codex.response", provider: history.provider, model, usage };
      const total = JSON.stringify(info?.["total_token_usage"] ?? null);
      const counted = `${history.threadAt(place.line)} ${total}`;
      return { type: "usage", ...spent, [countedKey]: counted, ...partOf(place.line, history) };
    }
    default:
      return customBody("codex.event", event);
  }
}

function bodyOfCompleted(event: JsonObject, place: CodexPlace, history: CodexHistory): Body {
  const item = objectAt(event, "item") ?? {};
  const timestamp = Date.parse(place.timestamp);
  const { content } = contentOf(item["content"]);
  switch (stringAt(item, "type")) {
    case "UserMessage":
      return userBody(content, place, history);
    case "AgentMessage": {
      const text = textsOf(item["content"]).join("");
      return answerBody([{ type: "text", text }], place, history);
    }
    case "CommandExecution": {
      const words = listAt(item, "command").filter((word) => typeof word === "string");
      const output = stringAt(item, "aggregated_output") ?? stringAt(item, "stdout") ?? "";
      const ended = { exitCode: countAt(item, "exit_code"), cancelled: false, truncated: false };
      const shown = { command: commandOf(words), output, ...ended };
      // The model sees what its script prints.
      const message = { role: "bashExecution", ...shown, excludeFromContext: true, timestamp };
      return { type: "message", message };
    }
    default:
      return customBody("codex.event", event);
  }
}

/** Text typed by a person, and separately the text that an editor put before it. */
function userBody(
  content: readonly UserContent[],
  { id, line, timestamp }: CodexPlace,
  history: CodexHistory,
): Body {
  const [context, request = content] = splitRequest(content) ?? [];
  if (context !== undefined && id.endsWith("#0")) {
    const customType = contextType("user");
    return { type: "custom_message", customType, content: [context], display: false };
  }
  const message = { role: "user", content: request, timestamp: Date.parse(timestamp) };
  return { type: "message", message, [countedKey]: history.threadAt(line) };
}

/** The command of a shell, without the shell. */
function commandOf(words: readonly string[]): string {
  const isShell = words.length === 3 && /^-\w*c$/.test(words[1] ?? "");
  return isShell ? (words[2] ?? "") : words.join(" ");
}

function answerBody(
  content: readonly AssistantContent[],
  place: CodexPlace,
  history: CodexHistory,
): Body {
  const { line, timestamp } = place;
  return {
    type: "message",
    message: {
      role: "assistant",
      content,
      api: "openai-codex-responses",
      provider: history.provider,
      model: history.modelAt(line),
      usage: noUsage,
      stopReason: content.some(({ type }) => type === "toolCall") ? "toolUse" : "stop",
      timestamp: Date.parse(timestamp),
    },
    ...partOf(line, history),
  };
}

function partOf(line: number, history: CodexHistory): object {
  const first = history.answerAt(line);
  return first === undefined ? {} : { [answerKey]: lineId(first) };
}

function customBody(customType: string, data: JsonObject): Body {
  return { type: "custom", customType, data };
}

function toolNameOf(callId: string, place: CodexPlace): string {
  for (const record of place.above()) {
    const called = calledBy(codexRecord(record)?.payload ?? {});
    if (called?.id === callId) return called.name;
  }
  return "unknown";
}

export function lineId(line: number): string {
  return `line:${line}`;
}

export function levelOf(payload: JsonObject): string {
  const effort = stringAt(payload, "effort") ?? "";
  return effort === "none" ? "off" : effort;
}

export function contextType(role: string): string {
  return role === "user" ? "codex.context" : `codex.${role.slice(0, 40)}`;
}
