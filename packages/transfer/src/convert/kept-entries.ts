/**
 * What a compaction of omp keeps that names only the last entry that a provider replays, as pi says
 * it: by the entry that follows on the way to the compaction.
 */
import { rowFlags } from "@branchlog/core/internal";
import type { Engine, IndexTable } from "@branchlog/core/internal";

/**
 * The row after the last one that is replayed; -1 if nothing is kept. Damaged rows are passed
 * over, as far as they are known.
 * @param above The rows above the compaction, one by one; -1 after the last.
 */
export function firstKeptRow(index: IndexTable, above: () => number, replayed: string): number {
  const last = index.rowOfId(replayed);
  if (last < 0) return -1;
  let kept = -1;
  for (let row = above(); row >= 0; row = above()) {
    if (index.rows.is(row, rowFlags.damaged)) continue;
    if (row === last) return kept;
    kept = row;
  }
  return -1;
}

/**
 * Answers with the id of the first entry that is kept by the compaction of a row; undefined if none
 * is, or where entries are their own ancestors: what is before and after depends on where the walk
 * starts then. O(distance to the replayed entry), and once O(entries).
 */
export function keptEntryFinder({
  index,
  bodies,
}: Engine): (row: number, replayed: string) => string | undefined {
  const rooted = new RootedRows(index);
  return (row, replayed) => {
    for (;;) {
      const { structureVersion } = index;
      if (!rooted.has(row)) return undefined;
      let at = row;
      const kept = firstKeptRow(index, () => (at = rowAbove(index, at)), replayed);
      const last = index.rowOfId(replayed);
      // A row that was indexed without a parse may be damaged, and then is on no path.
      bodies.confirmAllSync([last, kept].filter((one) => one >= 0));
      if (index.structureVersion === structureVersion)
        return kept < 0 ? undefined : index.idOf(kept);
    }
  };
}

/** Rows whose ancestors end at a root, or a gap. Each is gone through once, unless rows change. */
class RootedRows {
  readonly #index: IndexTable;
  #known: Uint8Array = new Uint8Array(0);
  #structureVersion = -1;

  constructor(index: IndexTable) {
    this.#index = index;
  }

  has(row: number): boolean {
    const { count, structureVersion } = this.#index;
    if (this.#structureVersion !== structureVersion) this.#known = new Uint8Array(count);
    this.#structureVersion = structureVersion;
    const known = this.#known;
    const passed: number[] = [];
    let at = row;
    for (; at >= 0 && known[at] !== 1; at = rowAbove(this.#index, at)) {
      if (passed.push(at) > count) return false;
    }
    for (const one of passed) known[one] = 1;
    return true;
  }
}

/** The row of a parent; -1 at a root, and at a gap. */
function rowAbove(index: IndexTable, row: number): number {
  const parent = index.rows.parentHandle(row);
  return parent < 0 ? -1 : index.rowOfHandle(parent);
}
