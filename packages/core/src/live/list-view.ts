/**
 * A list as it was at one moment: it never changes, though others that grew out of it share its
 * elements. Made without copying; as an array, where one is needed, it is a copy.
 */
import type { RowSet } from "./live-tree.ts";

export interface ListView<T> extends Iterable<T> {
  readonly length: number;
  /** The element at a place, from the end for negative ones; undefined outside. */
  at(place: number): T | undefined;
  /** A copy of a part, as `Array.slice` takes it. O(its length). */
  slice(from?: number, to?: number): T[];
}

/** The first elements of an array that only ever grows. */
export class GrowingListView<T> implements ListView<T> {
  readonly length: number;
  readonly #items: readonly T[];

  constructor(items: readonly T[], length: number = items.length) {
    this.#items = items;
    this.length = length;
  }

  /** Whether both are the same part of the same list. */
  isSameAs(other: GrowingListView<T>): boolean {
    if (other.length !== this.length) return false;
    return other.#items === this.#items || this.length === 0;
  }

  at(place: number): T | undefined {
    const at = place < 0 ? this.length + place : place;
    return at < this.length ? this.#items[at] : undefined;
  }

  slice(from?: number, to: number = this.length): T[] {
    const end = to < 0 ? this.length + to : Math.min(to, this.length);
    const start = from !== undefined && from < 0 ? Math.max(0, this.length + from) : from;
    return this.#items.slice(start, Math.max(0, end));
  }

  *[Symbol.iterator](): Generator<T, void, undefined> {
    let left = this.length;
    for (const item of this.#items) {
      if (left === 0) return;
      left -= 1;
      yield item;
    }
  }

  toJSON(): T[] {
    return this.slice();
  }
}

// A list with an element for each of some rows, made at the first use.

/** Keeps the elements once they were made. */
export class RowListView<T> implements ListView<T> {
  readonly length: number;
  readonly #rows: RowSet;
  readonly #elementOf: (row: number) => T;
  #elements: readonly T[] | undefined;

  constructor(rows: RowSet, elementOf: (row: number) => T) {
    this.length = rows.size;
    this.#rows = rows;
    this.#elementOf = elementOf;
  }

  at(place: number): T | undefined {
    return this.#all().at(place);
  }

  slice(from?: number, to?: number): T[] {
    return this.#all().slice(from, to);
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#all()[Symbol.iterator]();
  }

  toJSON(): T[] {
    return this.slice();
  }

  #all(): readonly T[] {
    this.#elements ??= Array.from(this.#rows.entries(), ([row]) => this.#elementOf(row));
    return this.#elements;
  }
}
