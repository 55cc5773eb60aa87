/**
 * Walks over the tree of an index. Iterative, linear and finite on every input: cycles,
 * self-parents, missing parents, chains of any depth. Damaged rows are passed through: their
 * children count as children of the next readable one.
 */
import { rootHandle, rowFlags } from "./row-table.ts";
import type { IndexTable } from "./index-table.ts";

export interface RowPath {
  readonly rows: Int32Array;
  readonly missingParentId: string | null;
  readonly cyclic: boolean;
}

/** With `bridgeGaps`, a missing parent is taken to be the entry before, in file order. O(path). */
export function pathToRow(index: IndexTable, row: number, bridgeGaps = false): RowPath {
  const limit = index.count;
  const rowAbove = climber(index, bridgeGaps);
  let missingParentId: string | null = null;
  let length = 0;
  let at = row;
  for (let steps = 0; at >= 0 && steps <= limit; steps += 1) {
    if (!index.rows.is(at, rowFlags.damaged)) length += 1;
    const above = rowAbove(at);
    if (above < 0 || bridgeGaps) missingParentId = missingParent(index, at) ?? missingParentId;
    at = above;
  }
  if (at >= 0) return cyclicPath(index, row, rowAbove);
  // A second walk costs less than growing and reversing a list of a million rows.
  const rows = new Int32Array(length);
  for (at = row; at >= 0; at = rowAbove(at)) {
    if (!index.rows.is(at, rowFlags.damaged)) rows[(length -= 1)] = at;
  }
  return { rows, missingParentId, cyclic: false };
}

/** Null unless the parent of the row is missing. */
function missingParent(index: IndexTable, row: number): string | null {
  const parent = index.rows.parentHandle(row);
  return parent >= 0 && index.rowOfHandle(parent) < 0 ? index.ids.idAt(parent) : null;
}

/** O(steps to the entry), or O(path). */
export function isOnPath(index: IndexTable, row: number, id: string): boolean {
  const wanted = index.rowOfId(id);
  let at = row;
  for (let steps = 0; at >= 0 && steps <= index.count; steps += 1) {
    if (at === wanted) return true;
    at = index.rowOfHandle(index.rows.parentHandle(at));
  }
  return false;
}

/** The nodes among the rows `[from, to)` that are below a node; for -1, all. O(rows). */
export function rowsBelow(
  index: IndexTable,
  ancestor: number,
  from: number,
  to: number,
): readonly number[] {
  const below = new Set([ancestor]);
  const parentOf = parentFinder(index);
  const found: number[] = [];
  for (let row = from; row < to; row += 1) {
    if (!index.isNode(row) || !below.has(parentOf(row))) continue;
    below.add(row);
    found.push(row);
  }
  return found;
}

/** The row of a parent; -1 at a root, and at a gap unless that is bridged. */
function climber(index: IndexTable, bridgeGaps: boolean): (row: number) => number {
  // A walk along a cycle reaches its gaps again and again: each is searched once.
  const bridges = new Map<number, number>();
  return (row) => {
    const parent = index.rows.parentHandle(row);
    if (parent < 0) return -1;
    const above = index.rowOfHandle(parent);
    if (above >= 0 || !bridgeGaps) return above;
    const before = bridges.get(row) ?? nodeBefore(index, row);
    bridges.set(row, before);
    return before;
  };
}

function nodeBefore(index: IndexTable, row: number): number {
  let before = row - 1;
  while (before >= 0 && !index.isNode(before)) before -= 1;
  return before;
}

/** The path up to the first repeated row. Only for rows known to reach a cycle. */
function cyclicPath(index: IndexTable, row: number, rowAbove: (row: number) => number): RowPath {
  const seen = new Uint8Array(index.count);
  const walked: number[] = [];
  for (let at = row; at >= 0 && seen[at] === 0;) {
    seen[at] = 1;
    if (!index.rows.is(at, rowFlags.damaged)) walked.push(at);
    at = rowAbove(at);
  }
  return { rows: Int32Array.from(walked).reverse(), missingParentId: null, cyclic: true };
}

/** The node that a row is a child of, damaged rows skipped; -1 for a root, an orphan or a cycle. */
export function parentOfRow(index: IndexTable, row: number): number {
  return parentFinder(index)(row);
}

/** {@link parentOfRow} for many rows of an index that does not change; linear in all of them. */
export function parentFinder(index: IndexTable): (row: number) => number {
  const { rows } = index;
  const nodeAbove = nodeAboveFinder(index);
  return (row) => {
    const above = nodeAbove(row);
    return above >= 0 && rows.handle(above) === rows.handle(row) ? -1 : above;
  };
}

/**
 * The nearest node above a row: the row itself if it is its own ancestor so, -1 at a root, an
 * orphan, or a cycle of damaged rows. Linear in all rows of an index that does not change.
 */
function nodeAboveFinder(index: IndexTable): (row: number) => number {
  const { rows } = index;
  const aboveDamaged = new Map<number, number>();
  return (row) => {
    let at = index.rowOfHandle(rows.parentHandle(row));
    // Mostly nothing is damaged, and no list is made.
    if (at < 0 || !rows.is(at, rowFlags.damaged)) return at;
    const passed: number[] = [];
    while (at >= 0 && rows.is(at, rowFlags.damaged)) {
      const known = aboveDamaged.get(at);
      if (known === undefined) {
        passed.push(at);
        // If met again in this walk it is in a cycle, with no node above.
        aboveDamaged.set(at, -1);
      }
      at = known ?? index.rowOfHandle(rows.parentHandle(at));
    }
    for (const damaged of passed) aboveDamaged.set(damaged, at);
    return at;
  };
}

/** In file order, whether or not the log has the parent; null: the roots proper. O(children). */
export function childrenOfId(index: IndexTable, parentId: string | null): number[] {
  const handle = parentId === null ? rootHandle : index.ids.find(parentId);
  return handle === -1 ? [] : childrenOfHandle(index, handle);
}

/** In file order. O(children). */
export function childrenOfHandle(index: IndexTable, handle: number): number[] {
  const children: number[] = [];
  const damaged: number[] = [];
  collectChildren(index, handle, children, damaged);
  if (damaged.length === 0) return children;
  const passed = new Set(damaged);
  for (const row of passed) {
    const below: number[] = [];
    collectChildren(index, index.rows.handle(row), children, below);
    for (const next of below) passed.add(next);
  }
  // Through damage an entry may be its own ancestor, which does not make it its own child.
  return children.filter((row) => index.rows.handle(row) !== handle).sort((a, b) => a - b);
}

/** O(rows), or O(roots) where every path has one. */
export function rootRows(index: IndexTable): number[] {
  if (index.isOrdered && index.damagedCount === 0) return childrenOfHandle(index, rootHandle);
  const roots: number[] = [];
  const parentOf = parentFinder(index);
  for (let row = 0; row < index.count; row += 1) {
    if (index.isNode(row) && parentOf(row) < 0) roots.push(row);
  }
  return roots;
}

/** The nodes whose parent the log does not hold, in file order. O(rows), or O(1) without any. */
export function orphanRows(index: IndexTable): number[] {
  if (index.isOrdered) return [];
  const orphans: number[] = [];
  for (let row = 0; row < index.count; row += 1) {
    const parent = index.rows.parentHandle(row);
    if (parent >= 0 && index.isNode(row) && index.rowOfHandle(parent) < 0) orphans.push(row);
  }
  return orphans;
}

/** O(1), or O(damaged children). */
export function isTip(index: IndexTable, row: number): boolean {
  if (!index.isNode(row)) return false;
  return !index.hasChildren(row) || (index.damagedCount > 0 && !hasOthersBelow(index, row));
}

function hasOthersBelow(index: IndexTable, row: number): boolean {
  const { rows } = index;
  const own = rows.handle(row);
  const handles = new Set([own]);
  for (const handle of handles) {
    for (let child = index.firstChildOf(handle); child >= 0; child = rows.nextSibling(child)) {
      if (rows.is(child, rowFlags.shadowed)) continue;
      if (rows.is(child, rowFlags.damaged)) handles.add(rows.handle(child));
      else if (rows.handle(child) !== own) return true;
    }
  }
  return false;
}

/** In file order. O(rows). */
export function tipRows(index: IndexTable): number[] {
  const tips: number[] = [];
  for (let row = 0; row < index.count; row += 1) {
    if (isTip(index, row)) tips.push(row);
  }
  return tips;
}

/** The last readable row, or -1. A damaged end is walked once, even while it grows. */
export function tailRow(index: IndexTable): number {
  const last = index.count - 1;
  const known = damagedEnds.get(index);
  let row = last;
  while (row >= 0 && index.rows.is(row, rowFlags.damaged)) {
    const isKnown = known !== undefined && row >= known.first && row <= known.last;
    row = isKnown ? known.first - 1 : row - 1;
  }
  if (row < last) damagedEnds.set(index, { first: row + 1, last });
  return row;
}

/** Damage does not heal, so that the last result stays true. */
const damagedEnds = new WeakMap<IndexTable, { readonly first: number; readonly last: number }>();

function collectChildren(
  index: IndexTable,
  handle: number,
  nodes: number[],
  damaged: number[],
): void {
  for (let row = index.firstChildOf(handle); row >= 0; row = index.rows.nextSibling(row)) {
    if (index.rows.is(row, rowFlags.shadowed)) continue;
    if (index.rows.is(row, rowFlags.damaged)) damaged.push(row);
    else if (handle !== rootHandle || index.rows.parentHandle(row) < 0) nodes.push(row);
  }
}

interface Cycle {
  readonly row: number;
  readonly size: number;
}

interface CycleFacts {
  readonly cycles: readonly Cycle[];
  readonly caughtCount: number;
}

/** Damaged rows are passed through. O(rows), or O(1) where every path has a root. */
export function findCycles(index: IndexTable): CycleFacts {
  if (index.isOrdered) return { cycles: [], caughtCount: 0 };
  const { count } = index;
  const unseen = 0;
  const walkOf = new Int32Array(count);
  const isCaught = new Uint8Array(count);
  const nodeAbove = nodeAboveFinder(index);
  const cycles: Cycle[] = [];
  let caughtCount = 0;
  for (let start = 0; start < count; start += 1) {
    if (walkOf[start] !== unseen || !index.isNode(start)) continue;
    const walk = start + 1;
    let at = start;
    while (at >= 0 && walkOf[at] === unseen) {
      walkOf[at] = walk;
      at = nodeAbove(at);
    }
    const isNew = at >= 0 && walkOf[at] === walk;
    if (isNew) cycles.push(cycleThrough(at, nodeAbove));
    else if (at < 0 || isCaught[at] === 0) continue;
    for (let row = start; isCaught[row] === 0; row = nodeAbove(row)) {
      isCaught[row] = 1;
      caughtCount += 1;
    }
  }
  return { cycles: cycles.sort((one, other) => one.row - other.row), caughtCount };
}

function cycleThrough(member: number, nodeAbove: (row: number) => number): Cycle {
  let first = member;
  let size = 1;
  for (let at = nodeAbove(member); at !== member; at = nodeAbove(at)) {
    first = Math.min(first, at);
    size += 1;
  }
  return { row: first, size };
}
