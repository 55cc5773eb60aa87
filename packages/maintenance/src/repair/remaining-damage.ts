/**
 * What can be said of the records that were found only once all of them are known: which of them
 * repeat others and are not taken, and what will still be wrong with the log once it is repaired.
 */
import { isSpace, skipSpace } from "@branchlog/streaming";
import type { ByteSource } from "@branchlog/streaming";
import { diagnosticsMax, findCycles, orphanRows, readFullySync } from "@branchlog/core/internal";
import type { LogIndexer } from "@branchlog/core/internal";
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
    other >= 0 && other !== row && lineAt(row).equals(lineAt(other));
  const lineAt = (row: number): Buffer => {
    const line = Buffer.allocUnsafe(index.rows.length(row));
    readFullySync(source, line, line.length, index.rows.offset(row));
    return trimmed(line);
  };
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
 * The damage that stays. Linear in the rows.
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

/** The bytes without white space at their ends. */
function trimmed(bytes: Buffer): Buffer {
  const start = skipSpace(bytes, 0);
  let end = bytes.length;
  while (end > start && isSpace(bytes[end - 1])) end -= 1;
  return bytes.subarray(start, end);
}
