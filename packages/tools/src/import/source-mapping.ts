/** What the mappings of both sources share: the tally of lines. Pure. */
import type { JsonObject, BadLineReason } from "@branchlog/streaming";
import { diagnosticsMax } from "@branchlog/core/internal";
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
  /** Writes what is pending; once, after the last record. */
  end(): void;
}

export interface MappingSetting {
  readonly log: LogBuilder;
  readonly tally: LineTally;
  readonly facts: SourceFacts;
  readonly rootId: string;
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
