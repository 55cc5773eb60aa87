/**
 * Things kept in order while they come and go in any other. The order is total, so the same things
 * give the same list.
 */

/** See the file comment. Taking in and out is a search and a move, no sort. */
export class Ranking<T> {
  readonly #comesBefore: (one: T, other: T) => boolean;
  readonly #ranked: T[] = [];

  constructor(comesBefore: (one: T, other: T) => boolean) {
    this.#comesBefore = comesBefore;
  }

  add(item: T): void {
    this.#ranked.splice(this.#placeOf(item), 0, item);
  }

  /** Takes out what has the place of an item, which is the item itself if it was added. */
  remove(item: T): void {
    this.#ranked.splice(this.#placeOf(item), 1);
  }

  /** All of them, as an array of the caller's own. */
  items(): T[] {
    return this.#ranked.slice();
  }

  /** How many come before an item. */
  #placeOf(item: T): number {
    let low = 0;
    let high = this.#ranked.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#ranked[middle];
      if (other !== undefined && this.#comesBefore(other, item)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
