/**
 * The tree and its tips as they are emitted: views that do not grow, made from what has changed. A
 * view of the tree knows nodes by their rows, so it needs no copy of the index.
 */
import type { IndexTable } from "../index-table/index-table.ts";
import { envelopeOf, treeNodes } from "../projections/tree.ts";
import type { Envelope, TreeView } from "../projections/tree.ts";
import type { ListView } from "./list-view.ts";
import { RowListView } from "./row-list-view.ts";
import type { RowSet, ShapeChange } from "./tree-shape.ts";

/**
 * The tree as it was when it was emitted; as {@link TreeView}, but for the lists. Entries that come
 * later are not in it. What changes entries that are in it (a repeated id, damage that is found)
 * shows in their nodes and children; the tree that is emitted then has `changed: null`.
 */
export interface LiveTree extends Omit<TreeView, "roots"> {
  /** Ids of the nodes to start from, in file order. */
  readonly roots: ListView<string>;
  /**
   * Ids of nodes that are new, or have other children, since the tree that was emitted before;
   * null: any may be another.
   */
  readonly changed: readonly string[] | null;
}

/** A view of the tree of an index as it is now. Making it costs O(changed). */
export function liveTree(index: IndexTable, roots: RowSet, { rows }: ShapeChange): LiveTree {
  return {
    roots: new RowListView(roots, (row) => index.idOf(row)),
    changed: rows === null ? null : rows.map((row) => index.idOf(row)),
    ...treeNodes(index),
  };
}

/** The tips, in file order. */
export function liveTips(index: IndexTable, tips: RowSet): ListView<Envelope> {
  return new RowListView(tips, (row) => envelopeOf(index, row));
}
