/** Which rows must be verified before a leaf is set to them. Pure. */
import type { IndexTable } from "../index-table/index-table.ts";
import { rowFlags } from "../index-table/row-table.ts";
import { isTip, tailRow } from "../index-table/tree-walk.ts";

interface UnsettledRows {
  readonly rows: readonly number[];
  readonly settledRows: number;
}

const rowsAtOnceMax = 256;

const bytesAtOnceMax = 512 * 1024;

/**
 * Provisional rows that have no children, hide others, or are the last: an entry may be appended
 * below them. Pops rows of the index that no longer need verification.
 */
export function nextUnsettled(index: IndexTable, settledRows: number): UnsettledRows {
  const { unverifiedRows, rows } = index;
  if (unverifiedRows.length === 0 && areConfirmed(index, settledRows)) {
    return { rows: none, settledRows: index.count };
  }
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
    // The result of one may decide those before it: stop at the next decided row.
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

const none: readonly number[] = [];

/** Whether all rows from this one on were parsed, and the last one is whole: as after appends. */
function areConfirmed({ rows, count }: IndexTable, settledRows: number): boolean {
  for (let row = settledRows; row < count; row += 1) {
    if (rows.is(row, rowFlags.provisional)) return false;
  }
  return settledRows < count && !rows.is(count - 1, rowFlags.damaged);
}

function isUnverified(index: IndexTable, row = -1): boolean {
  return row >= 0 && index.rows.is(row, rowFlags.provisional) && index.isNode(row);
}
