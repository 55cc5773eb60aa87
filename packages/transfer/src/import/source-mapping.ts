/** What the mappings of both sources share: the tally of lines, blocks, usage, messages. Pure. */
import type { JsonObject, JsonValue, BadLineReason } from "@branchlog/streaming";
import type { KnownDraft, TextContent, Usage } from "@branchlog/core/entries";
import { isObject, stringAt, diagnosticsMax } from "@branchlog/core/internal";
import type { AssistantContent, UserContent } from "@branchlog/core/internal";
import type { LogBuilder } from "./log-builder.ts";
import type { SourceFacts } from "./source-reader.ts";

export interface SourceRecord {
  readonly value: JsonObject;
  readonly line: number;
  readonly bytes: number;
}

/** Maps the records of a source to the entries of a log. No I/O. */
export interface SourceMapping {
  push(record: SourceRecord): LineOutcome;
  /** Writes what is pending. To be called once, after the last record. */
  end(): void;
}

export interface MappingSetting {
  readonly log: LogBuilder;
  readonly tally: LineTally;
  readonly facts: SourceFacts;
  /** The first entry of the log, which describes the source. */
  readonly rootId: string;
}

/** Content, and the blocks that have no form in it. */
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

export function custom(customType: string, data: unknown): KnownDraft {
  return { type: "custom", customType, data };
}

export function userMessage(content: string | UserContent[], time: string): KnownDraft {
  return { type: "message", message: { role: "user", content, timestamp: Date.parse(time) } };
}

export interface ToolOutput {
  readonly callId: string;
  readonly content: UserContent[];
  readonly isError: boolean;
}

export function toolResult(
  { callId: toolCallId, content, isError }: ToolOutput,
  { time, ...of }: { toolName: string | undefined; time: string; details?: JsonValue | undefined },
): KnownDraft {
  const { toolName = "unknown", details } = of;
  const named = { role: "toolResult", toolCallId, toolName, content } as const;
  const given = details === undefined ? {} : { details };
  return { type: "message", message: { ...named, ...given, isError, timestamp: Date.parse(time) } };
}

export const noUsage: Usage = usageOf(0, 0, 0, 0);

/** The usage with each count computed from those of two usages. */
export function usageOfBoth(
  one: Usage,
  other: Usage,
  count: (one: number, other: number) => number,
): Usage {
  const of = (key: "input" | "output" | "cacheRead" | "cacheWrite"): number =>
    count(one[key], other[key]);
  return usageOf(of("input"), of("output"), of("cacheRead"), of("cacheWrite"));
}

/** Token counts as a message stores them; no source has costs. */
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

/** Why a line is not in the log; see docs/formats.md. */
export type SkipReason =
  | BadLineReason
  | "torn"
  | "too-deep"
  | "unknown-record"
  | "no-content"
  | "repeated"
  | "progress"
  | "file-history"
  | "queue"
  | "bookkeeping"
  | "unused-title"
  | "unchanged-context"
  | "event-copy"
  | "status-event"
  | "no-usage";

/** `held`: a later line decides, see {@link LineTally.settle}. */
export type LineOutcome = "imported" | "held" | SkipReason;

export interface ImportDiagnostic {
  readonly kind:
    | "bad-line"
    | "changed-number"
    | "invalid-utf8"
    | "missing-parent"
    | "unknown-record";
  /** 1-based, in the source. */
  readonly line: number;
  readonly message: string;
}

export class LineTally {
  /** The first {@link diagnosticsMax} findings, in the order of the source. */
  readonly diagnostics: ImportDiagnostic[] = [];
  diagnosticCount = 0;
  lines = 0;
  #held = 0;
  readonly #counts = new Map<"imported" | SkipReason, number>();

  get imported(): number {
    return this.#counts.get("imported") ?? 0;
  }

  get skipped(): Partial<Record<SkipReason, number>> {
    const skipped = [...this.#counts].filter(([outcome]) => outcome !== "imported");
    return Object.fromEntries(skipped.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  count(outcome: LineOutcome): void {
    this.lines += 1;
    this.#held += 1;
    if (outcome !== "held") this.settle(outcome);
  }

  settle(outcome: Exclude<LineOutcome, "held">): void {
    this.#held -= 1;
    this.#counts.set(outcome, (this.#counts.get(outcome) ?? 0) + 1);
  }

  report(diagnostic: ImportDiagnostic): void {
    this.diagnosticCount += 1;
    if (this.diagnostics.length < diagnosticsMax) this.diagnostics.push(diagnostic);
  }

  /** Reports a record of an unknown type, which is skipped. */
  reportUnknown(line: number, type: string): "unknown-record" {
    const message = `a record of the type ${JSON.stringify(type.slice(0, 80))} is not known`;
    this.report({ kind: "unknown-record", line, message });
    return "unknown-record";
  }

  assertComplete(): void {
    let sum = 0;
    for (const count of this.#counts.values()) sum += count;
    if (sum === this.lines && this.#held === 0) return;
    throw new Error(`of ${this.lines} source lines, ${sum} are accounted for`);
  }
}

export function changedText(number: string): string {
  const shown = number.length > numberUnitsMax ? `${number.slice(0, numberUnitsMax)}…` : number;
  return `no double holds ${shown}: where it is copied, it is rounded, or null`;
}

const numberUnitsMax = 40;
