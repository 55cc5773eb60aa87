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
  readonly diagnostics: ImportDiagnostic[] = [];
  #diagnosticCount = 0;
  #lines = 0;
  #imported = 0;
  #held = 0;
  readonly #skipped = new Map<SkipReason, number>();

  get lines(): number {
    return this.#lines;
  }

  get imported(): number {
    return this.#imported;
  }

  get diagnosticCount(): number {
    return this.#diagnosticCount;
  }

  /** Lines by the reason for which they were skipped, in alphabetical order. */
  get skipped(): Partial<Record<SkipReason, number>> {
    const entries = [...this.#skipped].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(entries);
  }

  /** Takes note of the next line. */
  count(outcome: LineOutcome): void {
    this.#lines += 1;
    if (outcome === "held") this.#held += 1;
    else this.#add(outcome);
  }

  /** Takes note of what became of a line that was held. */
  settle(outcome: Exclude<LineOutcome, "held">): void {
    this.#held -= 1;
    this.#add(outcome);
  }

  /** The first of them are kept; all are counted. */
  report(diagnostic: ImportDiagnostic): void {
    this.#diagnosticCount += 1;
    if (this.diagnostics.length < diagnosticsMax) this.diagnostics.push(diagnostic);
  }

  /** Throws unless every line was imported or skipped for a reason. */
  assertComplete(): void {
    let sum = this.#imported;
    for (const count of this.#skipped.values()) sum += count;
    if (sum === this.#lines && this.#held === 0) return;
    throw new Error(`of ${this.#lines} source lines, ${sum} are accounted for`);
  }

  #add(outcome: Exclude<LineOutcome, "held">): void {
    if (outcome === "imported") this.#imported += 1;
    else this.#skipped.set(outcome, (this.#skipped.get(outcome) ?? 0) + 1);
  }
}

/** What is said of a number that no double holds. */
export function changedText(number: string): string {
  const shown = number.length > numberUnitsMax ? `${number.slice(0, numberUnitsMax)}…` : number;
  return `no double holds ${shown}: where it is copied, it is rounded, or null`;
}

const numberUnitsMax = 40;
