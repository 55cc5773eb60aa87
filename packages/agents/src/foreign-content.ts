/** Maps blocks of messages to pi's forms. Pure. */
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import { isObject, stringAt } from "@branchlog/core/rows";
import type { TextContent, AssistantContent, UserContent } from "@branchlog/core/entries";

/** `rest`: blocks without a form. */
export interface MappedContent<T> {
  readonly content: T[];
  readonly rest: JsonValue[];
}

export function mappedContent<T>(
  content: JsonValue | undefined,
  mapped: (block: JsonObject) => T | undefined,
): MappedContent<T | TextContent> {
  if (typeof content === "string") {
    return { content: content === "" ? [] : [{ type: "text", text: content }], rest: [] };
  }
  const parts: MappedContent<T> = { content: [], rest: [] };
  for (const block of Array.isArray(content) ? content : []) {
    const one = isObject(block) ? mapped(block) : undefined;
    if (one === undefined) parts.rest.push(block);
    else parts.content.push(one);
  }
  return parts;
}

export function withoutEmptyText<T extends AssistantContent | UserContent>({
  content,
  rest,
}: MappedContent<T>): MappedContent<T> {
  return { content: content.filter((block) => !isEmptyText(block)), rest };
}

export function isEmptyText(block: AssistantContent | UserContent): boolean {
  return block.type === "text" && block.text === "";
}

export function textBlock(block: JsonObject): TextContent | undefined {
  const text = stringAt(block, "text");
  return text === undefined ? undefined : { type: "text", text };
}

export function textsOf(content: JsonValue | undefined): string[] {
  if (typeof content === "string") return [content];
  const blocks = Array.isArray(content) ? content : [];
  return blocks.flatMap((block) => (isObject(block) ? (stringAt(block, "text") ?? []) : []));
}

/** Of a call, where they are stored as a text, also one that is no JSON. */
export function argumentsIn(input: string): Record<string, JsonValue> {
  try {
    // Decoding boundary: JSON.parse returns only JSON values.
    const value = JSON.parse(input) as JsonValue;
    return isObject(value) ? { ...value } : { input: value };
  } catch {
    return input === "" ? {} : { input };
  }
}

export interface ToolOutput {
  readonly callId: string;
  readonly content: UserContent[];
  readonly isError: boolean;
}
