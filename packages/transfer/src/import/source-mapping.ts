/**
 * What the two kinds of sources have in common: how a mapping is fed, what it writes to, and what
 * blocks, usage and messages become. Pure.
 */
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import type { KnownDraft, TextContent, Usage } from "@branchlog/core/entries";
import { isObject, stringAt } from "@branchlog/core/internal";
import type { AssistantContent, UserContent } from "@branchlog/core/internal";
import type { LineOutcome, LineTally } from "./line-tally.ts";
import type { LogBuilder } from "./log-builder.ts";
import type { SourceFacts } from "./source-reader.ts";

/** A line of a source that is a record. */
export interface SourceRecord {
  readonly value: JsonObject;
  /** 1-based. */
  readonly line: number;
  /** Length of the line. */
  readonly bytes: number;
}

/** A state machine from the records of a source to the entries of a log. No I/O. */
export interface SourceMapping {
  /** Takes the next record, and says what became of it. */
  push(record: SourceRecord): LineOutcome;
  /** Writes what was held back. To be called once, after the last record. */
  end(): void;
}

/** What a mapping works with. */
export interface MappingSetting {
  readonly log: LogBuilder;
  readonly tally: LineTally;
  readonly facts: SourceFacts;
  /** The first entry of the log, which says where it comes from. */
  readonly rootId: string;
}

/** Content, and the blocks that have no form: they can be kept beside the message. */
export interface MappedContent<T> {
  readonly content: T[];
  readonly rest: JsonValue[];
}

/** Text, or a list of blocks, as content; `mapped` gives undefined for a block without a form. */
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

/** The same without text that has no character. */
export function withoutEmptyText<T extends AssistantContent | UserContent>({
  content,
  rest,
}: MappedContent<T>): MappedContent<T> {
  return { content: content.filter((block) => !isEmptyText(block)), rest };
}

/** Whether a block is text without a character. */
export function isEmptyText(block: AssistantContent | UserContent): boolean {
  return block.type === "text" && block.text === "";
}

/** A block of text; undefined for any other. */
export function textBlock(block: JsonObject): TextContent | undefined {
  const text = stringAt(block, "text");
  return text === undefined ? undefined : { type: "text", text };
}

/** The texts of a list of blocks. */
export function textsOf(content: JsonValue | undefined): string[] {
  if (typeof content === "string") return [content];
  const blocks = Array.isArray(content) ? content : [];
  return blocks.flatMap((block) => (isObject(block) ? (stringAt(block, "text") ?? []) : []));
}

/** What only the agent of the source knows. */
export function custom(customType: string, data: unknown): KnownDraft {
  return { type: "custom", customType, data };
}

/** What a user said. */
export function userMessage(content: string | UserContent[], time: string): KnownDraft {
  return { type: "message", message: { role: "user", content, timestamp: Date.parse(time) } };
}

/** What a tool returned. */
export interface ToolOutput {
  readonly callId: string;
  readonly content: UserContent[];
  readonly isError: boolean;
}

/** The result of a tool as a message. */
export function toolResult(
  { callId: toolCallId, content, isError }: ToolOutput,
  { time, ...of }: { toolName: string | undefined; time: string; details?: JsonValue | undefined },
): KnownDraft {
  const { toolName = "unknown", details } = of;
  const named = { role: "toolResult", toolCallId, toolName, content } as const;
  const given = details === undefined ? {} : { details };
  return { type: "message", message: { ...named, ...given, isError, timestamp: Date.parse(time) } };
}

/** Nothing was consumed. */
export const noUsage: Usage = usageOf(0, 0, 0, 0);

/** Each count of tokens made of those of two usages. */
export function usageOfBoth(
  one: Usage,
  other: Usage,
  count: (one: number, other: number) => number,
): Usage {
  const of = (key: "input" | "output" | "cacheRead" | "cacheWrite"): number =>
    count(one[key], other[key]);
  return usageOf(of("input"), of("output"), of("cacheRead"), of("cacheWrite"));
}

/** Counts of tokens as a message stores them; what they cost, no source says. */
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
