/**
 * From the content of Claude Code's messages to pi's: blocks, usage and reasons to stop. What has
 * no form there is handed back, so that it can be kept beside the message. Pure.
 */
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import type { StopReason, TextContent, Usage } from "@branchlog/core/entries";
import { countAt, isObject, listAt, objectAt, stringAt } from "@branchlog/core/internal";
import type { AssistantContent, UserContent } from "@branchlog/core/internal";
import { usageOf } from "./source-mapping.ts";

/** What a model said, and the blocks that have no form. */
export interface AssistantParts {
  readonly content: AssistantContent[];
  readonly rest: JsonValue[];
}

/** A part of a user record: something said, or the result of a tool. */
export type UserPart =
  | { readonly kind: "speech"; readonly content: string | UserContent[] }
  | {
      readonly kind: "result";
      readonly callId: string;
      readonly content: UserContent[];
      readonly isError: boolean;
    };

/** The parts of a user record in their order, and the blocks that have no form. */
export interface UserParts {
  readonly parts: readonly UserPart[];
  readonly rest: readonly JsonValue[];
}

/** The blocks of an assistant message. Text without a character is left out. */
export function assistantParts(message: JsonObject | undefined): AssistantParts {
  const text = stringAt(message, "content");
  const blocks: readonly JsonValue[] =
    text === undefined ? listAt(message, "content") : [{ type: "text", text }];
  const parts: AssistantParts = { content: [], rest: [] };
  for (const block of blocks) {
    const mapped = isObject(block) ? assistantBlock(block) : undefined;
    if (mapped === undefined) parts.rest.push(block);
    else if (mapped.type !== "text" || mapped.text !== "") parts.content.push(mapped);
  }
  return parts;
}

function assistantBlock(block: JsonObject): AssistantContent | undefined {
  switch (stringAt(block, "type")) {
    case "text":
      return textBlock(block);
    case "thinking":
      return thinkingBlock(block);
    case "redacted_thinking": {
      const data = stringAt(block, "data");
      if (data === undefined) return undefined;
      return { type: "thinking", thinking: "", thinkingSignature: data, redacted: true };
    }
    case "tool_use": {
      const [id, name] = [stringAt(block, "id"), stringAt(block, "name")];
      if (id === undefined || name === undefined) return undefined;
      const input = block["input"] ?? {};
      return { type: "toolCall", id, name, arguments: isObject(input) ? input : { input } };
    }
    default:
      return undefined;
  }
}

function textBlock(block: JsonObject): TextContent | undefined {
  const text = stringAt(block, "text");
  return text === undefined ? undefined : { type: "text", text };
}

function thinkingBlock(block: JsonObject): AssistantContent | undefined {
  const thinking = stringAt(block, "thinking");
  if (thinking === undefined) return undefined;
  const thinkingSignature = stringAt(block, "signature");
  return { type: "thinking", thinking, ...(thinkingSignature ? { thinkingSignature } : {}) };
}

/** The parts of a user record: results where they stand, what is between them as messages. */
export function userParts(content: JsonValue | undefined): UserParts {
  if (typeof content === "string") {
    return { parts: content === "" ? [] : [{ kind: "speech", content }], rest: [] };
  }
  const parts: UserPart[] = [];
  const rest: JsonValue[] = [];
  let said: UserContent[] = [];
  const endSpeech = (): void => {
    if (said.length > 0) parts.push({ kind: "speech", content: said });
    said = [];
  };
  for (const block of Array.isArray(content) ? content : []) {
    const callId = isObject(block) ? stringAt(block, "tool_use_id") : undefined;
    if (isObject(block) && block["type"] === "tool_result" && callId !== undefined) {
      endSpeech();
      const result = contentOf(block["content"]);
      for (const left of result.rest) rest.push(left);
      const isError = block["is_error"] === true;
      parts.push({ kind: "result", callId, content: result.content, isError });
      continue;
    }
    const mapped = isObject(block) ? userBlock(block) : undefined;
    if (mapped === undefined) rest.push(block);
    else if (mapped.type !== "text" || mapped.text !== "") said.push(mapped);
  }
  endSpeech();
  return { parts, rest };
}

function contentOf(content: JsonValue | undefined): { content: UserContent[]; rest: JsonValue[] } {
  if (typeof content === "string") {
    return { content: content === "" ? [] : [{ type: "text", text: content }], rest: [] };
  }
  const mapped: UserContent[] = [];
  const rest: JsonValue[] = [];
  for (const block of Array.isArray(content) ? content : []) {
    const one = isObject(block) ? userBlock(block) : undefined;
    if (one === undefined) rest.push(block);
    else mapped.push(one);
  }
  return { content: mapped, rest };
}

function userBlock(block: JsonObject): UserContent | undefined {
  const type = stringAt(block, "type");
  if (type === "text") return textBlock(block);
  const source = type === "image" ? objectAt(block, "source") : undefined;
  const [data, mimeType] = [stringAt(source, "data"), stringAt(source, "media_type")];
  // An image behind a URL has no form: a log holds images themselves.
  if (data === undefined || mimeType === undefined) return undefined;
  return { type: "image", data, mimeType };
}

/** What a request consumed, as the API counts it. */
export function claudeUsage(message: JsonObject | undefined): Usage {
  const usage = objectAt(message, "usage");
  return usageOf(
    countAt(usage, "input_tokens"),
    countAt(usage, "output_tokens"),
    countAt(usage, "cache_read_input_tokens"),
    countAt(usage, "cache_creation_input_tokens"),
  );
}

/** What is in `usage` and was not counted yet. */
export function usageBeyond(usage: Usage, counted: Usage): Usage {
  const beyond = (key: "input" | "output" | "cacheRead" | "cacheWrite"): number =>
    Math.max(0, usage[key] - counted[key]);
  return usageOf(beyond("input"), beyond("output"), beyond("cacheRead"), beyond("cacheWrite"));
}

/** Why the model stopped; parts of a message that was still streaming do not say it. */
export function claudeStopReason(
  reason: string | undefined,
  content: readonly AssistantContent[],
): StopReason {
  switch (reason) {
    case undefined:
      return content.some(({ type }) => type === "toolCall") ? "toolUse" : "stop";
    case "tool_use":
      return "toolUse";
    case "max_tokens":
    case "model_context_window_exceeded":
      return "length";
    case "end_turn":
    case "stop_sequence":
    case "pause_turn":
      return "stop";
    default:
      return "error";
  }
}

/** The text of content, blocks joined by an empty line. */
export function textOf(content: JsonValue | undefined): string {
  if (typeof content === "string") return content;
  const texts: string[] = [];
  for (const block of Array.isArray(content) ? content : []) {
    const text = isObject(block) ? stringAt(block, "text") : undefined;
    if (text !== undefined) texts.push(text);
  }
  return texts.join("\n\n");
}
