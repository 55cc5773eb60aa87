/**
 * The part of `verify` that compares a log with the checksums that a checkpoint took of it: it
 * finds what changed since, also where every line still parses. A log that was rewritten is
 * not damaged: nothing is said of it but that.
 */
import { setImmediate as nextIteration } from "node:timers/promises";
import type { ByteSource } from "@branchlog/streaming";
import { compareSums, diagnosticsMax, rowFlags } from "@branchlog/core/internal";
import type { ChangedPiece, LogIndexer, RecordSums, SumComparison } from "@branchlog/core/internal";
import type { ChangedLine, Checksums } from "./verify-findings.ts";

/** The result of the comparison. */
export interface ChecksumFindings {
  readonly checksums: Checksums;
  readonly changedLineCount: number;
  readonly changedLines: readonly ChangedLine[];
}

/** A log that is verified. */
export interface CheckedLog {
  readonly source: ByteSource;
  /** The index that verification made of it. */
  readonly indexer: LogIndexer;
  /** Its checksums, which go no further than it. */
  readonly sums: RecordSums | undefined;
}

/**
 * Compares a log with its checksums, if there are any. O(bytes covered); memory for a length and a
 * checksum of each entry.
 */
export async function checkChecksums(
  { source, indexer, sums }: CheckedLog,
  signal?: AbortSignal,
): Promise<ChecksumFindings> {
  if (sums === undefined) return without("none", indexer);
  const steps = compareSums(source, sums, diagnosticsMax);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return findingsOf(sums, step.value, indexer);
    await nextIteration();
    signal?.throwIfAborted();
  }
}

function findingsOf(
  sums: RecordSums,
  { verdict, changedCount, changed }: SumComparison,
  indexer: LogIndexer,
): ChecksumFindings {
  if (verdict === "rewritten") return without("rewritten", indexer);
  const unseen = entriesFrom(indexer, sums.end);
  return {
    checksums: { state: "compared", entries: sums.count - sums.gapCount, unseenEntries: unseen },
    changedLineCount: changedCount,
    changedLines: changed.map((piece) => changedLine(piece, indexer)),
  };
}

function without(state: "none" | "rewritten", indexer: LogIndexer): ChecksumFindings {
  const checksums = { state, entries: 0, unseenEntries: entriesFrom(indexer, 0) };
  return { checksums, changedLineCount: 0, changedLines: [] };
}

function changedLine({ offset, length, line }: ChangedPiece, { index }: LogIndexer): ChangedLine {
  const row = index.rows.firstFrom(offset);
  const isEntry = row < index.count && index.rows.offset(row) === offset;
  return { offset, length: length - 1, line, id: isEntry ? index.idOf(row) : null };
}

/** Readable entries at or after `offset`. */
function entriesFrom({ index }: LogIndexer, offset: number): number {
  let count = 0;
  for (let row = index.rows.firstFrom(offset); row < index.count; row += 1) {
    if (!index.rows.is(row, rowFlags.damaged)) count += 1;
  }
  return count;
}
