/**
 * Maps rows to physical line numbers, and the record numbers of v1 files to rows, at the cost of
 * the exceptions only: as long as each line is a row, nothing is stored.
 */

/** The exceptions, as they are saved. */
export interface SavedLines {
  readonly changeCount: number;
  readonly rows: Int32Array;
  readonly distances: Int32Array;
  readonly otherCount: number;
  readonly otherRecords: Int32Array;
  readonly recordCount: number;
}

/** See the file comment. */
export class LineMap {
  /** Rows at which the distance between line number and row changes, and the new distances. */
  #rows: number[] = [];
  #distances: number[] = [];
  /** Record numbers (counted from 0 over every line that parses) that are not rows. */
  #otherRecords: number[] = [];
  #recordCount = 0;

  /** Notes that `row` is on that line. Rows must come in order. */
  addRow(row: number, lineNumber: number): void {
    this.#recordCount += 1;
    const distance = lineNumber - row;
    if (this.#distances.at(-1) === distance) return;
    this.#rows.push(row);
    this.#distances.push(distance);
  }

  /** Notes a record that parsed but is no row: the header, or junk. */
  addOtherRecord(): void {
    this.#otherRecords.push(this.#recordCount);
    this.#recordCount += 1;
  }

  /** A copy of what there is. */
  save(): SavedLines {
    return {
      changeCount: this.#rows.length,
      rows: Int32Array.from(this.#rows),
      distances: Int32Array.from(this.#distances),
      otherCount: this.#otherRecords.length,
      otherRecords: Int32Array.from(this.#otherRecords),
      recordCount: this.#recordCount,
    };
  }

  /** Takes over what was saved. */
  restore(saved: SavedLines): void {
    this.#rows = Array.from(saved.rows.subarray(0, saved.changeCount));
    this.#distances = Array.from(saved.distances.subarray(0, saved.changeCount));
    this.#otherRecords = Array.from(saved.otherRecords.subarray(0, saved.otherCount));
    this.#recordCount = saved.recordCount;
  }

  /** The 1-based line number of a row. O(log exceptions). */
  lineOfRow(row: number): number {
    const at = upperBound(this.#rows, row) - 1;
    return row + (this.#distances[at] ?? 0);
  }

  /** The row of the record with that number, or -1 if it is not a row. */
  rowOfRecord(record: number): number {
    if (!Number.isInteger(record) || record < 0 || record >= this.#recordCount) return -1;
    const before = upperBound(this.#otherRecords, record);
    if (this.#otherRecords[before - 1] === record) return -1;
    return record - before;
  }
}

/** How many elements of a sorted list are ≤ `value`. */
function upperBound(sorted: readonly number[], value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}
