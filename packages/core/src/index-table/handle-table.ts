/**
 * What is known of each id handle, and of the root, which is handle -1: the row that holds the id,
 * and the list of those that name it as their parent. Rows are kept as row + 1, so that a new
 * column, which is all zeros, needs no filling.
 */
import { grownCapacity, grownInt32 } from "./column.ts";
import { rowFlags } from "./row-table.ts";
import type { RowTable, SavedRows } from "./row-table.ts";

/** What follows from the order of rows, and from which of them are damaged. */
const derivedFlags = rowFlags.damaged | rowFlags.shadowed;

/** See the file comment. */
export class HandleTable {
  #rowOf: Int32Array = new Int32Array(16);
  #firstChild: Int32Array = new Int32Array(16);
  #lastChild: Int32Array = new Int32Array(16);
  /** Children that are shown: neither shadowed nor damaged without shown children. */
  #shownChildren: Int32Array = new Int32Array(16);

  /** Bytes held by the columns, for reports. */
  get bytes(): number {
    return this.#rowOf.byteLength * 4;
  }

  /** The row that holds the id, or -1. */
  rowOf(handle: number): number {
    return (this.#rowOf[handle + 1] ?? 0) - 1;
  }

  setRow(handle: number, row: number): void {
    this.#rowOf[handle + 1] = row + 1;
  }

  /** The first row that names the id as its parent, or -1. */
  firstChild(handle: number): number {
    return (this.#firstChild[handle + 1] ?? 0) - 1;
  }

  /** How many of these are shown. */
  shownChildren(handle: number): number {
    return this.#shownChildren[handle + 1] ?? 0;
  }

  /** Counts shown children up or down, and returns how many there are then. */
  show(handle: number, more: number): number {
    return (this.#shownChildren[handle + 1] = this.shownChildren(handle) + more);
  }

  /** Puts a row behind the other children of a handle. */
  linkLast(rows: RowTable, handle: number, row: number): void {
    const last = (this.#lastChild[handle + 1] ?? 0) - 1;
    if (last < 0) this.#firstChild[handle + 1] = row + 1;
    else rows.setNextSibling(last, row);
    this.#lastChild[handle + 1] = row + 1;
  }

  /**
   * Links rows in file order that nothing is known of, as if none were damaged or hidden; those
   * with an id that an earlier one has are left to `linkRepeated`. Returns the damaged ones. In one
   * loop over bare columns: a log of a million entries is opened with it.
   */
  linkAll(saved: SavedRows, rows: RowTable, linkRepeated: (row: number) => void): number[] {
    const { count, handle, parentHandle, flags } = saved;
    const [rowOf, firstChild] = [this.#rowOf, this.#firstChild];
    const [lastChild, shownChildren] = [this.#lastChild, this.#shownChildren];
    const damaged: number[] = [];
    for (let row = 0; row < count; row += 1) {
      const marks = flags[row] ?? 0;
      if ((marks & derivedFlags) !== 0) {
        if ((marks & rowFlags.damaged) !== 0) damaged.push(row);
        flags[row] = marks & ~derivedFlags;
      }
      const at = (handle[row] ?? 0) + 1;
      if (rowOf[at] !== 0) {
        linkRepeated(row);
        continue;
      }
      rowOf[at] = row + 1;
      const parentAt = (parentHandle[row] ?? 0) + 1;
      const under = parentAt <= 0 || parentAt === at ? 0 : parentAt;
      const last = lastChild[under] ?? 0;
      if (last === 0) firstChild[under] = row + 1;
      else rows.setNextSibling(last - 1, row);
      lastChild[under] = row + 1;
      if (under > 0) shownChildren[under] = (shownChildren[under] ?? 0) + 1;
    }
    return damaged;
  }

  /** Makes room for so many handles, and more if that is not enough. */
  growFor(handles: number): void {
    const { length } = this.#rowOf;
    if (handles + 1 > length) this.reserve(grownCapacity(length, handles + 1));
  }

  /** Makes room for so many elements at once. */
  reserve(capacity: number): void {
    if (capacity <= this.#rowOf.length) return;
    this.#rowOf = grownInt32(this.#rowOf, capacity, 0);
    this.#firstChild = grownInt32(this.#firstChild, capacity, 0);
    this.#lastChild = grownInt32(this.#lastChild, capacity, 0);
    this.#shownChildren = grownInt32(this.#shownChildren, capacity, 0);
  }
}
