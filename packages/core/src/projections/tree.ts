/**
 * The tree of a log by its index; no body is read. Orphans and one member of each cycle count as
 * roots, so that every node can be reached from a root. Linear, and ends on every input.
 */
import { requireEntryId } from "../entries/identifiers.ts";
import { childrenOfHandle, findCycles, rootRows } from "../index-table/tree-walk.ts";
import { rootHandle } from "../index-table/row-table.ts";
import type { IndexTable } from "../index-table/index-table.ts";
import type { Kind } from "../index-table/row-table.ts";

/** The facts of an entry in the index. */
export interface Envelope {
  readonly id: string;
  /** As stored, whether or not such an entry exists. */
  readonly parentId: string | null;
  readonly type: string;
  readonly role?: string;
  readonly customType?: string;
  /** Epoch milliseconds of the entry's timestamp; NaN if unreadable. */
  readonly time: number;
  /** 1-based ordinal of the entry in its generation. */
  readonly revision: number;
}

/** How many nodes of a tree are of one kind. */
export interface KindCount extends Pick<Envelope, "type" | "role" | "customType"> {
  readonly count: number;
}

/**
 * The tree as it was when the view was made; later entries do not appear in it, but one that
 * repeats an id removes the earlier entry from it.
 */
export interface TreeView {
  /** In file order. */
  readonly roots: readonly string[];
  readonly size: number;
  /** The number of nodes of each kind, in order of first appearance. O(nodes). */
  kinds(): readonly KindCount[];
  /** Ids in file order. O(children). */
  children(id: string): readonly string[];
  /** Undefined if the tree has no such node. */
  node(id: string): Envelope | undefined;
}

export function envelopeOf(index: IndexTable, row: number): Envelope {
  return {
    id: index.idOf(row),
    parentId: index.parentIdOf(row),
    ...shownKind(index.kindOf(row)),
    time: index.rows.time(row),
    revision: row + 1,
  };
}

function shownKind({ type, role, customType }: Kind): Omit<KindCount, "count"> {
  return {
    type,
    ...(role === undefined || type !== "message" ? {} : { role }),
    ...(customType === undefined ? {} : { customType }),
  };
}

/** Of the first rows. */
function kindCounts(index: IndexTable, limit: number): KindCount[] {
  const counts = new Map<number, number>();
  for (let row = 0; row < limit; row += 1) {
    const kind = index.rows.kind(row);
    if (index.isNode(row)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return [...counts].map(([kind, count]) => ({ ...shownKind(index.kinds.at(kind)), count }));
}

/** Making it costs O(rows), or O(roots) where every path has one; queries cost what they return. */
export function treeView(index: IndexTable): TreeView {
  return { roots: startRows(index).map((row) => index.idOf(row)), ...treeNodes(index) };
}

/** The rows from which every node is reached, in file order. O(rows). */
export function startRows(index: IndexTable): number[] {
  return [...rootRows(index), ...cycleRows(index)].toSorted((a, b) => a - b);
}

/** Without roots. Making it costs nothing. */
export function treeNodes(index: IndexTable): Omit<TreeView, "roots"> {
  const limit = index.count;
  const rowOf = (id: string): number => {
    const row = index.rowOfId(requireEntryId(id));
    return row < limit && row >= 0 && index.isNode(row) ? row : -1;
  };
  return {
    size: limit - index.shadowedCount - index.damagedCount,
    kinds: () => kindCounts(index, limit),
    children: (id) => {
      const row = rowOf(id);
      if (row < 0) return [];
      const children = childrenOfHandle(index, index.rows.handle(row));
      return children.filter((child) => child < limit).map((child) => index.idOf(child));
    },
    node: (id) => {
      const row = rowOf(id);
      return row < 0 ? undefined : envelopeOf(index, row);
    },
  };
}

/** Of an entry, or of the roots proper for null, in file order. */
export function childRows(index: IndexTable, id: string | null): readonly number[] {
  if (id === null) return childrenOfHandle(index, rootHandle);
  const row = index.rowOfId(id);
  return row < 0 || !index.isNode(row) ? [] : childrenOfHandle(index, index.rows.handle(row));
}

/**
 * The first row of each cycle of parents, in file order. An entry that is its own parent is a root
 * here, not a cycle. O(rows).
 */
export function cycleRows(index: IndexTable): number[] {
  return findCycles(index)
    .cycles.filter(({ size }) => size > 1)
    .map(({ row }) => row);
}
