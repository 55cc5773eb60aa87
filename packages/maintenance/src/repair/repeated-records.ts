/**
 * Records of damaged lines that stand in the log once more, byte for byte: a writer that found its
 * record run together with another one writes it again. Taking both would repeat an id, so the one
 * in the damaged line is not taken. Pure, but that it reads the records which have the same id.
 */
import type { ByteSource } from "@branchlog/streaming";
import { readFullySync } from "@branchlog/core/internal";
import { isSpace } from "./line-bytes.ts";
import type { PlanBuilder } from "./plan-builder.ts";

/** What is left out because it stands elsewhere. */
export interface Repetitions {
  /** Positions of the steps that would take the records. */
  readonly steps: ReadonlySet<number>;
  /** Their rows. */
  readonly rows: ReadonlySet<number>;
}

/** The repetitions among the recovered records; one of each record is always left. */
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

/** The bytes without white space at their ends. */
function trimmed(bytes: Buffer): Buffer {
  let [start, end] = [0, bytes.length];
  while (start < end && isSpace(bytes[start])) start += 1;
  while (end > start && isSpace(bytes[end - 1])) end -= 1;
  return bytes.subarray(start, end);
}
