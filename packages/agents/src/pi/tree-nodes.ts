/**
 * The tree of a session as pi's nodes: children by time, labels resolved. Iterative, linear apart
 * from sorting. Every node occurs once; of a cycle, the first in the file becomes a root.
 */
import { settledEntries } from "./lazy-entry.ts";
import type { LazySource } from "./lazy-entry.ts";
import type { SessionEntry } from "@branchlog/core";
import type { IndexTable } from "@branchlog/core/rows";
import { parentFinder, findCycles } from "@branchlog/core/rows";
import type { Labels } from "@branchlog/core/types";

/** An entry in the tree, under pi's names. */
export interface SessionTreeNode {
  readonly entry: SessionEntry;
  /** By time, then in file order. */
  readonly children: SessionTreeNode[];
  readonly label?: string | undefined;
  /** As stored. */
  readonly labelTimestamp?: string | undefined;
}

const none: SessionTreeNode[] = [];

interface OpenNode {
  readonly entry: SessionEntry;
  children: SessionTreeNode[];
  label: string | undefined;
  labelTimestamp: string | undefined;
}

/** In file order: entries without a known parent, or that open a cycle. */
export function treeNodes(source: LazySource, labels: Labels): SessionTreeNode[] {
  const { index } = source;
  const nodes = openNodes(source);
  const parents = parentRows(index, nodes);
  const childrenOf = childrenByParent(index, nodes, parents);
  const roots: SessionTreeNode[] = [];
  for (let row = 0; row < nodes.length; row += 1) {
    const node = nodes[row];
    if (node === undefined) continue;
    node.children = childrenOf(row);
    if ((parents[row] ?? -1) < 0) roots.push(node);
  }
  for (const [targetId, { label, timestamp }] of labels) {
    const node = nodes[index.rowOfId(targetId)];
    if (node !== undefined) Object.assign(node, { label, labelTimestamp: timestamp });
  }
  return roots;
}

function openNodes(source: LazySource): (OpenNode | undefined)[] {
  let rows: Int32Array = new Int32Array(0);
  const entries = settledEntries(source, () => (rows = nodeRows(source.index)));
  return nodesByRow(rows, entries);
}

function nodesByRow(
  rows: Int32Array,
  entries: readonly (SessionEntry | undefined)[],
): (OpenNode | undefined)[] {
  const nodes: (OpenNode | undefined)[] = [];
  for (let i = 0; i < rows.length; i += 1) {
    while (nodes.length < (rows[i] ?? 0)) nodes.push(undefined);
    const entry = entries[i];
    nodes.push(entry && { entry, children: none, label: undefined, labelTimestamp: undefined });
  }
  return nodes;
}

function nodeRows(index: IndexTable): Int32Array {
  const rows = new Int32Array(index.count);
  let count = 0;
  for (let row = 0; row < rows.length; row += 1) if (index.isNode(row)) rows[count++] = row;
  return rows.subarray(0, count);
}

function parentRows(index: IndexTable, nodes: readonly (OpenNode | undefined)[]): Int32Array {
  const parents = new Int32Array(nodes.length).fill(-1);
  const parentOf = parentFinder(index);
  const opening = new Set(findCycles(index).cycles.map(({ row }) => row));
  for (let row = 0; row < nodes.length; row += 1) {
    if (nodes[row] === undefined || opening.has(row)) continue;
    let parent = parentOf(row);
    // An entry too large to be one object has no node: its children move up.
    while (parent >= 0 && nodes[parent] === undefined && !opening.has(parent)) {
      parent = parentOf(parent);
    }
    parents[row] = nodes[parent] === undefined ? -1 : parent;
  }
  return parents;
}

function childrenByParent(
  index: IndexTable,
  nodes: readonly (OpenNode | undefined)[],
  parents: Int32Array,
): (row: number) => SessionTreeNode[] {
  const { starts, children } = groupedByParent(nodes, parents);
  const time = (row: number): number => index.rows.time(row);
  return (row) => {
    const start = starts[row] ?? 0;
    const end = starts[row + 1] ?? start;
    if (start === end) return [];
    const only = end - start === 1 ? nodes[children[start] ?? -1] : undefined;
    if (only !== undefined) return [only];
    // Array sort is stable; unreadable times compare as equal, as in pi.
    const ordered = [...children.subarray(start, end)].sort((a, b) => time(a) - time(b));
    return ordered.flatMap((child) => nodes[child] ?? []);
  };
}

/** In file order: the children of `row` are [starts[row], starts[row + 1]). */
function groupedByParent(
  nodes: readonly unknown[],
  parents: Int32Array,
): { readonly starts: Int32Array; readonly children: Int32Array } {
  const starts = new Int32Array(nodes.length + 1);
  for (const parent of parents) {
    if (parent >= 0) starts[parent + 1] = (starts[parent + 1] ?? 0) + 1;
  }
  for (let row = 0; row < nodes.length; row += 1) {
    starts[row + 1] = (starts[row + 1] ?? 0) + (starts[row] ?? 0);
  }
  const next = starts.slice();
  const children = new Int32Array(starts[nodes.length] ?? 0);
  for (let row = 0; row < parents.length; row += 1) {
    const parent = parents[row] ?? -1;
    if (parent < 0) continue;
    const at = next[parent] ?? 0;
    children[at] = row;
    next[parent] = at + 1;
  }
  return { starts, children };
}
