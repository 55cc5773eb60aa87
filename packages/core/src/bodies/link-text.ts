/** Texts of the ids and parent ids of rows, made once for the rows of a chain. */
import type { IndexTable } from "../index-table/index-table.ts";

/** Asked for one row after the other: in a chain, a parent's id is the text made last. */
export class LinkText {
  readonly #index: IndexTable;
  #lastHandle = -1;
  #lastId = "";

  constructor(index: IndexTable) {
    this.#index = index;
  }

  /** The id of a row. */
  idOf(row: number): string {
    this.#lastHandle = this.#index.rows.handle(row);
    this.#lastId = this.#index.ids.idAt(this.#lastHandle);
    return this.#lastId;
  }

  /** The id of a row's parent, or null. */
  parentIdOf(row: number): string | null {
    const handle = this.#index.rows.parentHandle(row);
    if (handle < 0) return null;
    return handle === this.#lastHandle ? this.#lastId : this.#index.ids.idAt(handle);
  }
}
