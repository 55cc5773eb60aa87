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
import type { ListView, RowSet } from "./list-view.ts";

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

/** Rows remembered for a tree that is not read; beyond, any may have changed. */
const changedRowsMax = 10_000;

/**
 * The views of one tree, shared by all subscribers, and replaced only when it has changed. Roots
 * and tips are kept up to date as rows are added, at the cost of what is new, and recomputed after
 * other changes: a parent that came late, a repeated id, damage.
 */
export class TreeViews {
  readonly #currentIndex: () => IndexTable;
  #index: IndexTable | undefined;
  #structureVersion = 0;
  #rowCount = 0;
  #roots: RowSet = IntMap.empty();
  #tips: RowSet = IntMap.empty();
  /** Rows whose node or children changed since the last tree; null: any. */
  #changed: number[] | null = null;
  #treeOf: { readonly index: IndexTable; readonly view: LiveTree } | undefined;
  #tipsOf: { readonly tips: RowSet; readonly view: ListView<Envelope> } | undefined;

  constructor(currentIndex: () => IndexTable) {
    this.#currentIndex = currentIndex;
  }

  /** The same view as before if nothing changed. O(changed). */
  tree(): LiveTree {
    const index = this.#advance();
    const known = this.#treeOf;
    const changed = this.#changed;
    if (known?.index === index && changed?.length === 0) return known.view;
    const view = {
      roots: new RowListView(this.#roots, (row) => index.idOf(row)),
      changed: changed === null ? null : Array.from(new Set(changed), (row) => index.idOf(row)),
      ...treeNodes(index),
    };
    this.#treeOf = { index, view };
    this.#changed = [];
    return view;
  }

  /** The same view as before if the tips are the same. O(changed). */
  tips(): ListView<Envelope> {
    const index = this.#advance();
    const tips = this.#tips;
    if (this.#tipsOf?.tips !== tips) {
      this.#tipsOf = { tips, view: new RowListView(tips, (row) => envelopeOf(index, row)) };
    }
    return this.#tipsOf.view;
  }

  #advance(): IndexTable {
    const index = this.#currentIndex();
    if (index !== this.#index || index.structureVersion !== this.#structureVersion) {
      this.#rebuild(index);
      return index;
    }
    if ((this.#changed?.length ?? 0) >= changedRowsMax) this.#changed = null;
    const first = this.#rowCount;
    this.#rowCount = index.count;
    for (let row = first; row < index.count; row += 1) {
      const parent = parentOfRow(index, row);
      if (parent < 0) this.#roots = this.#roots.with(row, true);
      else if (parent < first) this.#changed?.push(parent);
      if (isTip(index, row)) this.#tips = this.#tips.with(row, true);
      // No longer a tip; nor is the nearest node above a damaged parent.
      if (parent >= 0 && !isTip(index, parent)) this.#tips = this.#tips.without(parent);
      this.#changed?.push(row);
    }
    return index;
  }

  #rebuild(index: IndexTable): void {
    this.#index = index;
    this.#structureVersion = index.structureVersion;
    this.#rowCount = index.count;
    this.#roots = IntMap.fill(startRows(index), true);
    this.#tips = IntMap.fill(tipRows(index), true);
    this.#changed = null;
  }
}
