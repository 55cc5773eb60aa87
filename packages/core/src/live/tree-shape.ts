/**
 * The roots and tips of a tree, kept up to date as rows are added: what is new costs what it is,
 * not what the tree is. Where the tree changed otherwise (a parent that came late, a repeated id,
 * damage), they are found anew. Always equal to what the index answers.
 */
import type { IndexTable } from "../index-table/index-table.ts";
import { isTip, parentOfRow, tipRows } from "../index-table/tree-walk.ts";
import { startRows } from "../projections/tree.ts";
import { IntMap } from "./int-map.ts";

/** Rows, ascending. */
export type RowSet = IntMap<true>;

/** What became of a tree since it was looked at before. */
export interface ShapeChange {
  /** Rows whose node, or whose children, are not what they were; null: of any. */
  readonly rows: readonly number[] | null;
}

/** See the file comment. */
export class TreeShape {
  #index: IndexTable | undefined;
  #structureVersion = 0;
  #rowCount = 0;
  #roots: RowSet = IntMap.empty();
  #tips: RowSet = IntMap.empty();

  /** Rows of the nodes to start from. */
  get roots(): RowSet {
    return this.#roots;
  }

  /** Rows of the nodes without children. */
  get tips(): RowSet {
    return this.#tips;
  }

  /** Takes in what is new in the index. */
  advance(index: IndexTable): ShapeChange {
    if (index !== this.#index || index.structureVersion !== this.#structureVersion) {
      return this.#rebuild(index);
    }
    const rows: number[] = [];
    const first = this.#rowCount;
    this.#rowCount = index.count;
    for (let row = first; row < index.count; row += 1) {
      const parent = parentOfRow(index, row);
      if (parent < 0) this.#roots = this.#roots.with(row, true);
      else if (parent < first) rows.push(parent);
      if (isTip(index, row)) this.#tips = this.#tips.with(row, true);
      this.#takeTipsAbove(index, row);
      rows.push(row);
    }
    return { rows };
  }

  /** What a new row hangs from is no tip any more, nor is what a damaged one passes it on to. */
  #takeTipsAbove(index: IndexTable, row: number): void {
    const parent = parentOfRow(index, row);
    if (parent >= 0 && !isTip(index, parent)) this.#tips = this.#tips.without(parent);
  }

  #rebuild(index: IndexTable): ShapeChange {
    this.#index = index;
    this.#structureVersion = index.structureVersion;
    this.#rowCount = index.count;
    this.#roots = IntMap.fill(startRows(index), true);
    this.#tips = IntMap.fill(tipRows(index), true);
    return { rows: null };
  }
}
