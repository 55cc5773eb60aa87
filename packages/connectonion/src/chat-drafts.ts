/**
 * Messages of the chat API of OpenAI as drafts of a log: tool calls become blocks of the
 * assistant's message, their answers messages of their own. Pure.
 */
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import type { EntryDraft } from "@branchlog/core";
import type { ToolCall, Usage } from "@branchlog/core/entries";
import type { AssistantContent, UserContent } from "@branchlog/core/internal";
import { parsedObject, textOf } from "./chat-values.ts";
import { isObject } from "./read-document.ts";

/** The `customType` of further messages of the user within one turn: a turn has one of its own. */
export const furtherUserType = "branchlog.user";

/** What the document says of a whole turn. */
export interface TurnFacts {
  /** `provider/model`, or a model alone. */
  readonly model: string;
  readonly startMs: number;
  readonly endMs: number;
  /** What it took; it stands with the last answer. */
  readonly tokens: number;
  readonly cost: number;
}

/** What one message of it gets of that. */
interface MessageFacts extends Pick<TurnFacts, "model" | "tokens" | "cost"> {
  readonly timestampMs: number;
}

/** One message as a draft of a log. */
type DraftMaker = (message: JsonObject, facts: MessageFacts) => EntryDraft;

/**
 * The messages of a turn as drafts. The first must be the user's. Roles that a log has no message
 * for are left out: the caller compares what comes back.
 */
export function draftsOfChat(messages: readonly JsonObject[], facts: TurnFacts): EntryDraft[] {
  const names = toolNames(messages);
  const lastAnswer = messages.findLastIndex(({ role }) => role === "assistant");
  const { model, tokens, cost, startMs, endMs } = facts;
  return messages.flatMap((message, place) => {
    const spent = place === lastAnswer ? { tokens, cost } : { tokens: 0, cost: 0 };
    const timestampMs = place === messages.length - 1 ? endMs : startMs;
    const makeDraft = draftMakers(place === 0, names).get(textOf(message["role"]));
    return makeDraft === undefined ? [] : [makeDraft(message, { model, timestampMs, ...spent })];
  });
}

function draftMakers(
  isFirst: boolean,
  names: ReadonlyMap<string, string>,
): ReadonlyMap<string, DraftMaker> {
  return new Map<string, DraftMaker>([
    ["user", isFirst ? userDraft : furtherUserDraft],
    ["assistant", answerDraft],
    ["tool", (message, facts) => toolDraft(message, facts, names)],
    ["system", systemDraft],
  ]);
}

function systemDraft({ content }: JsonObject, { timestampMs }: MessageFacts): EntryDraft {
  const timestamp = timestampMs;
  return { type: "message", message: { role: "system", content: textOf(content), timestamp } };
}

function userDraft({ content }: JsonObject, { timestampMs }: MessageFacts): EntryDraft {
  const parts = Array.isArray(content) ? content.flatMap((part) => userBlock(part)) : undefined;
  const shown = parts ?? textOf(content);
  return { type: "message", message: { role: "user", content: shown, timestamp: timestampMs } };
}

function furtherUserDraft({ content }: JsonObject): EntryDraft {
  const parts = Array.isArray(content) ? content.flatMap((part) => userBlock(part)) : undefined;
  const shown = parts ?? textOf(content);
  return { type: "custom_message", customType: furtherUserType, content: shown, display: true };
}

const dataUrl = /^data:([^;,]+);base64,([^]*)$/;

function userBlock(part: JsonValue): UserContent[] {
  if (!isObject(part)) return [];
  if (part["type"] === "text") return [{ type: "text", text: textOf(part["text"]) }];
  const image = isObject(part["image_url"]) ? dataUrl.exec(textOf(part["image_url"]["url"])) : null;
  const [, mimeType, data] = image ?? [];
  return mimeType === undefined || data === undefined ? [] : [{ type: "image", data, mimeType }];
}

function answerDraft(message: JsonObject, facts: MessageFacts): EntryDraft {
  const { content, tool_calls: given } = message;
  const calls = Array.isArray(given) ? given.flatMap((call) => toolCallBlock(call)) : [];
  const text = textOf(content);
  const hasText = text !== "" || (content === "" && calls.length > 0);
  const blocks: AssistantContent[] = hasText ? [{ type: "text", text }, ...calls] : calls;
  const { provider, model } = modelOf(facts.model);
  return {
    type: "message",
    message: {
      role: "assistant",
      content: blocks,
      api: "openai-completions",
      provider,
      model,
      usage: usageOf(facts),
      stopReason: calls.length > 0 ? "toolUse" : "stop",
      timestamp: facts.timestampMs,
    },
  };
}

/** A call as a block; text that is no JSON object stays beside empty arguments. */
function toolCallBlock(call: JsonValue): (ToolCall & { readonly rawArguments?: string })[] {
  if (!isObject(call) || !isObject(call["function"])) return [];
  const { name, arguments: given } = call["function"];
  const text = textOf(given);
  const parsed = parsedObject(text);
  const block = { type: "toolCall", id: textOf(call["id"]), name: textOf(name) } as const;
  const isUsual = parsed !== undefined && JSON.stringify(parsed) === text;
  return [{ ...block, arguments: parsed ?? {}, ...(isUsual ? {} : { rawArguments: text }) }];
}

function toolDraft(
  { content, tool_call_id: id }: JsonObject,
  { timestampMs }: MessageFacts,
  names: ReadonlyMap<string, string>,
): EntryDraft {
  const toolCallId = textOf(id);
  return {
    type: "message",
    message: {
      role: "toolResult",
      toolCallId,
      toolName: names.get(toolCallId) ?? "",
      content: [{ type: "text", text: textOf(content) }],
      isError: false,
      timestamp: timestampMs,
    },
  };
}

/** The names of the tools by the ids of their calls. */
function toolNames(messages: readonly JsonObject[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const { tool_calls: calls } of messages) {
    for (const call of Array.isArray(calls) ? calls : []) {
      for (const { id, name } of toolCallBlock(call)) names.set(id, name);
    }
  }
  return names;
}

function modelOf(text: string): { readonly provider: string; readonly model: string } {
  const slash = text.indexOf("/");
  return { provider: text.slice(0, Math.max(0, slash)), model: text.slice(slash + 1) };
}

/** The document tells tokens and costs only as sums: they stand as input. */
function usageOf({ tokens, cost }: MessageFacts): Usage {
  const none = { output: 0, cacheRead: 0, cacheWrite: 0 };
  const spent = { input: cost, ...none, total: cost };
  return { input: tokens, ...none, totalTokens: tokens, cost: spent };
}
