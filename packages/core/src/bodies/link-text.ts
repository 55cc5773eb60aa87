/** Texts of the ids and parent ids of rows, made once for the rows of a chain. */
import type { IndexTable } from "../index-table/index-table.ts";

/** Asked for one row after the other: in a chain, a parent's id is the text made last. */
export class LinkText {
  readonly #index: IndexTable;
  #lastSlot = -1;
  #lastId = "";

  constructor(index: IndexTable) {
    this.#index = index;
  }

  /** The id of a row. */
  idOf(row: number): string {
    this.#lastSlot = this.#index.rows.slot(row);
    this.#lastId = this.#index.ids.idAt(this.#lastSlot);
    return this.#lastId;
  }

  /** The id of a row's parent, or null. */
  parentIdOf(row: number): string | null {
    const slot = this.#index.rows.parentSlot(row);
    if (slot < 0) return null;
    return slot === this.#lastSlot ? this.#lastId : this.#index.ids.idAt(slot);
  }
}
