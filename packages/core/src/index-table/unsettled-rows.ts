/**
 * Which rows have to be read before anybody may stand on them: those that were indexed from their
 * envelopes, and either have no children, or hide others, or are the last. Others are trusted until
 * somebody reads them. Pure, but for taking from the unverified rows what needs no look any more.
 */
import type { IndexTable } from "./index-table.ts";
import { rowFlags } from "./row-table.ts";
import { isTip, tailRow } from "./tree-walk.ts";

/** Rows to read now, in a few milliseconds; none if all are settled. */
export interface UnsettledRows {
  readonly rows: readonly number[];
  /** Rows before this one are settled once those are read. */
  readonly settledRows: number;
}

const rowsAtOnceMax = 256;
const bytesAtOnceMax = 512 * 1024;

/** The next rows to read, if those before `settledRows` are settled. */
export function nextUnsettled(index: IndexTable, settledRows: number): UnsettledRows {
  const { unverifiedRows, rows } = index;
  const unsettled = new Set<number>();
  let bytes = 0;
  const add = (row: number): void => {
    bytes += unsettled.has(row) ? 0 : rows.length(row);
    unsettled.add(row);
  };
  const isFull = (): boolean => unsettled.size >= rowsAtOnceMax || bytes >= bytesAtOnceMax;
  let row = settledRows;
  for (; row < index.count && !isFull(); row += 1) {
    if (rows.is(row, rowFlags.provisional) && isTip(index, row)) add(row);
  }
  if (unsettled.size === 0) {
    while (unverifiedRows.length > 0 && !isUnverified(index, unverifiedRows.at(-1)))
      unverifiedRows.pop();
    // What one of them turns out to be may settle those before: no further than the next settled.
    for (let at = unverifiedRows.length - 1; at >= 0 && !isFull(); at -= 1) {
      const next = unverifiedRows[at];
      if (next === undefined || !isUnverified(index, next)) break;
      add(next);
    }
  }
  const tail = tailRow(index);
  if (unsettled.size === 0 && tail >= 0 && rows.is(tail, rowFlags.provisional)) add(tail);
  return { rows: [...unsettled], settledRows: row };
}

function isUnverified(index: IndexTable, row = -1): boolean {
  return row >= 0 && index.rows.is(row, rowFlags.provisional) && index.isNode(row);
}
