/**
 * Counts what became of each line of a source: imported, or skipped for a reason. Nothing is lost
 * without being counted; the sum is checked. Pure.
 */
import type { BadLineReason } from "@branchlog/streaming";
import { diagnosticsMax } from "@branchlog/core/internal";

/** Why a line gave nothing to the log. docs/formats.md says when. */
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

/** What became of a line. `held`: a later line decides, see {@link LineTally.settle}. */
export type LineOutcome = "imported" | "held" | SkipReason;

/** Something about a source that its importer should know. */
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

/** See the file comment. */
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

  /** Lines by the reason for which they were skipped, in alphabetical order. */
  get skipped(): Partial<Record<SkipReason, number>> {
    const skipped = [...this.#counts].filter(([outcome]) => outcome !== "imported");
    return Object.fromEntries(skipped.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Takes note of the next line. */
  count(outcome: LineOutcome): void {
    this.lines += 1;
    this.#held += 1;
    if (outcome !== "held") this.settle(outcome);
  }

  /** Takes note of what became of a line that was held. */
  settle(outcome: Exclude<LineOutcome, "held">): void {
    this.#held -= 1;
    this.#counts.set(outcome, (this.#counts.get(outcome) ?? 0) + 1);
  }

  /** The first of them are kept; all are counted. */
  report(diagnostic: ImportDiagnostic): void {
    this.diagnosticCount += 1;
    if (this.diagnostics.length < diagnosticsMax) this.diagnostics.push(diagnostic);
  }

  /** Reports a record of a type that is not known; that is why it is skipped. */
  reportUnknown(line: number, type: string): "unknown-record" {
    const message = `a record of the type ${JSON.stringify(type.slice(0, 80))} is not known`;
    this.report({ kind: "unknown-record", line, message });
    return "unknown-record";
  }

  /** Throws unless every line was imported or skipped for a reason. */
  assertComplete(): void {
    let sum = 0;
    for (const count of this.#counts.values()) sum += count;
    if (sum === this.lines && this.#held === 0) return;
    throw new Error(`of ${this.lines} source lines, ${sum} are accounted for`);
  }
}

/** The message for a number that no double holds. */
export function changedText(number: string): string {
  const shown = number.length > numberUnitsMax ? `${number.slice(0, numberUnitsMax)}…` : number;
  return `no double holds ${shown}: where it is copied, it is rounded, or null`;
}

const numberUnitsMax = 40;
