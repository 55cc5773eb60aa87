/**
 * Messages of the chat API of OpenAI as drafts of a log: tool calls become blocks of the
 * assistant's message, their answers messages of their own. Pure.
 */
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import type { AgentMessage, EntryDraft } from "@branchlog/core";
import type { ToolCall } from "@branchlog/core/entries";
import type { UserContent } from "@branchlog/core/internal";
import { isObject, parsedObject, textOf } from "./json-values.ts";

/** The `customType` of further messages of the user within one turn: a turn has one of its own. */
export const furtherUserType = "branchlog.user";

/** What the document says of a whole turn. */
export interface TurnFacts {
  /** `provider/model`, or a model alone. */
  readonly model: string;
  readonly startMs: number;
  readonly endMs: number;
  /** What it took: the usage of the last answer. */
  readonly tokens: number;
  readonly cost: number;
}

/**
 * The messages of a turn as drafts. The first must be the user's. Roles that a log has no message
 * for are left out: the caller compares what comes back.
 */
export function draftsOfChat(messages: readonly JsonObject[], facts: TurnFacts): EntryDraft[] {
  const toolNames = new Map(messages.flatMap(callsIn).map(({ id, name }) => [id, name]));
  const lastAnswer = messages.findLastIndex(({ role }) => role === "assistant");
  return messages.flatMap((message, place): EntryDraft[] => {
    const { role, content } = message;
    const timestamp = place === messages.length - 1 ? facts.endMs : facts.startMs;
    switch (role) {
      case "user": {
        const said = userContent(content);
        if (place === 0) return [spoken({ role, content: said, timestamp })];
        const customType = furtherUserType;
        return [{ type: "custom_message", customType, content: said, display: true }];
      }
      case "assistant":
        return [spoken(answerOf(message, facts, timestamp, place === lastAnswer))];
      case "tool": {
        const toolCallId = textOf(message["tool_call_id"]);
        const toolName = toolNames.get(toolCallId) ?? "";
        const text = [{ type: "text", text: textOf(content) } as const];
        const result = { role: "toolResult", toolCallId, toolName, content: text } as const;
        return [spoken({ ...result, isError: false, timestamp })];
      }
      case "system":
        return [spoken({ role, content: textOf(content), timestamp })];
      default:
        return [];
    }
  });
}

function spoken(message: AgentMessage): EntryDraft {
  return { type: "message", message };
}

const dataUrl = /^data:([^;,]+);base64,([^]*)$/;

function userContent(content: JsonValue | undefined): string | UserContent[] {
  if (!Array.isArray(content)) return textOf(content);
  return content.flatMap((part): UserContent[] => {
    if (!isObject(part)) return [];
    if (part["type"] === "text") return [{ type: "text", text: textOf(part["text"]) }];
    const url = isObject(part["image_url"]) ? textOf(part["image_url"]["url"]) : "";
    const [, mimeType, data] = dataUrl.exec(url) ?? [];
    return mimeType === undefined || data === undefined ? [] : [{ type: "image", data, mimeType }];
  });
}

/** An answer; what the turn took is part of the last. The document tells no parts: it is input. */
function answerOf(
  message: JsonObject,
  facts: TurnFacts,
  timestamp: number,
  isLast: boolean,
): AgentMessage {
  const calls = callsIn(message);
  const text = textOf(message["content"]);
  const hasText = text !== "" || (message["content"] === "" && calls.length > 0);
  const slash = facts.model.indexOf("/");
  const { tokens, cost } = isLast ? facts : { tokens: 0, cost: 0 };
  const none = { output: 0, cacheRead: 0, cacheWrite: 0 };
  return {
    role: "assistant",
    content: hasText ? [{ type: "text", text }, ...calls] : calls,
    api: "openai-completions",
    provider: facts.model.slice(0, Math.max(0, slash)),
    model: facts.model.slice(slash + 1),
    usage: {
      input: tokens,
      ...none,
      totalTokens: tokens,
      cost: { input: cost, ...none, total: cost },
    },
    stopReason: calls.length > 0 ? "toolUse" : "stop",
    timestamp,
  };
}

/** The tool calls of a message as blocks; text that is no JSON object stays beside empty ones. */
function callsIn(message: JsonObject): (ToolCall & { readonly rawArguments?: string })[] {
  const calls = message["tool_calls"];
  return (Array.isArray(calls) ? calls : []).flatMap((call) => {
    if (!isObject(call) || !isObject(call["function"])) return [];
    const { name, arguments: given } = call["function"];
    const text = textOf(given);
    const parsed = parsedObject(text);
    const block = { type: "toolCall", id: textOf(call["id"]), name: textOf(name) } as const;
    const isUsual = parsed !== undefined && JSON.stringify(parsed) === text;
    return [{ ...block, arguments: parsed ?? {}, ...(isUsual ? {} : { rawArguments: text }) }];
  });
}
