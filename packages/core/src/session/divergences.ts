/** The branches of a log that nobody chose, by the marks of their first entries. */
import { divergedFrom } from "../entries/divergence.ts";
import { entryPlace } from "../index-table/entry-place.ts";
import type { EntryPlace } from "../index-table/entry-place.ts";
import type { Engine } from "./engine.ts";

/** The first entry of a branch that nobody chose. */
export interface DivergedEntry extends EntryPlace {
  readonly parentId: string | null;
  /** The last entry of the log when it was appended: it is on the branch of other writers. */
  readonly tailId: string;
}

/**
 * They are in file order. Reads the bodies of the entries that are not the first child of their
 * parent. A copy that leaves out the other branch has no divergence.
 */
export async function divergedEntries(engine: Engine): Promise<DivergedEntry[]> {
  const { index, bodies } = engine;
  const { indexer } = engine.log.state;
  const found: DivergedEntry[] = [];
  for await (const { row, entry } of bodies.entries(laterSiblings(engine))) {
    const tailId = divergedFrom(entry);
    if (tailId === undefined || index.rowOfId(tailId) < 0) continue;
    found.push({ ...entryPlace(indexer, row), parentId: index.parentIdOf(row), tailId });
  }
  return found;
}

function laterSiblings({ index }: Engine): number[] {
  const rows: number[] = [];
  for (let row = 0; row < index.count; row += 1) {
    const next = index.rows.nextSibling(row);
    if (next >= 0) rows.push(next);
  }
  return rows.toSorted((one, other) => one - other);
}
