/**
 * An immutable list: made without copying, it shares its elements with later versions of the list.
 */
import type { IntMap } from "./int-map.ts";

/** Ascending. */
export type RowSet = IntMap<true>;

export interface ListView<T> extends Iterable<T> {
  readonly length: number;
  /** The element at a place, from the end for negative ones; undefined outside. */
  at(place: number): T | undefined;
  /** A copy of a part, as `Array.slice` takes it. O(its length). */
  slice(from?: number, to?: number): T[];
}

/** The first elements of an append-only array. */
export class GrowingListView<T> implements ListView<T> {
  readonly length: number;
  readonly #items: readonly T[];

  constructor(items: readonly T[], length: number = items.length) {
    this.#items = items;
    this.length = length;
  }

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

/** A list with an element for each of some rows, made at the first use. */
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
