/** Whether others continued from a leaf, unknown to its session. Pure. */
import { schemeOf } from "../platform/address.ts";
import type { Divergence } from "../entries/divergence.ts";
import type { IndexTable } from "../index-table/index-table.ts";
import { rootHandle } from "../index-table/row-table.ts";
import { rowsBelow } from "../index-table/tree-walk.ts";
import type { PlannedLog } from "./planned-log.ts";
import { isMetadataType } from "./request.ts";

/** Undefined if the session knew a child of the leaf: then it branches on purpose. */
export function divergenceAt(
  log: PlannedLog,
  leafId: string | null,
  unreadRow: number,
): Divergence | undefined {
  const { index } = log;
  if (unreadRow >= index.count) return undefined;
  const { tailId } = log;
  if (tailId === null || leafId === tailId) return undefined;
  // The log was rewritten: the session knew some of these rows, and not which.
  if (unreadRow === 0 && leafId !== null) return undefined;
  const handle = leafId === null ? rootHandle : index.ids.find(leafId);
  if (hasKnownChild(index, handle, unreadRow)) return undefined;
  const entryCount = countOfOthers(index, index.rowOfHandle(handle), unreadRow, index.count);
  return entryCount === 0 ? undefined : { entryCount, tailId };
}

function hasKnownChild(index: IndexTable, handle: number, unreadRow: number): boolean {
  let row = index.firstChildOf(handle);
  while (row >= 0 && row < unreadRow && isMetadataType(index.kindOf(row).type)) {
    row = index.rows.nextSibling(row);
  }
  return row >= 0 && row < unreadRow;
}

export function countOfOthers(
  index: IndexTable,
  ancestor: number,
  from: number,
  to: number,
): number {
  const rows = rowsBelow(index, ancestor, from, to);
  return rows.filter((row) => !isMetadataType(index.kindOf(row).type)).length;
}

/** Why a leaf is missing, and the remedy. */
export function goneText(path: string): string {
  if (schemeOf(path) === undefined) return "another program rewrote it. Nothing was written.";
  return (
    `the store lost it, for example in a failover. Nothing was written. branchlog store ` +
    `recover ${path} restores what sessions still have, and this append then succeeds.`
  );
}
