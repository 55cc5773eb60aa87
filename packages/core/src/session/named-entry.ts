/**
 * Finds the entry that a caller names by its id: its row, if there is one; or a row that must
 * exist; or one that can be a leaf, whose body was read and is whole.
 */
import { requireEntryId } from "../entries/identifiers.ts";
import { BranchlogError } from "../errors.ts";
import { tailRow } from "../index-table/tree-walk.ts";
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
 * The row of the entry with that id, which was read whole, once, if it was indexed from its
 * envelope. If it turns out damaged, an earlier one with the same id may take its place; if none
 * can be read, it is a place on the tree all the same, and paths to it leave it out.
 * @throws BranchlogError `ERR_ENTRY_NOT_FOUND`, `ERR_INVALID_ARGUMENT`.
 */
function settledRow(engine: Engine, id: string): number {
  const { index, bodies } = engine;
  for (let row = requireRow(engine, id); ;) {
    bodies.confirmSync(row);
    const instead = index.rowOfId(id);
    if (instead === row) return row;
    row = instead;
  }
}

/**
 * The row where a path ends: that of {@link settledRow}; without an id, the last one of the log.
 * @throws BranchlogError `ERR_ENTRY_NOT_FOUND`, `ERR_INVALID_ARGUMENT`.
 */
export function pathEndRow(engine: Engine, id: string | undefined): number {
  return id === undefined ? tailRow(engine.index) : settledRow(engine, id);
}

/**
 * Sees to it that the entry with that id is a node, read whole as by {@link settledRow}.
 * @throws BranchlogError `ERR_ENTRY_NOT_FOUND` also for an entry that is damaged;
 * `ERR_INVALID_ARGUMENT`.
 */
export function requireNode(engine: Engine, id: string): void {
  if (!engine.index.isNode(settledRow(engine, id))) throw notFound(engine, id);
}

function notFound({ path }: Engine, id: string): BranchlogError {
  return new BranchlogError("ERR_ENTRY_NOT_FOUND", `Entry ${id} not found`, { path, id });
}
