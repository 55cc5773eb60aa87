/** Compares a log with its checkpoint and checksums, to find changes in lines that still parse. */
import { isDeepStrictEqual } from "node:util";
import { runAsync } from "@branchlog/streaming";
import type { ByteSource } from "@branchlog/streaming";
import type { Diagnostic } from "@branchlog/core";
import type { EntryPlace } from "@branchlog/core/types";
import {
  IndexTable,
  LineMap,
  bodyBytesMax,
  diagnosticsMax,
  entryPlace,
  rowFlags,
  compareSums,
} from "@branchlog/core/internal";
import type {
  FoldedProjections,
  FoundCheckpoint,
  Kind,
  LogIndexer,
  SavedDiagnostics,
  ChangedPiece,
  RecordSums,
  SumComparison,
} from "@branchlog/core/internal";
import type { CheckpointDifference, ChangedLine, Checksums } from "./finding.ts";

export interface CheckpointFindings {
  readonly checkpointDifferenceCount: number;
  readonly checkpointDifferences: readonly CheckpointDifference[];
}

export interface ReadLog {
  readonly indexer: LogIndexer;
  readonly folded: FoldedProjections;
  readonly lineNumber: number;
}

export const noDifferences: CheckpointFindings = {
  checkpointDifferenceCount: 0,
  checkpointDifferences: [],
};

/** Findings that follow from lines alone, independent of the bodies that were read. */
const indexedFindings: ReadonlySet<string> = new Set([
  "bad-line",
  "not-an-entry",
  "duplicate-id",
  "second-header",
  "before-header",
]);
const bodyFindings = ["damaged-entry", "malformed-body"] as const;
/** Flags that a line determines; the others change while bodies are read. */
const lineFlags = rowFlags.tailForm | rowFlags.exactTime;
const payloadFlags = rowFlags.endsWithObject | rowFlags.hasPayload;

export function checkCheckpoint(
  { checkpoint, header }: FoundCheckpoint,
  log: ReadLog,
): CheckpointFindings {
  const { indexer, folded, lineNumber } = checkpoint.state;
  const own = log.indexer;
  const rows = differentEntries(checkpoint.state.indexer, own);
  const ofAll: CheckpointDifference["what"][] = [];
  const compare = (what: CheckpointDifference["what"], isSame: boolean): void => {
    if (!isSame) ofAll.push(what);
  };
  // Rows after the last that counts are not a difference.
  log.folded.usage.reached(folded.usage?.rows ?? 0);
  const { names, labels, labelled, ...others } = log.folded.save();
  compare("header", isDeepStrictEqual(header, own.header));
  compare("name", isDeepStrictEqual(folded.names, names));
  compare("labels", isDeepStrictEqual([folded.labels, folded.labelled], [labels, labelled]));
  compare("dialect", folded.dialect === others.dialect);
  compare("usage", isDeepStrictEqual(folded.usage, others.usage));
  compare("lines", lineNumber === log.lineNumber && hasSameLines(indexer.lines, own.lines));
  compare("kind", hasKindsOf(own, indexer.index.kinds));
  compare(
    "findings",
    indexer.entriesBeforeHeader === own.entriesBeforeHeader &&
      isDeepStrictEqual(ofLines(indexer.diagnostics), ofLines(own.diagnostics.save())) &&
      bodyFindings.every((kind) => areOfBodies(indexer.diagnostics, kind, own)),
  );
  const list = [...ofAll.map((what) => ({ what, entry: null })), ...rows.list];
  return {
    checkpointDifferenceCount: ofAll.length + rows.count,
    checkpointDifferences: list.slice(0, diagnosticsMax),
  };
}

function differentEntries(
  saved: FoundCheckpoint["checkpoint"]["state"]["indexer"],
  own: LogIndexer,
): { readonly count: number; readonly list: readonly CheckpointDifference[] } {
  const restored = new IndexTable();
  restored.restore(saved.index);
  const lines = new LineMap();
  lines.restore(saved.lines);
  const list: CheckpointDifference[] = [];
  let count = Math.abs(restored.count - own.index.count);
  if (count > 0) list.push({ what: "entries", entry: null });
  for (let row = 0; row < Math.min(restored.count, own.index.count); row += 1) {
    const isLine = lines.lineOfRow(row) === own.lines.lineOfRow(row);
    const what = isLine ? differenceOf(restored, own.index, row) : "lines";
    if (what === undefined) continue;
    count += 1;
    if (list.length < diagnosticsMax) list.push({ what, entry: entryPlace(own, row) });
  }
  return { count, list };
}

function differenceOf(
  saved: IndexTable,
  own: IndexTable,
  row: number,
): CheckpointDifference["what"] | undefined {
  const [there, here] = [saved.rows, own.rows];
  const isPlace = there.offset(row) === here.offset(row) && there.length(row) === here.length(row);
  if (!isPlace) return "place";
  const id = own.idOf(row);
  // An id that is missing or repeated differs.
  if (saved.idOf(row) !== id || saved.ids.find(id) !== there.handle(row)) return "id";
  if (saved.parentIdOf(row) !== own.parentIdOf(row)) return "parent";
  if (!isDeepStrictEqual(saved.kindOf(row), own.kindOf(row))) return "kind";
  const isTime = Object.is(there.time(row), here.time(row));
  const flags = there.flags(row) ^ here.flags(row);
  const added = flags & there.flags(row);
  if (!isTime || (flags & lineFlags) !== 0 || (added & payloadFlags) !== 0) return "time";
  const isHere = here.is(row, rowFlags.damaged);
  // The damage of a provisional row is not known yet.
  const isThere =
    there.is(row, rowFlags.damaged) || (isHere && there.is(row, rowFlags.provisional));
  return isHere === isThere ? undefined : "damage";
}

function hasSameLines(saved: ReturnType<LineMap["save"]>, own: LineMap): boolean {
  const { otherCount, otherRecords, recordCount } = own.save();
  const isSameCount = saved.otherCount === otherCount && saved.recordCount === recordCount;
  return isSameCount && isDeepStrictEqual(saved.otherRecords.slice(0, otherCount), otherRecords);
}

function hasKindsOf(own: LogIndexer, kinds: readonly Kind[]): boolean {
  const keyOf = ({ type, role, customType }: Kind): string =>
    JSON.stringify([type, role ?? null, customType ?? null]);
  const known = new Set(own.index.kinds.save().map(keyOf));
  return kinds.every((kind) => known.has(keyOf(kind)));
}

function ofLines({ entries, counts }: SavedDiagnostics): unknown {
  // The order of repeated ids and of different kinds depends on batches.
  const inOrder = entries
    .filter(({ kind }) => indexedFindings.has(kind))
    .toSorted((one, other) => (one.offset ?? 0) - (other.offset ?? 0));
  return [inOrder, new Map(counts.filter(([kind]) => indexedFindings.has(kind)))];
}

function areOfBodies(
  { entries, counts }: SavedDiagnostics,
  kind: (typeof bodyFindings)[number],
  own: LogIndexer,
): boolean {
  const { rows, count } = own.index;
  const found = entries.filter((entry) => entry.kind === kind);
  if (found.length === 0 && counts.every(([counted]) => counted !== kind)) return true;
  const isSo = (row: number): boolean =>
    kind === "damaged-entry" ? rows.is(row, rowFlags.damaged) : rows.length(row) > bodyBytesMax;
  const places = new Map<number, EntryPlace>();
  for (let row = 0; row < count; row += 1) {
    if (isSo(row)) places.set(rows.offset(row), entryPlace(own, row));
  }
  const isFound = ({ id, line, offset, length }: Diagnostic): boolean =>
    isDeepStrictEqual({ id, line, offset, length }, places.get(offset ?? -1));
  return (
    found.every(isFound) &&
    counts.every(([counted, number]) => counted !== kind || number <= places.size)
  );
}

export interface ChecksumFindings {
  readonly checksums: Checksums;
  readonly changedLineCount: number;
  readonly changedLines: readonly ChangedLine[];
}

export interface CheckedLog {
  readonly source: ByteSource;
  readonly indexer: LogIndexer;
  /** Its checksums, which end within it. */
  readonly sums: RecordSums | undefined;
}

/** O(bytes covered); memory for a length and a checksum of each entry. */
export async function checkChecksums(
  { source, indexer, sums }: CheckedLog,
  signal?: AbortSignal,
): Promise<ChecksumFindings> {
  if (sums === undefined) return without("none", indexer);
  const compared = await runAsync(compareSums(source, sums, diagnosticsMax), signal);
  return findingsOf(sums, compared, indexer);
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

function entriesFrom({ index }: LogIndexer, offset: number): number {
  let count = 0;
  for (let row = index.rows.firstFrom(offset); row < index.count; row += 1) {
    if (!index.rows.is(row, rowFlags.damaged)) count += 1;
  }
  return count;
}
