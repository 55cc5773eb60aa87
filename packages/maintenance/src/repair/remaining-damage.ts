/**
 * What can be said of the records that were found only once all of them are known: which of them
 * repeat others and are not taken, and what will still be wrong with the log once it is repaired.
 */
import type { ByteSource } from "@branchlog/streaming";
import { diagnosticsMax, findCycles, orphanRows } from "@branchlog/core/internal";
import { isSameLine } from "../verify/same-line.ts";
import { repeatedIds } from "../verify/tree-check.ts";
import type { IndexedLog } from "../verify/tree-check.ts";
import type { PlanBuilder } from "./plan-builder.ts";
import type { RemainingDamage, StandInStep } from "./repair-plan.ts";

/** What is left out because it is elsewhere. */
export interface Repetitions {
  /** Positions of the steps that would take the records. */
  readonly steps: ReadonlySet<number>;
  /** Their rows. */
  readonly rows: ReadonlySet<number>;
}

/**
 * Records of damaged lines that are in the log once more, byte for byte: a writer that found its
 * record run together with another one writes it again. Taking both would repeat an id, so the one
 * in the damaged line is not taken; one of each record is always left. Pure, but that it reads the
 * records which have the same id.
 */
export function repetitions(builder: PlanBuilder, source: ByteSource): Repetitions {
  const { index } = builder.repaired;
  const [steps, rows] = [new Set<number>(), new Set<number>()];
  const recoveredRows = new Set(builder.recovered.map(({ row }) => row));
  /** The row that stays in place of one that is left out. */
  const stays = new Map<number, number>();
  const isSame = (row: number, other: number): boolean =>
    other >= 0 && other !== row && isSameLine(index, source, row, other);
  for (const { step, row, earlierRow } of builder.recovered) {
    if (row < 0) continue;
    const latest = index.rowOfHandle(index.rows.handle(row));
    const later = recoveredRows.has(latest) ? -1 : latest;
    const earlier = stays.get(earlierRow) ?? earlierRow;
    const other = [earlier, later].find((candidate) => isSame(row, candidate));
    if (other === undefined) continue;
    stays.set(row, other);
    steps.add(step);
    rows.add(row);
  }
  return { steps, rows };
}

/**
 * The damage that stays. Linear in the rows; reads the lines of ids that repeat.
 * @param log All records that were found, but for those that are left out after all.
 */
export function remainingDamage(
  log: IndexedLog,
  added: readonly StandInStep[],
): Omit<RemainingDamage, "others"> {
  const { index } = log.indexer;
  const there = new Set(added.map(({ id }) => id));
  const missing = orphanRows(index).filter((row) => !there.has(index.parentIdOf(row) ?? ""));
  const { cycles } = findCycles(index);
  const { count, sameCount, list } = repeatedIds(log);
  return {
    duplicateIdCount: count - sameCount,
    duplicateIds: list.flatMap(({ id, isSame }) => (isSame ? [] : [id])),
    orphanCount: missing.length,
    orphans: missing
      .slice(0, diagnosticsMax)
      .map((row) => ({ id: index.idOf(row), missingParentId: index.parentIdOf(row) ?? "" })),
    cycleCount: cycles.length,
    cycles: cycles.slice(0, diagnosticsMax).map(({ row }) => index.idOf(row)),
  };
}
