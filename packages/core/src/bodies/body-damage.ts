/**
 * What happens to rows whose bodies cannot be handed out: a damaged one stops being a node, one
 * that is too large stays; both are reported, once. If the log was rewritten meanwhile, what was
 * read says nothing about the rows, and that is an error.
 */
import { BranchlogError } from "../errors.ts";
import type { DiagnosticKind } from "../index-table/diagnostics.ts";
import type { LogIndexer } from "../index-table/log-indexer.ts";
import { rowFlags } from "../index-table/row-table.ts";

/** A log whose bodies are read. */
export interface DamageSource {
  readonly path: string;
  readonly indexer: LogIndexer;
  /** Whether the log still holds what was indexed. */
  readonly isUnchanged: () => boolean;
  /** Called when a row turned out damaged. */
  readonly onDamage: () => void;
}

/** See the file comment. */
export class BodyDamage {
  readonly #source: DamageSource;
  /** Rows that were reported as too large. */
  readonly #tooLarge = new Set<number>();

  constructor(source: DamageSource) {
    this.#source = source;
  }

  /**
   * Makes a row a damaged node.
   * @throws BranchlogError `ERR_LOG_GONE` if the log was rewritten.
   */
  markDamaged(row: number, reason: string): void {
    const { path, indexer, isUnchanged, onDamage } = this.#source;
    if (indexer.index.rows.is(row, rowFlags.damaged)) return;
    if (!isUnchanged()) throw rewritten(path);
    indexer.index.markDamaged(row);
    this.#report("damaged-entry", row, reason);
    onDamage();
  }

  /** Says of a row that it is left out because of its size. */
  reportTooLarge(row: number): void {
    if (this.#tooLarge.has(row)) return;
    this.#tooLarge.add(row);
    this.#report("malformed-body", row, "too large for one object; bodyStream reads it");
  }

  /** The error of asking for a row that is too large. */
  tooLarge(row: number): BranchlogError {
    const { path, indexer } = this.#source;
    const { rows } = indexer.index;
    const id = indexer.index.idOf(row);
    return new BranchlogError(
      "ERR_ENTRY_TOO_LARGE",
      `Entry ${id} of ${path} has ${rows.length(row)} bytes, more than one object can hold. ` +
        "Read it in parts with bodyStream(id) or pick(id, path).",
      { path, id, offset: rows.offset(row) },
    );
  }

  #report(kind: DiagnosticKind, row: number, reason: string): void {
    const { index, diagnostics, lines } = this.#source.indexer;
    diagnostics.add({
      kind,
      reason,
      offset: index.rows.offset(row),
      length: index.rows.length(row),
      line: lines.lineOfRow(row),
      id: index.idOf(row),
    });
  }
}

/** What reading a log fails with that another program rewrote meanwhile. */
export function rewritten(path: string): BranchlogError {
  const message = `${path} was rewritten by another program. Refresh the session, then read again.`;
  return new BranchlogError("ERR_LOG_GONE", message, { path });
}
