/**
 * Messages of a log as messages of the chat API of OpenAI. What these cannot say is named by its
 * reason. Pure.
 */
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import type { AgentMessage, EntryDraft } from "@branchlog/core";
import type { KnownDraft } from "@branchlog/core/entries";
import type { ExactArguments } from "@branchlog/core/internal";
import { isObject, parsedObject, textOf } from "./json-values.ts";

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

/** Counts what is lost. */
export type OnLoss = (reason: LossReason) => void;

/** A stored message as chat messages: one, or none; arguments as `exact` has them, if it does. */
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

/** What the entries of drafts say; the drafts of a turn that was read are taken back by this. */
export function chatOfDrafts(drafts: readonly EntryDraft[]): JsonObject[] {
  return drafts.flatMap((draft) => {
    // Decoding boundary: drafts of known types are made by the import alone.
    const known = draft as unknown as KnownDraft;
    if (known.type === "message") return chatOfMessage(known.message, noLoss);
    if (known.type !== "custom_message") return [];
    return [chatOfContent(known.content, noLoss)];
  });
}

/** The content of a message of an extension, as the user would have said it. */
export function chatOfContent(content: unknown, onLoss: OnLoss): JsonObject {
  return { role: "user", content: userContent(plain(content), onLoss) };
}

function noLoss(): void {}

function plain(content: unknown): JsonValue {
  // Decoding boundary: content is JSON, stored or about to be.
  return content as JsonValue;
}

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
