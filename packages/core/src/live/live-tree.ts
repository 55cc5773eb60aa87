/**
 * The tree and its tips as they are emitted: views that do not grow, made from the changes. A view
 * knows nodes by their rows, so it needs no copy of the index.
 */
import type { IndexTable } from "../index-table/index-table.ts";
import { isTip, parentOfRow, tipRows } from "../index-table/tree-walk.ts";
import { envelopeOf, startRows, treeNodes } from "../projections/tree.ts";
import type { Envelope, TreeView } from "../projections/tree.ts";
import { IntMap } from "./int-map.ts";
import { RowListView } from "./list-view.ts";
import type { ListView } from "./list-view.ts";

/**
 * The tree as it was when it was emitted; as {@link TreeView}, but for the lists. Later entries are
 * not in it. A repeated id, or damage that is found, shows in nodes that are in it; the tree that
 * is emitted then has `changed: null`.
 */
export interface LiveTree extends Omit<TreeView, "roots"> {
  /** Ids of the nodes to start from, in file order. */
  readonly roots: ListView<string>;
  /** Ids of nodes that are new, or have other children, since the previous tree; null: any. */
  readonly changed: readonly string[] | null;
}

/** O(changed). */
function liveTree(index: IndexTable, roots: RowSet, { rows }: ShapeChange): LiveTree {
  return {
    roots: new RowListView(roots, (row) => index.idOf(row)),
    changed: rows === null ? null : rows.map((row) => index.idOf(row)),
    ...treeNodes(index),
  };
}

function liveTips(index: IndexTable, tips: RowSet): ListView<Envelope> {
  return new RowListView(tips, (row) => envelopeOf(index, row));
}

/** Rows remembered for a tree that is not read; beyond, any may have changed. */
const changedRowsMax = 10_000;

/** The views of one tree, shared by all subscribers, and replaced only when it has changed. */
export class TreeViews {
  readonly #index: () => IndexTable;
  readonly #shape = new TreeShape();
  /** Rows that changed since the last tree; null: any. */
  #changed: number[] | null = null;
  #treeOf: { readonly index: IndexTable; readonly view: LiveTree } | undefined;
  #tipsOf: { readonly tips: RowSet; readonly view: ListView<Envelope> } | undefined;

  constructor(index: () => IndexTable) {
    this.#index = index;
  }

  /** The same view as before if nothing changed. O(changed). */
  tree(): LiveTree {
    const index = this.#advanced();
    const known = this.#treeOf;
    const isSame = known?.index === index && this.#changed?.length === 0;
    if (known !== undefined && isSame) return known.view;
    const rows = this.#changed === null ? null : [...new Set(this.#changed)];
    const view = liveTree(index, this.#shape.roots, { rows });
    this.#treeOf = { index, view };
    this.#changed = [];
    return view;
  }

  /** The same view as before if the tips are the same. O(changed). */
  tips(): ListView<Envelope> {
    const index = this.#advanced();
    const { tips } = this.#shape;
    if (this.#tipsOf?.tips !== tips) this.#tipsOf = { tips, view: liveTips(index, tips) };
    return this.#tipsOf.view;
  }

  #advanced(): IndexTable {
    const index = this.#index();
    const { rows } = this.#shape.advance(index);
    const known = this.#changed;
    const isKnown = rows !== null && known !== null && known.length < changedRowsMax;
    this.#changed = isKnown ? known : null;
    if (isKnown) for (const row of rows) known.push(row);
    return index;
  }
}

/** Ascending. */
export type RowSet = IntMap<true>;

interface ShapeChange {
  /** Rows whose node or children changed; null: any. */
  readonly rows: readonly number[] | null;
}

/**
 * The roots and tips of a tree, kept up to date as rows are added, at the cost of what is new. They
 * are recomputed after other changes: a parent that came late, a repeated id, damage. Always equal
 * to what the index answers.
 */
class TreeShape {
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

  /** The parent of a new row is no longer a tip, nor is the nearest node above a damaged parent. */
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
