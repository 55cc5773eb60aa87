/**
 * Joins rows that stand close together in the log into few large reads. Pure. Rows keep the order
 * they are asked for, forwards or backwards; a read ends where the next row lies elsewhere or the
 * read would be too long. Reads start small and double, so that taking one row costs little.
 */
import type { RowTable } from "../index-table/row-table.ts";

/** One read and the rows, in order, whose lines it covers. */
export interface PlannedRead {
  readonly offset: number;
  readonly length: number;
  readonly rows: readonly number[];
}

/** Bytes of a joined read, first and at most; a longer line is read alone. */
const readBytesMin = 64 * 1024;
export const readBytesMax: number = 512 * 1024;
/** Bytes between two rows that are cheaper to read over than to skip. */
const gapBytesMax = 16 * 1024;

/** Plans the reads for `rows`, lazily: rows are taken from the iterable as reads are taken. */
export function* planReads(table: RowTable, rows: Iterable<number>): Generator<PlannedRead> {
  let group: number[] = [];
  let from = 0;
  let to = 0;
  let bytesMax = readBytesMin;
  for (const row of rows) {
    const start = table.offset(row);
    const end = start + table.length(row);
    const near = start >= to ? start - to <= gapBytesMax : end <= from && from - end <= gapBytesMax;
    const [low, high] = [Math.min(from, start), Math.max(to, end)];
    if (group.length > 0 && near && high - low <= bytesMax) {
      [from, to] = [low, high];
    } else {
      if (group.length > 0) yield { offset: from, length: to - from, rows: group };
      bytesMax = group.length > 0 ? Math.min(bytesMax * 2, readBytesMax) : bytesMax;
      group = [];
      [from, to] = [start, end];
    }
    group.push(row);
  }
  if (group.length > 0) yield { offset: from, length: to - from, rows: group };
}
