/** Maps messages of Crush to the lines of a log. Pure. */
import type { AssistantContent, UserContent } from "@branchlog/core/entries";
import { isObject, noUsage, objectAt, stringAt, timeText } from "@branchlog/core/rows";
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import {
  answerBody,
  commandBody,
  resultBody,
  spokenBody,
  textContent,
  thinkingContent,
} from "../entry-bodies.ts";
import type { Body } from "../entry-bodies.ts";
import { argumentsIn } from "../foreign-content.ts";
import { LogLines, headerOf } from "../log-lines.ts";
import type { SessionRow } from "../log-lines.ts";

export interface StoredSession extends SessionRow {
  readonly messages: readonly StoredMessage[];
}

export interface StoredMessage {
  readonly id: string;
  readonly role: string;
  /** A value that is not a list is damaged: a text. */
  readonly parts: JsonValue;
  readonly provider: string | undefined;
  readonly model: string | undefined;
  readonly isSummary: boolean;
  readonly createdMs: number;
}

/** A part is its type with its data. */
interface Part {
  readonly type: string;
  readonly data: JsonObject;
}

export function logOfSession(session: StoredSession): Buffer {
  const header = headerOf(session);
  const lines = new LogLines(header.timestamp);
  lines.addName(session.name);
  for (const message of session.messages) addMessage(lines, message);
  return lines.log(header);
}

export function isFinished(parts: JsonValue): boolean {
  return partsOf(parts).some(({ type }) => type === "finish");
}

function partsOf(parts: JsonValue): readonly Part[] {
  const list = Array.isArray(parts) ? parts.filter(isObject) : [];
  return list.map((part) => ({
    type: stringAt(part, "type") ?? "",
    data: objectAt(part, "data") ?? {},
  }));
}

function addMessage(lines: LogLines, message: StoredMessage): void {
  if (!Array.isArray(message.parts)) {
    lines.addDamaged(typeof message.parts === "string" ? message.parts : "");
    return;
  }
  lines.timestamp = timeText(message.createdMs);
  const parts = partsOf(message.parts);
  if (message.role === "assistant") lines.addModel(message.id, message.provider, message.model);
  for (const [at, body] of bodiesOf(message, parts).entries()) {
    lines.add(at === 0 ? message.id : `${message.id}#${at}`, body);
  }
}

function bodiesOf(message: StoredMessage, parts: readonly Part[]): Body[] {
  const timestamp = message.createdMs;
  switch (message.role) {
    case "user": {
      const content = parts.flatMap(spokenBlock);
      const said = spokenBody(content, timestamp);
      const commands = parts.flatMap((part) => commandOf(part, timestamp));
      return content.length === 0 ? commands : [said, ...commands];
    }
    case "assistant":
      return [isCompaction(message, parts) ? summaryOf(message, parts) : answerOf(message, parts)];
    case "tool":
      return parts.flatMap((part) => resultOf(part, timestamp));
    default: {
      const data = { role: message.role, parts: message.parts };
      return [{ type: "custom", customType: `crush.${message.role.slice(0, 60)}`, data }];
    }
  }
}

function spokenBlock({ type, data }: Part): UserContent[] {
  if (type === "text") return textContent(stringAt(data, "text"));
  const mimeType = stringAt(data, "MIMEType") ?? "";
  const bytes = stringAt(data, "Data");
  // Other files are described to the model in texts.
  if (type !== "binary" || bytes === undefined || !mimeType.startsWith("image/")) return [];
  return [{ type: "image", data: bytes, mimeType }];
}

/** That the user ran. */
function commandOf({ type, data }: Part, timestamp: number): Body[] {
  if (type !== "shell_command") return [];
  const [command = "", output = ""] = [stringAt(data, "command"), stringAt(data, "output")];
  return [commandBody({ command, output, exitCode: data["exit_code"] }, timestamp)];
}

/** A summary that failed has no effect. */
function isCompaction({ isSummary }: StoredMessage, parts: readonly Part[]): boolean {
  return isSummary && reasonOf(parts) !== "error" && reasonOf(parts) !== "canceled";
}

/** Nothing of what was before is seen by the model after it. */
function summaryOf({ id }: StoredMessage, parts: readonly Part[]): Body {
  const texts = parts.flatMap(spokenBlock).flatMap((one) => (one.type === "text" ? one.text : []));
  const summary = texts.join("\n");
  return { type: "compaction", summary, firstKeptEntryId: id, tokensBefore: 0 };
}

/** Crush keeps the tokens of the last request of a session only. */
function answerOf(message: StoredMessage, parts: readonly Part[]): Body {
  const { provider = "", model = "", createdMs: timestamp } = message;
  const content = parts.flatMap(answerBlock);
  const finish = parts.find(({ type }) => type === "finish")?.data;
  const error = [stringAt(finish, "message"), stringAt(finish, "details")].filter(Boolean);
  const stopReason = stopReasonOf(reasonOf(parts));
  const errorMessage = stopReason === "error" && error.length > 0 ? error.join(": ") : undefined;
  const stated = { api: "crush", provider, model, usage: noUsage, stopReason, errorMessage };
  return answerBody(content, { ...stated, timestamp });
}

function reasonOf(parts: readonly Part[]): string | undefined {
  return stringAt(parts.find(({ type }) => type === "finish")?.data, "reason");
}

/** One without a reason was broken off. */
function stopReasonOf(reason: string | undefined): string {
  switch (reason) {
    case "end_turn":
      return "stop";
    case "max_tokens":
      return "length";
    case "tool_use":
      return "toolUse";
    case "canceled":
    case undefined:
      return "aborted";
    default:
      return "error";
  }
}

function answerBlock(part: Part): AssistantContent[] {
  const { type, data } = part;
  if (type === "text") return textContent(stringAt(data, "text"));
  if (type === "reasoning") {
    return thinkingContent(stringAt(data, "thinking"), stringAt(data, "signature"));
  }
  if (type !== "tool_call") return [];
  const [id = "", name = "unknown"] = [stringAt(data, "id"), stringAt(data, "name")];
  return [{ type: "toolCall", id, name, arguments: argumentsIn(stringAt(data, "input") ?? "") }];
}

function resultOf({ type, data }: Part, timestamp: number): Body[] {
  if (type !== "tool_result") return [];
  const mimeType = stringAt(data, "mime_type") ?? "";
  const bytes = stringAt(data, "data") ?? "";
  const isImage = bytes !== "" && mimeType.startsWith("image/");
  const content: readonly UserContent[] = [
    ...textContent(stringAt(data, "content")),
    ...(isImage ? [{ type: "image", data: bytes, mimeType } as const] : []),
  ];
  const result = {
    toolCallId: stringAt(data, "tool_call_id") ?? "",
    toolName: stringAt(data, "name") ?? "unknown",
    content,
    isError: data["is_error"] === true,
  };
  return [resultBody(result, timestamp)];
}
