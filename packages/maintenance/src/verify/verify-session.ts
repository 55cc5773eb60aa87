/**
 * Reads every line of a log whole and reports all damage with its place: what does not parse, ids
 * that repeat, parents that are missing, cycles; and, where a checkpoint took checksums, every
 * line that changed since, and where the checkpoint differs from the log. It trusts no index
 * and changes nothing. What another process may still be writing at the end is `pending`, not
 * damage.
 */
import { decodeLine, LineFramer, scan } from "@branchlog/streaming";
import type { LineRest } from "@branchlog/streaming";
import type { Session } from "@branchlog/core";
import {
  UnknownTypes,
  requireOptions,
  watchedSession,
  checkpointPath,
  checkpointSchema,
  diagnosticsMax,
  entryPlace,
  findCycles,
  isBoundTo,
  loadIndex,
  orphanRows,
  rowFlags,
  savedSums,
  yieldEveryMs,
} from "@branchlog/core/internal";
import type {
  Engine,
  FileStat,
  FoundCheckpoint,
  LogFile,
  LogIndexer,
} from "@branchlog/core/internal";
import type { UnknownType } from "@branchlog/core/types";
import { checkCheckpoint, noDifferences } from "./checkpoint-check.ts";
import { checkChecksums } from "./checksum-check.ts";
import { LineCheck } from "./line-check.ts";
import type {
  BadLine,
  BadLineKind,
  ChangedLine,
  CheckpointDifference,
  Checksums,
  DamagedEntry,
  DuplicateId,
  Orphan,
  ParentCycle,
  PendingEnd,
} from "./verify-findings.ts";

/**
 * What `verify` found. Every number is exact. Lists are in file order and hold the first 1,000
 * items; of bad lines, the first 1,000 for each reason. A pending end counts nowhere else, and
 * damaged entries are no nodes of the tree.
 */
export interface VerifyReport {
  readonly path: string;
  /**
   * True if no line is bad or changed, no entry damaged, the tree is whole, and a checkpoint says
   * nothing else.
   */
  readonly ok: boolean;
  /** Bytes that were read: the whole log, its pending end included. */
  readonly bytes: number;
  /** Lines that end in a newline: blank ones, records and bad ones. */
  readonly lines: number;
  readonly blankLines: number;
  /** Lines that are JSON objects. */
  readonly records: number;
  /** Records that are entries, those that a later one with the same id hides included. */
  readonly entries: number;
  readonly badLineCount: number;
  /** How many lines are bad for each reason. */
  readonly badLineCounts: Readonly<Record<BadLineKind, number>>;
  readonly badLines: readonly BadLine[];
  /** With what lines were compared, and how many entries. */
  readonly checksums: Checksums;
  /** Lines that are not what a checkpoint saw. They may be bad lines as well. */
  readonly changedLineCount: number;
  readonly changedLines: readonly ChangedLine[];
  /** Where a checkpoint differs from the log. */
  readonly checkpointDifferenceCount: number;
  readonly checkpointDifferences: readonly CheckpointDifference[];
  /** Damaged entries. Their lines are bad lines as well, unless their ids changed. */
  readonly damagedEntryCount: number;
  readonly damagedEntries: readonly DamagedEntry[];
  /** Entries whose id an earlier entry has. */
  readonly duplicateIdCount: number;
  readonly duplicateIds: readonly DuplicateId[];
  readonly orphanCount: number;
  readonly orphans: readonly Orphan[];
  /** Distinct cycles of parents; an entry that is its own parent is one, of size 1. */
  readonly cycleCount: number;
  readonly cycles: readonly ParentCycle[];
  /** Entries on a cycle or below one: the way up from them reaches no root. */
  readonly cyclicEntryCount: number;
  readonly pending: PendingEnd | null;
  /** Types that are neither those of pi and omp nor have a namespace. They are no damage. */
  readonly unknownTypeCount: number;
  readonly unknownTypes: readonly UnknownType[];
}

/** How a session is verified. */
export interface VerifyOptions {
  /** Ends the work with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads every byte of the log of a session, as it is on disk now, and reports all damage. Changes
 * nothing. O(bytes of the log); memory for an index of its own, and for findings up to their
 * limits.
 * @throws BranchlogError `ERR_CLOSED`, `ERR_LOG_GONE`, `ERR_LOG_UNREADABLE`; the signal's reason.
 * @example
 * const { ok, badLines } = await verifySession(session);
 */
export async function verifySession(
  session: Session,
  options: VerifyOptions = {},
): Promise<VerifyReport> {
  const { signal } = requireOptions(options, { signal: true });
  await session.refresh();
  return verifyLog(watchedSession(session).engine, signal);
}

/** The same for the log of an engine. */
export async function verifyLog(engine: Engine, signal?: AbortSignal): Promise<VerifyReport> {
  // Before the log is read, which then reaches at least as far as its checksums.
  const { path, log, settings } = engine;
  const { lineBytesMax } = settings;
  const stat = log.statSync();
  const isRead = settings.checkpoint !== "off" && stat !== null;
  const saved = isRead ? savedSums(settings, path, stat) : undefined;
  engine.refreshSync();
  // The log may become another while it is read; the report is on the one of this moment.
  const { file, end } = log.state;
  const found = isRead ? await savedIndex(engine, file, stat) : undefined;
  const sums = saved !== undefined && file.isAt(saved) ? saved : undefined;
  const check = new LineCheck(file, found?.checkpoint.state.folded.usage?.rows ?? 0);
  const framer = new LineFramer({ lineBytesMax });
  let differences = noDifferences;
  const binding = found?.checkpoint.binding;
  if (found !== undefined && binding !== undefined && file.isAt(binding) && binding.end <= end) {
    await scan(file, framer, check, { from: 0, to: binding.end, yieldEveryMs, signal });
    check.batchEnd();
    const { indexer, folded } = check;
    const now = checkCheckpoint(found, { indexer, folded, lineNumber: framer.lineNumber });
    // Written anew since, the log is another than that of the checkpoint.
    const later = log.statSync();
    if (later !== null && isBoundTo(binding, file, later)) differences = now;
  }
  await scan(file, framer, check, { from: framer.offset, to: end, yieldEveryMs, signal });
  check.batchEnd();
  const { index } = check.indexer;
  const tree = treeFindings(check.indexer);
  const unknown = new UnknownTypes(check.indexer);
  const changes = await checkChecksums({ source: file, indexer: check.indexer, sums }, signal);
  const damage = [
    check.badLineCount,
    changes.changedLineCount,
    differences.checkpointDifferenceCount,
    index.damagedCount,
    tree.duplicateIdCount,
    tree.orphanCount,
    tree.cycleCount,
  ];
  return {
    path,
    ok: damage.every((count) => count === 0),
    bytes: framer.offset,
    lines: check.lines,
    blankLines: check.blank,
    records: check.records,
    entries: index.count - index.damagedCount,
    badLineCount: check.badLineCount,
    badLineCounts: check.badLineCounts,
    badLines: check.badLines,
    ...changes,
    ...differences,
    damagedEntryCount: index.damagedCount,
    damagedEntries: check.damagedEntries,
    ...tree,
    pending: pendingEnd(framer.rest(), check),
    unknownTypeCount: unknown.count,
    unknownTypes: unknown.list(),
  };
}

/** What opening would take from a checkpoint of the log that has `stat`. Throws nothing. */
function savedIndex(
  { path, settings }: Engine,
  file: LogFile,
  stat: FileStat,
): Promise<FoundCheckpoint | undefined> {
  const { checkpointDir, lineBytesMax, ports } = settings;
  const schema = checkpointSchema({ file, stat, lineBytesMax });
  return loadIndex(ports.fs, checkpointPath(path, checkpointDir), schema);
}

type TreeFindings = Pick<
  VerifyReport,
  | "duplicateIdCount"
  | "duplicateIds"
  | "orphanCount"
  | "orphans"
  | "cycleCount"
  | "cycles"
  | "cyclicEntryCount"
>;

function treeFindings(indexer: LogIndexer): TreeFindings {
  const { index } = indexer;
  const orphans = orphanRows(index);
  const { cycles, caughtCount } = findCycles(index);
  return {
    duplicateIdCount: index.shadowedCount,
    duplicateIds: duplicateIds(indexer),
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
  };
}

/** The first readable entries whose ids earlier readable entries have. O(rows). */
function duplicateIds(indexer: LogIndexer): DuplicateId[] {
  const { index } = indexer;
  const { rows } = index;
  const found: DuplicateId[] = [];
  if (index.shadowedCount === 0) return found;
  const lastRow = new Map<number, number>();
  for (let row = 0; row < rows.count && found.length < diagnosticsMax; row += 1) {
    if (rows.is(row, rowFlags.damaged)) continue;
    const handle = rows.handle(row);
    const earlier = lastRow.get(handle);
    lastRow.set(handle, row);
    if (earlier === undefined) continue;
    found.push({ ...entryPlace(indexer, row), hiddenOffset: rows.offset(earlier) });
  }
  return found;
}

function pendingEnd(rest: LineRest | null, check: LineCheck): PendingEnd | null {
  if (rest === null) return null;
  const { offset, length, bytes } = rest;
  const decoded = bytes === null ? check.readLong(offset, length) : decodeLine(bytes);
  return { offset, length, kind: decoded.ok ? "record" : "fragment" };
}
