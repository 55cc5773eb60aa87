/** Which rows share an id, and which of them holds it. */
/**
 * The holder of an id is the last of its rows that is readable, or the last of all, in whatever
 * order rows are found to be damaged.
 */
export class RepeatedIds {
  readonly #hidden = new Map<number, number>();
  readonly #last = new Map<number, number>();

  get isAny(): boolean {
    return this.#hidden.size > 0;
  }

  hide(row: number, by: number): void {
    this.#hidden.set(by, row);
  }

  readableBefore(row: number, isDamaged: (row: number) => boolean): number {
    let other = this.#hidden.get(row);
    while (other !== undefined && isDamaged(other)) other = this.#hidden.get(other);
    return other ?? -1;
  }

  bringBack(row: number, instead: number): void {
    this.#last.set(row, this.lastOf(instead));
  }

  lastOf(row: number): number {
    return this.#last.get(row) ?? row;
  }

  save(): SavedRepetitions {
    return { hidden: pairsOf(this.#hidden), last: pairsOf(this.#last) };
  }

  restore({ hidden, last }: SavedRepetitions): void {
    for (let at = 0; at + 1 < hidden.length; at += 2) {
      this.#hidden.set(hidden[at] ?? 0, hidden[at + 1] ?? 0);
    }
    for (let at = 0; at + 1 < last.length; at += 2)
      this.#last.set(last[at] ?? 0, last[at + 1] ?? 0);
  }
}

function pairsOf(map: ReadonlyMap<number, number>): Int32Array {
  return Int32Array.from([...map].flat());
}

/** Pairs, one number after the other. */
export interface SavedRepetitions {
  /** A row, and the earlier one that it hides. */
  readonly hidden: Int32Array;
  /** A row, and the last one of its id. */
  readonly last: Int32Array;
}
