/**
 * Maps rows to physical line numbers, and the record numbers of v1 files to rows, at the cost of
 * the exceptions only: as long as each line is a row, nothing is stored.
 */

/** The exceptions, as they are saved. */
export interface SavedLines {
  readonly rows: readonly number[];
  readonly distances: readonly number[];
  readonly otherRecords: readonly number[];
  readonly recordCount: number;
}

/** See the file comment. */
export class LineMap {
  /** Rows at which the distance between line number and row changes, and the new distances. */
  readonly #rows: number[] = [];
  readonly #distances: number[] = [];
  /** Record numbers (counted from 0 over every line that parses) that are not rows. */
  readonly #otherRecords: number[] = [];
  #recordCount = 0;

  /** Notes that `row` stands on that line. Rows must come in order. */
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

  /** What there is, as views that change with the map. */
  save(): SavedLines {
    return {
      rows: this.#rows,
      distances: this.#distances,
      otherRecords: this.#otherRecords,
      recordCount: this.#recordCount,
    };
  }

  /** Takes over what was saved, being empty so far. */
  restore({ rows, distances, otherRecords, recordCount }: SavedLines): void {
    for (const row of rows) this.#rows.push(row);
    for (const distance of distances) this.#distances.push(distance);
    for (const record of otherRecords) this.#otherRecords.push(record);
    this.#recordCount = recordCount;
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
