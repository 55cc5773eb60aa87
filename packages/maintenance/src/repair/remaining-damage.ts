/** What will still be wrong with a log once it is repaired. Pure, linear in the rows. */
import { diagnosticsMax, findCycles, orphanRows } from "@branchlog/core/internal";
import type { LogIndexer } from "@branchlog/core/internal";
import type { RemainingDamage, StandInStep } from "./repair-plan.ts";

/**
 * The damage that stays.
 * @param indexer Of all records that were found.
 * @param leftOut Rows of records that are not taken after all, since they are there once more.
 */
export function remainingDamage(
  { index, diagnostics }: LogIndexer,
  leftOut: ReadonlySet<number>,
  added: readonly StandInStep[],
): RemainingDamage {
  const there = new Set(added.map(({ id }) => id));
  const missing = orphanRows(index).filter((row) => !there.has(index.parentIdOf(row) ?? ""));
  const { cycles } = findCycles(index);
  const repeated = diagnostics.entries.filter(({ kind }) => kind === "duplicate-id");
  const ids = repeated.map(({ id = "" }) => id);
  for (const row of leftOut) {
    const at = ids.indexOf(index.idOf(row));
    if (at >= 0) ids.splice(at, 1);
  }
  return {
    duplicateIdCount: diagnostics.count("duplicate-id") - leftOut.size,
    duplicateIds: ids,
    orphanCount: missing.length,
    orphans: missing
      .slice(0, diagnosticsMax)
      .map((row) => ({ id: index.idOf(row), missingParentId: index.parentIdOf(row) ?? "" })),
    cycleCount: cycles.length,
    cycles: cycles.slice(0, diagnosticsMax).map(({ row }) => index.idOf(row)),
  };
}
