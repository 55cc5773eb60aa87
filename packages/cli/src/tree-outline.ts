/**
 * The outline of a tree: which nodes have a line of their own, and their indentation. Runs of
 * unremarkable nodes are one line. At a branch point the branch of the leaf, or else the largest,
 * continues at the same indentation, and the others are indented before it; so the indentation
 * grows with the logarithm of the nodes for every tree. Pure, iterative.
 */
import type { TreeView } from "@branchlog/core";

/** `isBranch`: a side branch starts. */
export type OutlineRow = { readonly level: number; readonly isBranch: boolean } & (
  | { readonly kind: "node"; readonly node: number; readonly branches: number }
  | { readonly kind: "run"; readonly nodes: number }
  | { readonly kind: "hidden"; readonly branches: number; readonly nodes: number }
);

export interface OutlineOptions {
  /** Whether a node gets a line although it neither starts, ends nor splits a branch. */
  readonly isNotable: (node: number) => boolean;
  /** The node whose branch keeps the indentation; -1 for none. */
  readonly leaf: number;
  /** Deeper branches are counted, not shown. */
  readonly levelMax: number;
}

/** Lazily, top to bottom. O(nodes). */
export function* outline(order: TreeOrder, options: OutlineOptions): Generator<OutlineRow> {
  const onLeafPath = pathOf(order, options.leaf);
  // Rows to yield, the next one last.
  const open: Chain[] = [];
  pushChains(open, [...childrenOf(order, -1)], 0, false);
  for (let chain = open.pop(); chain !== undefined; chain = open.pop()) {
    const { level } = chain;
    if (chain.kind === "hidden") {
      yield { kind: "hidden", level, isBranch: true, branches: chain.branches, nodes: chain.nodes };
      continue;
    }
    const children = yield* chainRows(order, options, chain);
    if (children.length < 2) continue;
    const main = mainChild(order, children, onLeafPath);
    pushChains(open, [main], level, false);
    const sides = children.filter((child) => child !== main);
    if (level < options.levelMax) pushChains(open, sides, level + 1, true);
    else open.push({ kind: "hidden", level: level + 1, ...countOf(order, sides) });
  }
}

type Chain =
  | { readonly kind: "shown"; readonly start: number; readonly level: number; isBranch: boolean }
  | {
      readonly kind: "hidden";
      readonly level: number;
      readonly branches: number;
      readonly nodes: number;
    };

/** Up to the end of the chain or the next branch point; returns the children there. */
function* chainRows(
  order: TreeOrder,
  options: OutlineOptions,
  { start, level, isBranch }: Chain & { kind: "shown" },
): Generator<OutlineRow, readonly number[]> {
  let skipped = 0;
  let last = start;
  for (let node = start; ;) {
    const children = [...childrenOf(order, node)];
    const [only] = children;
    const isPlain = children.length === 1 && node !== start && node !== options.leaf;
    if (isPlain && !options.isNotable(node)) skipped += 1;
    else {
      // A count would take as much room.
      if (skipped === 1) yield { kind: "node", level, isBranch: false, node: last, branches: 1 };
      if (skipped > 1) yield { kind: "run", level, isBranch: false, nodes: skipped };
      skipped = 0;
      const branches = children.length;
      yield { kind: "node", level, isBranch: isBranch && node === start, node, branches };
    }
    if (only === undefined || children.length > 1) return children;
    last = node;
    node = only;
  }
}

function pushChains(
  open: Chain[],
  starts: readonly number[],
  level: number,
  isBranch: boolean,
): void {
  for (let i = starts.length - 1; i >= 0; i -= 1) {
    const start = starts[i];
    if (start !== undefined) open.push({ kind: "shown", start, level, isBranch });
  }
}

/** On the path to the leaf, or else of the largest subtree, the last of equals. */
function mainChild(order: TreeOrder, children: readonly number[], onLeafPath: Uint8Array): number {
  let main = -1;
  for (const child of children) {
    if (onLeafPath[child] === 1) return child;
    if (main < 0 || (order.sizes[child] ?? 0) >= (order.sizes[main] ?? 0)) main = child;
  }
  return main;
}

function pathOf(order: TreeOrder, leaf: number): Uint8Array {
  const path = new Uint8Array(order.ids.length);
  for (let node = leaf; node >= 0; node = order.parents[node] ?? -1) path[node] = 1;
  return path;
}

function countOf(
  order: TreeOrder,
  nodes: readonly number[],
): { readonly branches: number; readonly nodes: number } {
  const sizes = nodes.map((node) => order.sizes[node] ?? 0);
  return { branches: nodes.length, nodes: sizes.reduce((sum, size) => sum + size, 0) };
}

/** A tree in preorder; nodes are numbers from 0. */
export interface TreeOrder {
  readonly ids: readonly string[];
  readonly types: readonly string[];
  /** -1 for roots. */
  readonly parents: Int32Array;
  /** Of the subtree, with the node itself. */
  readonly sizes: Int32Array;
}

/** O(nodes). */
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

/** In file order; the roots for -1. */
export function* childrenOf(order: TreeOrder, node: number): Generator<number> {
  const end = node < 0 ? order.ids.length : node + (order.sizes[node] ?? 0);
  for (let child = node + 1; child < end; child += order.sizes[child] ?? 1) yield child;
}

export interface WalkedNode {
  readonly id: string;
  /** In the walk; -1 for roots. */
  readonly parent: number;
  readonly children: readonly string[];
}

/** In preorder, lazily. */
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
