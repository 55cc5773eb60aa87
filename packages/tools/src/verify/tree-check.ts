/** Findings from an index of a log. Reads only the lines of repeated ids. */
import { isSpace, readFullySync, skipSpace } from "@branchlog/streaming";
import type { ByteSource } from "@branchlog/streaming";
import type { UnknownType } from "@branchlog/core/types";
import { UnknownTypes } from "@branchlog/core/engine";
import { diagnosticsMax } from "@branchlog/core/files";
import { entryPlace, findCycles, orphanRows, rowFlags } from "@branchlog/core/rows";
import type { LogIndexer, IndexTable } from "@branchlog/core/rows";
import type { FindingCounts, DuplicateId, Orphan, ParentCycle } from "./finding.ts";

/** The tree of a log. Numbers are exact; lists are bounded. */
export interface TreeFindings {
  readonly duplicateIdCount: number;
  readonly duplicateIds: readonly DuplicateId[];
  readonly orphanCount: number;
  readonly orphans: readonly Orphan[];
  readonly cycleCount: number;
  readonly cycles: readonly ParentCycle[];
  readonly cyclicEntryCount: number;
  readonly unknownTypeCount: number;
  readonly unknownTypes: readonly UnknownType[];
}

export interface IndexedLog {
  readonly indexer: LogIndexer;
  readonly source: ByteSource;
  readonly leftOut?: ReadonlySet<number>;
}

export function checkTree(log: IndexedLog): {
  readonly tree: TreeFindings;
  readonly counts: FindingCounts;
} {
  const { indexer, leftOut } = log;
  const { index, diagnostics, entriesBeforeHeader } = indexer;
  const orphans = orphanRows(index).filter((row) => leftOut?.has(row) !== true);
  const { cycles, caughtCount } = findCycles(index);
  const unknown = new UnknownTypes(indexer);
  const repeated = repeatedIds(log);
  const tree = {
    duplicateIdCount: repeated.count,
    duplicateIds: repeated.list,
    orphanCount: orphans.length,
    orphans: orphans.slice(0, diagnosticsMax).map((row) => ({
      ...entryPlace(indexer, row),
      missingParentId: index.parentIdOf(row) ?? "",
    })),
    cycleCount: cycles.length,
    cycles: cycles
      .slice(0, diagnosticsMax)
      .map(({ row, size }) => ({ ...entryPlace(indexer, row), size })),
    cyclicEntryCount: caughtCount,
    unknownTypeCount: unknown.count,
    unknownTypes: unknown.list(),
  };
  const hasHeader = indexer.header !== undefined;
  const others = diagnostics.count("before-header") - entriesBeforeHeader;
  const counts = {
    "damaged-header": hasHeader ? 0 : 1,
    "before-header": hasHeader ? entriesBeforeHeader : 0,
    // In a transcript, a repeated record has no row.
    "duplicate-id":
      indexer.transcript === undefined
        ? repeated.count - repeated.sameCount
        : diagnostics.count("duplicate-id"),
    "repeated-line": repeated.sameCount,
    "missing-parent": orphans.length,
    cycle: cycles.length,
    "second-header": diagnostics.count("second-header"),
    "not-an-entry": diagnostics.count("not-an-entry") + others,
    "unknown-type": unknown.count,
  };
  return { tree, counts };
}

interface RepeatedIds {
  readonly count: number;
  readonly sameCount: number;
  readonly list: readonly DuplicateId[];
}

export function repeatedIds({ indexer, source, leftOut }: IndexedLog): RepeatedIds {
  const { index } = indexer;
  const { rows } = index;
  const list: DuplicateId[] = [];
  let [count, sameCount] = [0, 0];
  if (index.shadowedCount === 0) return { count, sameCount, list };
  const lastRow = new Map<number, number>();
  for (let row = 0; row < rows.count; row += 1) {
    if (rows.is(row, rowFlags.damaged) || leftOut?.has(row) === true) continue;
    const handle = rows.handle(row);
    const earlier = lastRow.get(handle);
    lastRow.set(handle, row);
    if (earlier === undefined) continue;
    const isSame = isSameLine(index, source, row, earlier);
    count += 1;
    if (isSame) sameCount += 1;
    if (list.length >= diagnosticsMax) continue;
    list.push({ ...entryPlace(indexer, row), hiddenOffset: rows.offset(earlier), isSame });
  }
  return { count, sameCount, list };
}

/** White space around the line is ignored. */
export function isSameLine(
  { rows }: IndexTable,
  source: ByteSource,
  one: number,
  other: number,
): boolean {
  const lineAt = (row: number): Buffer => {
    const line = Buffer.allocUnsafe(rows.length(row));
    return trimmed(readFullySync(source, line, rows.offset(row)));
  };
  return lineAt(one).equals(lineAt(other));
}

function trimmed(bytes: Buffer): Buffer {
  const start = skipSpace(bytes, 0);
  let end = bytes.length;
  while (end > start && isSpace(bytes[end - 1])) end -= 1;
  return bytes.subarray(start, end);
}
