/**
 * Finds the entry that a caller names by its id: its row, if there is one; or a row that must
 * exist; or one on which a session can stand, whose body was read and is whole.
 */
import { requireEntryId } from "../entries/entry-id.ts";
import { BranchlogError } from "../errors.ts";
import type { Engine } from "./engine.ts";

/**
 * The row of the entry with that id, or -1.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT` if the id is no string.
 */
export function rowOfEntry({ index }: Engine, id: string): number {
  return index.rowOfId(requireEntryId(id));
}

/**
 * The row of the entry with that id.
 * @throws BranchlogError `ERR_ENTRY_NOT_FOUND`, `ERR_INVALID_ARGUMENT`.
 */
export function requireRow(engine: Engine, id: string): number {
  const row = rowOfEntry(engine, id);
  if (row < 0) throw notFound(engine, id);
  return row;
}

/**
 * Sees to it that the entry with that id is a node. A row that was indexed from its envelope is
 * read whole, once; if it turns out damaged, an earlier one with the same id may take its place.
 * @throws BranchlogError `ERR_ENTRY_NOT_FOUND` also for an entry that is damaged;
 * `ERR_INVALID_ARGUMENT`.
 */
export function requireNode(engine: Engine, id: string): void {
  const { index, bodies } = engine;
  for (let row = requireRow(engine, id); ;) {
    bodies.confirmSync(row);
    if (index.isNode(row)) return;
    const instead = index.rowOfId(id);
    if (instead === row) throw notFound(engine, id);
    row = instead;
  }
}

function notFound({ path }: Engine, id: string): BranchlogError {
  return new BranchlogError("ERR_ENTRY_NOT_FOUND", `Entry ${id} not found`, { path, id });
}
