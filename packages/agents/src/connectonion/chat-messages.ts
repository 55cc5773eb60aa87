/** Converts between messages of a log and of OpenAI's chat API, counting losses. Pure. */
import { isObject } from "@branchlog/core/rows";
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import type { AgentMessage, EntryDraft } from "@branchlog/core";
import type { KnownDraft, ToolCall, UserContent } from "@branchlog/core/entries";
import type { ExactArguments } from "@branchlog/core/rows";
import { parsedObject, textOf } from "./json-values.ts";

/** Why something of a log is not in a document. */
export type LossReason =
  | "branches"
  | "before the first turn"
  | "changes of model or thinking level"
  | "compactions and branch summaries"
  | "context edits"
  | "costs beyond four places"
  | "custom entries"
  | "custom messages as messages of the user"
  | "details of tokens and costs"
  | "details of tool results"
  | "entries of unknown types"
  | "failed answers"
  | "images of tools"
  | "labels"
  | "messages of unknown roles"
  | "names"
  | "shell commands"
  | "signatures"
  | "several texts of one message"
  | "thinking"
  | "times of messages"
  | "usage beside the conversation";

export type OnLoss = (reason: LossReason) => void;

/** A stored message as at most one chat message, with the arguments in `exact`. */
export function chatOfMessage(
  message: AgentMessage,
  onLoss: OnLoss,
  exact?: ExactArguments,
): JsonObject[] {
  // Decoding boundary: messages are as stored, their types promise more than a file keeps.
  const stored = message as unknown as JsonObject;
  const { content } = stored;
  switch (message.role) {
    case "user":
    case "custom":
      return [{ role: "user", content: userContent(content, onLoss) }];
    case "assistant":
      return [chatAnswer(stored, onLoss, exact)];
    case "toolResult":
      return [chatToolResult(stored, onLoss)];
    case "system":
      return [{ role: "system", content: joinedText(content, onLoss) }];
    case "bashExecution":
      onLoss("shell commands");
      return [];
    default:
      onLoss("messages of unknown roles");
      return [];
  }
}

/** To check that an import can be reverted. */
export function chatOfDrafts(drafts: readonly EntryDraft[]): JsonObject[] {
  return drafts.flatMap((draft) => {
    // Decoding boundary: drafts of known types are made by the import alone.
    const known = draft as unknown as KnownDraft;
    if (known.type === "message") return chatOfMessage(known.message, noLoss);
    if (known.type !== "custom_message") return [];
    return [chatOfContent(known.content, noLoss)];
  });
}

export function chatOfContent(content: unknown, onLoss: OnLoss): JsonObject {
  // Decoding boundary: content is JSON.
  return { role: "user", content: userContent(content as JsonValue, onLoss) };
}

function noLoss(): void {}

function userContent(content: JsonValue | undefined, onLoss: OnLoss): JsonValue {
  if (!Array.isArray(content)) return textOf(content);
  const [only] = content;
  const isText = content.length === 1 && isObject(only) && only["type"] === "text";
  if (content.length === 0 || isText) return isObject(only) ? textOf(only["text"]) : "";
  return content.flatMap((block): JsonObject[] => {
    if (!isObject(block)) return [];
    if ("textSignature" in block) onLoss("signatures");
    if (block["type"] === "text") return [{ type: "text", text: textOf(block["text"]) }];
    const url = `data:${textOf(block["mimeType"])};base64,${textOf(block["data"])}`;
    return block["type"] === "image" ? [{ type: "image_url", image_url: { url } }] : [];
  });
}

function chatAnswer(message: JsonObject, onLoss: OnLoss, exact?: ExactArguments): JsonObject {
  const content = Array.isArray(message["content"]) ? message["content"] : [];
  const blocks = content.filter(isObject);
  const texts = blocks.filter(({ type }) => type === "text");
  const calls = content.flatMap((block, place) =>
    isObject(block) && block["type"] === "toolCall" ? [chatCall(block, exact?.get(place))] : [],
  );
  if (texts.length > 1) onLoss("several texts of one message");
  for (const block of blocks) {
    if (block["type"] === "thinking") onLoss("thinking");
    if ("textSignature" in block || "thoughtSignature" in block) onLoss("signatures");
  }
  const { stopReason } = message;
  if (stopReason === "error" || stopReason === "aborted") onLoss("failed answers");
  const whole = texts.map(({ text }) => textOf(text)).join("\n");
  const spoken = typeof message["content"] === "string" ? message["content"] : whole;
  const isSilent = texts.length === 0 && calls.length > 0;
  return {
    role: "assistant",
    content: isSilent ? null : spoken,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

function chatCall(call: JsonObject, exact: string | undefined): JsonObject {
  const { id, name, arguments: given, rawArguments: raw } = call;
  const text = typeof given === "string" ? given : JSON.stringify(given ?? {});
  const isKept = typeof raw === "string" && JSON.stringify(parsedObject(raw) ?? {}) === text;
  const shown = isKept ? raw : (exact ?? text);
  return { id: textOf(id), type: "function", function: { name: textOf(name), arguments: shown } };
}

function chatToolResult(message: JsonObject, onLoss: OnLoss): JsonObject {
  const { toolCallId, content, details, isError, usage, nestedCalls } = message;
  const hasMore = [details, usage, nestedCalls].some((value) => value !== undefined);
  if (hasMore || isError === true) onLoss("details of tool results");
  for (const block of Array.isArray(content) ? content.filter(isObject) : []) {
    if (block["type"] === "image") onLoss("images of tools");
  }
  return { role: "tool", tool_call_id: textOf(toolCallId), content: joinedText(content, onLoss) };
}

function joinedText(content: JsonValue | undefined, onLoss: OnLoss): string {
  if (!Array.isArray(content)) return textOf(content);
  const texts = content.filter(isObject).filter(({ type }) => type === "text");
  if (texts.length > 1) onLoss("several texts of one message");
  return texts.map(({ text }) => textOf(text)).join("\n");
}

/** The `customType` of further user messages within a turn, which has its own user message. */
export const furtherUserType = "branchlog.user";

export interface TurnFacts {
  /** `provider/model`, or a model alone. */
  readonly model: string;
  readonly startMs: number;
  readonly endMs: number;
  /** Of the whole turn: the usage of its last answer. */
  readonly tokens: number;
  readonly cost: number;
}

/** The user's message first. Unknown roles are left out. */
export function draftsOfChat(messages: readonly JsonObject[], facts: TurnFacts): EntryDraft[] {
  const toolNames = new Map(messages.flatMap(callsIn).map(({ id, name }) => [id, name]));
  const lastAnswer = messages.findLastIndex(({ role }) => role === "assistant");
  return messages.flatMap((message, place): EntryDraft[] => {
    const { role, content } = message;
    const timestamp = place === messages.length - 1 ? facts.endMs : facts.startMs;
    switch (role) {
      case "user": {
        const said = contentOfUser(content);
        if (place === 0) return [messageDraft({ role, content: said, timestamp })];
        const customType = furtherUserType;
        return [{ type: "custom_message", customType, content: said, display: true }];
      }
      case "assistant":
        return [messageDraft(answerOf(message, facts, timestamp, place === lastAnswer))];
      case "tool": {
        const toolCallId = textOf(message["tool_call_id"]);
        const toolName = toolNames.get(toolCallId) ?? "";
        const text = [{ type: "text", text: textOf(content) } as const];
        const result = { role: "toolResult", toolCallId, toolName, content: text } as const;
        return [messageDraft({ ...result, isError: false, timestamp })];
      }
      case "system":
        return [messageDraft({ role, content: textOf(content), timestamp })];
      default:
        return [];
    }
  });
}

function messageDraft(message: AgentMessage): EntryDraft {
  return { type: "message", message };
}

const dataUrl = /^data:([^;,]+);base64,([^]*)$/;

function contentOfUser(content: JsonValue | undefined): string | UserContent[] {
  if (!Array.isArray(content)) return textOf(content);
  return content.flatMap((part): UserContent[] => {
    if (!isObject(part)) return [];
    if (part["type"] === "text") return [{ type: "text", text: textOf(part["text"]) }];
    const url = isObject(part["image_url"]) ? textOf(part["image_url"]["url"]) : "";
    const [, mimeType, data] = dataUrl.exec(url) ?? [];
    return mimeType === undefined || data === undefined ? [] : [{ type: "image", data, mimeType }];
  });
}

/** The last answer has the usage of the turn, as input, since the document does not split it. */
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

/** The tool calls of a message; arguments that are not a JSON object are kept as text. */
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
