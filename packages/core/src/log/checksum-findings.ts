/** Which lines of a log differ from its checksums, though they may still parse. */
import { runAsync } from "@branchlog/streaming";
import type { ByteSource } from "@branchlog/streaming";
import { compareSums } from "../checkpoint/log-sums.ts";
import type { ChangedBytes, LogSums, SumComparison } from "../checkpoint/log-sums.ts";
import type { EntryPlace } from "../index-table/diagnostics.ts";
import type { LogIndexer } from "../index-table/log-indexer.ts";
import { rowFlags } from "../index-table/row-table.ts";
import { diagnosticsMax } from "../limits.ts";

/**
 * A line in which a bit differs from what a checkpoint saw, with the `id` of its entry; or the
 * bytes in which more does, with the line in which they begin and a null `id`.
 */
export interface ChangedLine extends Omit<EntryPlace, "id"> {
  readonly id: string | null;
}

/** The result of the comparison with checksums. */
export interface Checksums {
  /** `none`: no checkpoint covers this file. `rewritten`: the log was rewritten since. */
  readonly state: "compared" | "none" | "rewritten";
  readonly entries: number;
  /** Entries that no checkpoint has seen yet. */
  readonly unseenEntries: number;
}

export interface ChecksumFindings {
  readonly checksums: Checksums;
  readonly changedLineCount: number;
  readonly changedLines: readonly ChangedLine[];
}

interface CheckedLog {
  readonly source: ByteSource;
  readonly indexer: LogIndexer;
  /** Its checksums, which end within it. */
  readonly sums: LogSums | undefined;
}

/** O(bytes covered); memory for a checksum of each 64 KiB. */
export async function checksumFindings(
  { source, indexer, sums }: CheckedLog,
  signal?: AbortSignal,
): Promise<ChecksumFindings> {
  if (sums === undefined) return without("none", indexer);
  const compared = await runAsync(compareSums(source, sums, diagnosticsMax), signal);
  return findingsOf(sums, compared, { source, indexer });
}

function findingsOf(
  sums: LogSums,
  { verdict, changedCount, changed }: SumComparison,
  { source, indexer }: Omit<CheckedLog, "sums">,
): ChecksumFindings {
  if (verdict === "rewritten") return without("rewritten", indexer);
  const unseen = entriesFrom(indexer, sums.end);
  return {
    checksums: {
      state: "compared",
      entries: entriesBefore(indexer, sums.end),
      unseenEntries: unseen,
    },
    changedLineCount: changedCount,
    changedLines: changedLines(changed, source, indexer),
  };
}

function without(state: "none" | "rewritten", indexer: LogIndexer): ChecksumFindings {
  const checksums = { state, entries: 0, unseenEntries: entriesFrom(indexer, 0) };
  return { checksums, changedLineCount: 0, changedLines: [] };
}

/** The line of a byte that changed; the first of those of a piece in which more did. */
function changedLines(
  changed: readonly ChangedBytes[],
  source: ByteSource,
  { index, lines }: LogIndexer,
): ChangedLine[] {
  const { rows } = index;
  let known: LinePlace = { offset: 0, lineNumber: 1 };
  return changed.map(({ offset, length }) => {
    const row = rows.firstFrom(offset + 1) - 1;
    const isBehind = row >= 0 && rows.offset(row) >= known.offset;
    if (isBehind) known = { offset: rows.offset(row), lineNumber: lines.lineOfRow(row) };
    known = lineAt(source, known, offset);
    const isOne = length === 1;
    const isEntry = isOne && row >= 0 && rows.offset(row) === known.offset;
    const place = isOne
      ? { offset: known.offset, length: lineLength(source, known) }
      : { offset, length };
    return { ...place, line: known.lineNumber, id: isEntry ? index.idOf(row) : null };
  });
}

interface LinePlace {
  readonly offset: number;
  readonly lineNumber: number;
}

/** The line that holds a byte, from an earlier one on; the last one if the log ends before it. */
function lineAt(source: ByteSource, known: LinePlace, byte: number): LinePlace {
  let { offset, lineNumber } = known;
  for (const end of lineEnds(source, offset)) {
    if (end >= byte) break;
    offset = end + 1;
    lineNumber += 1;
  }
  return { offset, lineNumber };
}

/** Without its newline, which the last line may lack. */
function lineLength(source: ByteSource, { offset }: LinePlace): number {
  return lineEnds(source, offset).next().value - offset;
}

const newline = 10;
const searchBytes = 64 * 1024;

/** The newlines from an offset on; returns the end of the log. */
function* lineEnds(source: ByteSource, from: number): Generator<number, number, undefined> {
  const bytes = Buffer.allocUnsafe(searchBytes);
  for (let at = from; ;) {
    const count = source.readSync(bytes, 0, bytes.length, at);
    if (count === 0) return at;
    const read = bytes.subarray(0, count);
    for (let end = read.indexOf(newline); end >= 0; end = read.indexOf(newline, end + 1)) {
      yield at + end;
    }
    at += count;
  }
}

function entriesBefore({ index }: LogIndexer, offset: number): number {
  return index.rows.firstFrom(offset);
}

function entriesFrom({ index }: LogIndexer, offset: number): number {
  let count = 0;
  for (let row = index.rows.firstFrom(offset); row < index.count; row += 1) {
    if (!index.rows.is(row, rowFlags.damaged)) count += 1;
  }
  return count;
}
