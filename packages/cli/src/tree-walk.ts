/**
 * The tree of a session as arrays in preorder: parents before children, children in file order. The
 * subtree of a node is the run of nodes that starts with it. Iterative and finite on every tree:
 * chains of a million, cycles. Holds no envelope and no body.
 */
import type { TreeView } from "@branchlog/core";

/** A tree in preorder; nodes are numbers from 0. */
export interface TreeOrder {
  readonly ids: readonly string[];
  /** The types of the entries. */
  readonly types: readonly string[];
  /** -1 for roots. */
  readonly parents: Int32Array;
  /** Nodes in the subtree of a node, itself included. */
  readonly sizes: Int32Array;
}

/** Puts the nodes of a tree in preorder. O(nodes). */
export function treeOrder(view: TreeView): TreeOrder {
  const ids: string[] = [];
  const types: string[] = [];
  const parents: number[] = [];
  for (const { id, parent } of walkTree(view)) {
    ids.push(id);
    types.push(view.node(id)?.type ?? "");
    parents.push(parent);
  }
  return { ids, types, parents: Int32Array.from(parents), sizes: sizesOf(parents) };
}

/** The children of a node, or the roots for -1, in file order. */
export function* childrenOf(order: TreeOrder, node: number): Generator<number> {
  const end = node < 0 ? order.ids.length : node + (order.sizes[node] ?? 0);
  for (let child = node + 1; child < end; child += order.sizes[child] ?? 1) yield child;
}

/** A node in the order of the walk. */
export interface WalkedNode {
  readonly id: string;
  /** Place of its parent in the walk; -1 for roots. */
  readonly parent: number;
  readonly children: readonly string[];
}

/** The nodes of a tree in preorder, lazily. */
export function* walkTree(view: TreeView): Generator<WalkedNode> {
  const roots = new Set(view.roots);
  const ids = view.roots.toReversed();
  const parents = ids.map(() => -1);
  let place = 0;
  for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
    const children = withoutRoots(view.children(id), roots);
    yield { id, parent: parents.pop() ?? -1, children };
    for (let i = children.length - 1; i >= 0; i -= 1) {
      ids.push(children[i] ?? id);
      parents.push(place);
    }
    place += 1;
  }
}

/** A cycle is entered at one of its members, which counts as a root, not as a child. */
function withoutRoots(ids: readonly string[], roots: ReadonlySet<string>): readonly string[] {
  return ids.some((id) => roots.has(id)) ? ids.filter((id) => !roots.has(id)) : ids;
}

function sizesOf(parents: readonly number[]): Int32Array {
  const sizes = new Int32Array(parents.length).fill(1);
  for (let node = parents.length - 1; node > 0; node -= 1) {
    const parent = parents[node] ?? -1;
    if (parent >= 0) sizes[parent] = (sizes[parent] ?? 0) + (sizes[node] ?? 0);
  }
  return sizes;
}
