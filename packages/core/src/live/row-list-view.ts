/** A list with an element for each of some rows, made when somebody looks at it. */
import type { ListView } from "./list-view.ts";
import type { RowSet } from "./tree-shape.ts";

/** See the file comment. Keeps the elements once they were made. */
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
