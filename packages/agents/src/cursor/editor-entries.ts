/** Maps bubbles of Cursor's editor to the lines of a log. Pure. */
import type { AssistantContent } from "@branchlog/core/entries";
import {
  countAt,
  dateMs,
  isObject,
  noUsage,
  objectAt,
  stringAt,
  timeText,
  usageOf,
} from "@branchlog/core/rows";
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import {
  answerBody,
  resultBody,
  spokenBody,
  textContent,
  thinkingContent,
} from "../entry-bodies.ts";
import type { Body } from "../entry-bodies.ts";
import { argumentsIn } from "../foreign-content.ts";
import { LogLines, headerOf } from "../log-lines.ts";
import type { SessionRow } from "../log-lines.ts";
import { provider } from "./cursor-transcript.ts";

export interface StoredSession extends SessionRow {
  /** As set last. */
  readonly model: string | undefined;
  readonly bubbles: readonly StoredBubble[];
}

export interface StoredBubble {
  readonly id: string;
  /** A string if it is damaged. */
  readonly value: JsonValue;
}

export function logOfSession(session: StoredSession): Buffer {
  const header = headerOf(session);
  const lines = new LogLines(header.timestamp);
  lines.addName(session.name);
  const ids = new Set<string>();
  for (const { id, value } of session.bubbles) {
    if (!isObject(value)) lines.addDamaged(typeof value === "string" ? value : "");
    else if (!ids.has(id)) addBubble(lines, id, value, session.model);
    ids.add(id);
  }
  return lines.log(header);
}

/** Each prompt, text, thought and call of an answer is a bubble. */
function addBubble(
  lines: LogLines,
  id: string,
  bubble: JsonObject,
  modelOfSession: string | undefined,
): void {
  // Those of before autumn 2025 have no time.
  const timeMs = dateMs(Date.parse(stringAt(bubble, "createdAt") ?? ""));
  if (timeMs !== undefined) lines.timestamp = timeText(timeMs);
  const timestamp = Date.parse(lines.timestamp);
  if (bubble["type"] === 1) {
    const content = textContent(stringAt(bubble, "text"));
    if (content.length > 0) lines.add(id, spokenBody(content, timestamp));
    return;
  }
  const model = stringAt(objectAt(bubble, "modelInfo"), "modelName") || modelOfSession;
  const call = objectAt(bubble, "toolFormerData");
  const bodies = bodiesOf(bubble, id, call, { model: model ?? "unknown", timestamp });
  if (bodies.length > 0) lines.addModel(id, provider, model);
  for (const [at, body] of bodies.entries()) lines.add(at === 0 ? id : `${id}#${at}`, body);
}

function bodiesOf(
  bubble: JsonObject,
  id: string,
  tool: JsonObject | undefined,
  { model, timestamp }: { readonly model: string; readonly timestamp: number },
): Body[] {
  const call = tool && callOf(tool, id);
  const content = [...saidIn(bubble), ...(call === undefined ? [] : [call])];
  const error = objectAt(bubble, "errorDetails");
  // Only the last bubble of a turn has tokens, if any has.
  const tokens = objectAt(bubble, "tokenCount");
  const [input, output] = [countAt(tokens, "inputTokens"), countAt(tokens, "outputTokens")];
  const usage = input + output === 0 ? noUsage : usageOf(input, output, 0, 0);
  if (content.length === 0 && error === undefined) {
    return usage.totalTokens === 0
      ? []
      : [{ type: "usage", kind: "cursor.request", provider, model, usage }];
  }
  const errorMessage = error && (stringAt(error, "message") ?? "");
  const stated = { api: "cursor", provider, model, usage, errorMessage };
  const result = tool && call && resultOf(tool, call, timestamp);
  const answer = answerBody(content, { ...stated, timestamp });
  return result === undefined ? [answer] : [answer, result];
}

function saidIn(bubble: JsonObject): AssistantContent[] {
  const thought = bubble["thinking"];
  const thinking = isObject(thought) ? stringAt(thought, "text") : thought;
  return [
    ...thinkingContent(typeof thinking === "string" ? thinking : undefined),
    ...textContent(stringAt(bubble, "text")),
  ];
}

type Call = Extract<AssistantContent, { readonly type: "toolCall" }>;

/** Undefined if the bubble has no tool call. */
function callOf(tool: JsonObject, id: string): Call | undefined {
  const name = stringAt(tool, "name") ?? "";
  if (name === "") return undefined;
  const given = stringAt(tool, "rawArgs") || stringAt(tool, "params") || "";
  return {
    type: "toolCall",
    id: stringAt(tool, "toolCallId") || id,
    name,
    arguments: argumentsIn(given),
  };
}

/** Undefined while a call has not ended. */
function resultOf(tool: JsonObject, call: Call, timestamp: number): Body | undefined {
  const status = stringAt(tool, "status") ?? "";
  const stored = stringAt(tool, "result") || stringAt(tool, "error") || "";
  if (stored === "" && !/^(?:completed|error|cancelled)$/.test(status)) return undefined;
  const result = argumentsIn(stored);
  const text = ["output", "contents"].flatMap((key) => stringAt(result, key) ?? [])[0] ?? stored;
  const exitCode = countAt(result, "exitCodeV2");
  const hasFailed = /^(?:error|cancelled)$/.test(status) || result["rejected"] === true;
  const answered = {
    toolCallId: call.id,
    toolName: call.name,
    content: textContent(text),
    isError: hasFailed || exitCode > 0,
  };
  return resultBody(answered, timestamp);
}
