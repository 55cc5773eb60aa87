/**
 * Finds entries that are their own ancestors. Every way up through the tree is walked once, so it
 * is linear, iterative, and ends on every input. Damaged rows are passed through, as everywhere.
 */
import type { IndexTable } from "./index-table.ts";
import { nodeAboveFinder } from "./tree-walk.ts";

/** Entries of which each is the parent of the next, and the last of the first. */
export interface Cycle {
  /** The first of its rows, in file order. */
  readonly row: number;
  /** How many entries it consists of; 1: an entry is its own parent. */
  readonly size: number;
}

/** What of a tree never comes to a root. */
export interface CycleFacts {
  /** All cycles, in the file order of their first rows. */
  readonly cycles: readonly Cycle[];
  /** How many nodes are on a cycle or below one: their way up leads into it, and not out. */
  readonly caughtCount: number;
}

/** Finds the cycles of a tree. O(rows). */
export function findCycles(index: IndexTable): CycleFacts {
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
    // The walk met itself: what lies between is a cycle, entered here for the first time.
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
