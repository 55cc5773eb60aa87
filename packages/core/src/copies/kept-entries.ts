/**
 * What a compaction of omp keeps that names only the last entry that a provider replays, as pi says
 * it: by the entry that follows on the way to the compaction.
 */
import type { IndexTable } from "../index-table/index-table.ts";
import { rowFlags } from "../index-table/row-table.ts";
import { pathToRow } from "../index-table/tree-walk.ts";
import type { Engine } from "../session/engine.ts";

/** A compaction on a path, and what it says. */
export interface ReplayOnPath {
  /** The path, root first. */
  readonly rows: Int32Array;
  /** Where the compaction is on it. */
  readonly at: number;
  /** The id of the last entry that is replayed. */
  readonly replayed: string;
}

/**
 * The row behind the last one that is replayed; -1 if nothing is kept. Damaged rows are passed
 * over, as far as they are known.
 */
export function firstKeptRow(index: IndexTable, { rows, at, replayed }: ReplayOnPath): number {
  let kept = -1;
  for (let i = at - 1; i >= 0; i -= 1) {
    const row = rows[i] ?? -1;
    if (index.rows.is(row, rowFlags.damaged)) continue;
    if (index.idOf(row) === replayed) return kept;
    kept = row;
  }
  return -1;
}

/**
 * Answers with the id of the first entry that is kept by the compaction whose line starts at an
 * offset; undefined if none is, or where entries are their own ancestors: what is before and behind
 * depends on where one stands then. O(length of the path).
 */
export function keptEntryFinder({
  index,
  bodies,
}: Engine): (offset: number, replayed: string) => string | undefined {
  return (offset, replayed) => {
    const row = rowStartingAt(index, offset);
    for (;;) {
      const { reshapedCount } = index;
      const { rows, cyclic } = pathToRow(index, row);
      if (cyclic) return undefined;
      const kept = firstKeptRow(index, { rows, at: rows.length - 1, replayed });
      const last = index.rowOfId(replayed);
      // What looks like an entry may be damaged, and then is on nobody's path.
      bodies.confirmAllSync([last, kept].filter((one) => one >= 0));
      if (index.reshapedCount === reshapedCount) return kept < 0 ? undefined : index.idOf(kept);
    }
  };
}

/** The row whose line starts there; -1 if none does. Rows stand in file order. */
function rowStartingAt({ rows, count }: IndexTable, offset: number): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows.offset(middle) < offset) low = middle + 1;
    else high = middle;
  }
  return low < count && rows.offset(low) === offset ? low : -1;
}
