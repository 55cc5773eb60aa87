/** Maps blocks, messages and usage of Claude Code and Codex to pi's forms. Pure. */
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import { isObject, stringAt } from "../entries/json-fields.ts";
import type {
  AssistantContent,
  TextContent,
  Usage,
  UserContent,
} from "../entries/message-types.ts";

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

export interface ToolOutput {
  readonly callId: string;
  readonly content: UserContent[];
  readonly isError: boolean;
}

export const noUsage: Usage = usageOf(0, 0, 0, 0);

/** Combines each count of two usages. */
export function usageOfBoth(
  one: Usage,
  other: Usage,
  count: (one: number, other: number) => number,
): Usage {
  const of = (key: "input" | "output" | "cacheRead" | "cacheWrite"): number =>
    count(one[key], other[key]);
  return usageOf(of("input"), of("output"), of("cacheRead"), of("cacheWrite"));
}

/** No source has costs. */
export function usageOf(
  input: number,
  output: number,
  cacheRead: number,
  cacheWrite: number,
): Usage {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  const totalTokens = input + output + cacheRead + cacheWrite;
  return { input, output, cacheRead, cacheWrite, totalTokens, cost };
}
