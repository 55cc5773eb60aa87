/** What the two kinds of sources have in common: how a mapping is fed, and what it writes to. */
import type { JsonObject } from "@branchlog/streaming";
import type { Usage } from "@branchlog/core/entries";
import type { LineOutcome, LineTally } from "./line-tally.ts";
import type { LogBuilder } from "./log-builder.ts";
import type { SourceFacts } from "./source-facts.ts";

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

/** Nothing was consumed. */
export const noUsage: Usage = usageOf(0, 0, 0, 0);

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
