/** Maps content of Google's GenAI API, which gemini-cli and qwen-code store, to pi's. Pure. */
import type { AssistantContent, Usage, UserContent } from "@branchlog/core/entries";
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import { countAt, isObject, objectAt, stringAt, usageOf } from "@branchlog/core/rows";
import type { ToolOutput } from "./foreign-content.ts";

/** Of a content that is a text, or parts. */
export function partsOf(content: JsonValue | undefined): readonly JsonObject[] {
  if (typeof content === "string") return content === "" ? [] : [{ text: content }];
  return Array.isArray(content) ? content.filter(isObject) : [];
}

/** Thoughts, texts and calls; empty texts are left out. */
export function answerBlocks(content: JsonValue | undefined): AssistantContent[] {
  return partsOf(content).flatMap((part): AssistantContent[] => {
    const call = objectAt(part, "functionCall");
    if (call !== undefined) return callBlocks(call);
    const text = stringAt(part, "text") ?? "";
    if (text === "") return [];
    return part["thought"] === true
      ? [{ type: "thinking", thinking: text }]
      : [{ type: "text", text }];
  });
}

/** Of a call with `id`, `name` and `args`. */
export function callBlocks(call: JsonObject): AssistantContent[] {
  const [id, name] = [stringAt(call, "id"), stringAt(call, "name")];
  if (id === undefined || name === undefined) return [];
  return [{ type: "toolCall", id, name, arguments: objectAt(call, "args") ?? {} }];
}

/** The content of a user: texts and images. */
export function spokenBlocks(content: JsonValue | undefined): UserContent[] {
  return partsOf(content).flatMap((part): UserContent[] => {
    const text = stringAt(part, "text") ?? "";
    if (text !== "") return [{ type: "text", text }];
    const inline = objectAt(part, "inlineData");
    const [data, mimeType] = [stringAt(inline, "data"), stringAt(inline, "mimeType")];
    if (data === undefined || mimeType?.startsWith("image/") !== true) return [];
    return [{ type: "image", data, mimeType }];
  });
}

export interface NamedOutput extends ToolOutput {
  readonly toolName: string;
}

/** The results in a content. */
export function outputsIn(content: JsonValue | undefined): readonly NamedOutput[] {
  return partsOf(content).flatMap((part): NamedOutput[] => {
    const answered = objectAt(part, "functionResponse");
    const callId = stringAt(answered, "id");
    if (callId === undefined) return [];
    const response = objectAt(answered, "response") ?? {};
    const error = response["error"];
    const said = error ?? response["output"] ?? response;
    const text = typeof said === "string" ? said : JSON.stringify(said);
    const output: UserContent[] = text === "" ? [] : [{ type: "text", text }];
    const toolName = stringAt(answered, "name") ?? "unknown";
    return [{ callId, toolName, content: output, isError: error !== undefined }];
  });
}

/** Tokens read from the cache are among those of the prompt, thoughts are not in the answer. */
export function genaiUsage(metadata: JsonObject | undefined): Usage {
  const read = countAt(metadata, "cachedContentTokenCount");
  const input = Math.max(0, countAt(metadata, "promptTokenCount") - read);
  const thoughts = countAt(metadata, "thoughtsTokenCount");
  return usageOf(input, countAt(metadata, "candidatesTokenCount") + thoughts, read, 0);
}
