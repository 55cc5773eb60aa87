/**
 * Rows that share an id: which one hides which, and which is the last. The holder of an id is the
 * last of its rows that can be read, or the last of all if none can; rows are found to be damaged
 * in any order, and the holder is the same in the end.
 */

/** See the file comment. Empty in a log in which no id is repeated. */
export class RepeatedIds {
  /** Per row that came for an id that had one: that earlier one. */
  readonly #hidden = new Map<number, number>();
  /** Per row that is back in the place of later ones: the last of them. */
  readonly #last = new Map<number, number>();

  /** Takes note that `by` came for the id of `row`. */
  hide(row: number, by: number): void {
    this.#hidden.set(by, row);
  }

  /** The latest row before `row` with its id that is not damaged, or -1. */
  readableBefore(row: number, isDamaged: (row: number) => boolean): number {
    let other = this.#hidden.get(row);
    while (other !== undefined && isDamaged(other)) other = this.#hidden.get(other);
    return other ?? -1;
  }

  /** Takes note that `row` is back, in the place of `instead`. */
  bringBack(row: number, instead: number): void {
    this.#last.set(row, this.lastOf(instead));
  }

  /** The last row with the id of `row`, which holds that id. */
  lastOf(row: number): number {
    return this.#last.get(row) ?? row;
  }
}
