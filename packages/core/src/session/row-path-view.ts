/** A path of rows as a projection sees it. */
import type { BodyReader } from "../bodies/body-reader.ts";
import type { SessionEntry } from "../entries/entry-types.ts";
import type { IndexTable } from "../index-table/index-table.ts";
import type { RowPath } from "../index-table/tree-walk.ts";
import type { PathView } from "../projections/projection.ts";

/** Bodies by row. */
export type LoadedBodies = Pick<ReadonlyMap<number, SessionEntry>, "get">;

/** A damaged or too large body becomes an entry of an unknown type, which contributes nothing. */
export function rowPathView(
  index: IndexTable,
  bodies: BodyReader,
  path: RowPath,
  loaded?: LoadedBodies,
): PathView {
  const rowAt = (i: number): number => {
    const row = path.rows[i];
    if (row === undefined) throw new RangeError(`no entry at ${i} of ${path.rows.length}`);
    return row;
  };
  return {
    length: path.rows.length,
    missingParentId: path.missingParentId ?? undefined,
    type: (i) => index.kindOf(rowAt(i)).type,
    role: (i) => index.kindOf(rowAt(i)).role,
    customType: (i) => index.kindOf(rowAt(i)).customType,
    id: (i) => index.idOf(rowAt(i)),
    entry: (i) => {
      const row = rowAt(i);
      const entry = loaded?.get(row);
      if (entry !== undefined) return entry;
      return (bodies.isBuildable(row) ? bodies.entrySync(row) : undefined) ?? stub(index, row);
    },
  };
}

function stub(index: IndexTable, row: number): SessionEntry {
  const entry = {
    type: "branchlog.damaged",
    id: index.idOf(row),
    parentId: index.parentIdOf(row),
    timestamp: "",
  };
  // Decoding boundary: an entry of an unknown type, as foreign files hold them.
  return entry as unknown as SessionEntry;
}
