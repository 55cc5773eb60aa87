/** The views of one tree, made anew only when it has changed, and shared by all who watch it. */
import type { IndexTable } from "../index-table/index-table.ts";
import type { Envelope } from "../projections/tree.ts";
import type { ListView } from "./list-view.ts";
import { liveTips, liveTree } from "./live-tree.ts";
import type { LiveTree } from "./live-tree.ts";
import { TreeShape } from "./tree-shape.ts";
import type { RowSet } from "./tree-shape.ts";

/** Rows that are remembered for a tree that nobody asks for; beyond, any may have changed. */
const changedRowsMax = 10_000;

/** See the file comment. */
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

  /** The tree as it is now; the same view as before if nothing changed. O(changed). */
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

  /** The tips as they are now; the same view as before if they are the same. O(changed). */
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
