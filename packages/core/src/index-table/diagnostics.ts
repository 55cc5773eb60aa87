/**
 * Findings about a log. Damage is never an exception: the bad line is skipped and reported. The
 * list is bounded for each kind, so that no kind hides the others; the counts are complete.
 */
import { diagnosticsMax } from "../limits.ts";
import type { IndexTable } from "./index-table.ts";
import type { LineMap } from "./row-table.ts";

/**
 * `bad-line`: not a JSON object. `damaged-entry`: looked like an entry, its body does not parse.
 * `not-an-entry`: an object without the fields of an entry. `duplicate-id`: a later record repeats
 * an id. `second-header`: another `session` record. `before-header`: a record before the header.
 * `missing-parent`: the log does not hold an entry's parent. `cycle`: entries that are each other's
 * ancestors; one that is its own parent is a root, and only `verify` reports it. `lost-entries`:
 * entries that this session appended are gone. `malformed-body`: an entry whose content the model's
 * context cannot use. `unknown-type`: entries of a type that is neither pi's nor omp's and has no
 * namespace, one finding for each type; not damage. `diverged`: an entry of this session is on an
 * unintended branch. `dangling-reference`: an entry of this session refers to one that does not
 * exist, or is not on its path.
 */
export type DiagnosticKind =
  | "bad-line"
  | "damaged-entry"
  | "not-an-entry"
  | "duplicate-id"
  | "second-header"
  | "before-header"
  | "missing-parent"
  | "cycle"
  | "lost-entries"
  | "malformed-body"
  | "unknown-type"
  | "diverged"
  | "dangling-reference";

/** One finding. Offsets and lengths are bytes in the log; lines count from 1. */
export interface Diagnostic {
  readonly kind: DiagnosticKind;
  /** A stable code if there is one (`not-json`, `nul-bytes`, …), otherwise a sentence. */
  readonly reason: string;
  readonly offset?: number;
  readonly length?: number;
  readonly line?: number;
  /** The affected entry, if it has an id. */
  readonly id?: string;
  /** Of `unknown-type`. */
  readonly type?: string;
  /** Entries of the `unknown-type`, placed at the first; for `diverged`, entries of others. */
  readonly count?: number;
}

/** Findings about this session's entries that the log alone does not show. */
export type OwnKind = "lost-entries" | "diverged" | "dangling-reference";

const ownKinds: ReadonlySet<DiagnosticKind> = new Set<OwnKind>([
  "lost-entries",
  "diverged",
  "dangling-reference",
]);

export interface SavedDiagnostics {
  readonly entries: readonly Diagnostic[];
  readonly counts: readonly (readonly [kind: DiagnosticKind, count: number])[];
}

export class DiagnosticLog {
  readonly #entries: Diagnostic[] = [];
  readonly #counts = new Map<DiagnosticKind, number>();

  /** The first `diagnosticsMax` findings of each kind, in the order found. */
  get entries(): readonly Diagnostic[] {
    return this.#entries;
  }

  /** Includes findings that did not fit the list. */
  count(kind: DiagnosticKind): number {
    return this.#counts.get(kind) ?? 0;
  }

  save(): SavedDiagnostics {
    return {
      entries: this.#entries.filter(({ kind }) => !ownKinds.has(kind)),
      counts: [...this.#counts].filter(([kind]) => !ownKinds.has(kind)),
    };
  }

  restore({ entries, counts }: SavedDiagnostics): void {
    this.#entries.push(...entries);
    for (const [kind, count] of counts) this.#counts.set(kind, count);
  }

  add(diagnostic: Diagnostic): void {
    const { kind } = diagnostic;
    const found = this.count(kind);
    this.#counts.set(kind, found + 1);
    if (found < diagnosticsMax) this.#entries.push(diagnostic);
  }
}

/** An entry and its line. */
export interface EntryPlace {
  readonly id: string;
  /** 1-based. */
  readonly line: number;
  /** Byte offset of the line in the log. */
  readonly offset: number;
  /** Bytes of the line, without its newline. */
  readonly length: number;
}

export function entryPlace(
  { index, lines }: { readonly index: IndexTable; readonly lines: LineMap },
  row: number,
): EntryPlace {
  return {
    id: index.idOf(row),
    line: lines.lineOfRow(row),
    offset: index.rows.offset(row),
    length: index.rows.length(row),
  };
}

export function findingAt(
  kind: DiagnosticKind,
  reason: string,
  { index, lines }: { readonly index: IndexTable; readonly lines: LineMap },
  row: number,
): Diagnostic {
  return {
    kind,
    reason,
    offset: index.rows.offset(row),
    length: index.rows.length(row),
    line: lines.lineOfRow(row),
    id: index.idOf(row),
  };
}
