/**
 * Reads every line of a log whole and reports all damage with its place: what does not parse, ids
 * that repeat, parents that are missing, cycles; and, where a checkpoint took checksums, every
 * line that changed since, and where the checkpoint differs from the log. It trusts no index
 * and changes nothing. What another process may still be writing at the end is `pending`, not
 * damage.
 */
import { LineFramer, scan } from "@branchlog/streaming";
import type { Session } from "@branchlog/core";
import {
  requireOptions,
  watchedSession,
  checkpointPath,
  checkpointSchema,
  diagnosticsMax,
  isBoundTo,
  loadIndex,
  savedSums,
  yieldEveryMs,
} from "@branchlog/core/internal";
import type { DanglingReference, DivergedEntry } from "@branchlog/core/types";
import type {
  Engine,
  EngineSettings,
  FileStat,
  FoundCheckpoint,
  LogFile,
  RecordSums,
} from "@branchlog/core/internal";
import { checkCheckpoint, noDifferences, checkChecksums } from "./checkpoint-check.ts";
import { findingsOf, isDamaged, mayBeWritten } from "./finding.ts";
import type {
  Finding,
  BadLine,
  BadLineKind,
  ChangedLine,
  CheckpointDifference,
  Checksums,
  DamagedEntry,
  LinePlace,
  PendingEnd,
} from "./finding.ts";
import { LineCheck } from "./line-check.ts";
import { checkTree } from "./tree-check.ts";
import type { TreeFindings } from "./tree-check.ts";

/**
 * What `verify` found. Every number is exact. Lists are in file order and hold the first 1,000
 * items; of bad lines, the first 1,000 for each reason. A pending end counts nowhere else, and
 * damaged entries are no nodes of the tree.
 */
export interface VerifyReport extends TreeFindings {
  readonly path: string;
  /** True if none of the findings is damage. */
  readonly ok: boolean;
  /** What was found, by kind: the verdict that `planRepair` and `openedFindings` share. */
  readonly findings: readonly Finding[];
  /** Bytes that were read: the whole log, its pending end included. */
  readonly bytes: number;
  /** Lines that end in a newline, and a bad end: blank ones, records and bad ones. */
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
  /** Records with bytes that are no UTF-8, and are read as U+FFFD. */
  readonly invalidUtf8Count: number;
  readonly invalidUtf8: readonly LinePlace[];
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
  /** Branches that nobody chose, by the marks of their first entries. Not damage. */
  readonly divergenceCount: number;
  readonly divergences: readonly DivergedEntry[];
  /** Labels, compactions and context edits whose target does not exist, or is not on their path. */
  readonly danglingReferenceCount: number;
  readonly danglingReferences: readonly DanglingReference[];
  readonly pending: PendingEnd | null;
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
  const { log, settings } = engine;
  const saved = savedFor(settings, engine.path, log.statSync());
  engine.refreshSync();
  // The log may become another while it is read; the report is on the one of this moment.
  const { file, end } = log.state;
  const statSync = (): FileStat | null => log.statSync();
  const mayGrow = (): boolean => mayBeWritten(log.statSync(), settings.ports.clock);
  return verifyRange({ settings, saved, file, end, statSync, mayGrow, signal });
}

/** What is saved of a log beside it, as of the moment before it is read. */
export interface SavedFacts {
  readonly stat: FileStat | null;
  readonly sums: RecordSums | undefined;
}

/** Reads the checksums of the log that has `stat`, unless checkpoints are off. Throws nothing. */
export function savedFor(
  settings: EngineSettings,
  path: string,
  stat: FileStat | null,
): SavedFacts {
  const isRead = settings.checkpoint !== "off" && stat !== null;
  return { stat, sums: isRead ? savedSums(settings, path, stat) : undefined };
}

/** A log of which a range is verified. */
export interface VerifiedRange {
  readonly settings: EngineSettings;
  readonly saved: SavedFacts;
  readonly file: LogFile;
  /** Where the log ends, as far as it is verified. */
  readonly end: number;
  /** What is at its path now. */
  readonly statSync: () => FileStat | null;
  /** Whether a process may be writing its last line. */
  readonly mayGrow: () => boolean;
  readonly signal: AbortSignal | undefined;
}

/** The same for the first bytes of a file, also of one without a header. */
export async function verifyRange(range: VerifiedRange): Promise<VerifyReport> {
  const { settings, saved, file, end, statSync, mayGrow, signal } = range;
  const { lineBytesMax } = settings;
  const found = await savedIndex(range);
  const sums = saved.sums !== undefined && file.isAt(saved.sums) ? saved.sums : undefined;
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
    const later = statSync();
    if (later !== null && isBoundTo(binding, file, later)) differences = now;
  }
  await scan(file, framer, check, { from: framer.offset, to: end, yieldEveryMs, signal });
  check.batchEnd();
  const { indexer } = check;
  const rest = framer.rest();
  const pending = rest === null ? null : check.addRest(rest, mayGrow());
  const { tree, counts } = checkTree({ indexer, source: file });
  const changes = await checkChecksums({ source: file, indexer, sums }, signal);
  const [divergences, dangling] = [check.links.divergences(), check.links.danglingReferences()];
  const findings = findingsOf({
    ...counts,
    diverged: divergences.length,
    "dangling-reference": dangling.length,
    ...check.badLineCounts,
    "id-changed": check.changedIds,
    "invalid-utf8": check.invalidUtf8Count,
    "byte-order-mark": check.marks,
    "changed-line": changes.changedLineCount,
    "checkpoint-difference": differences.checkpointDifferenceCount,
    "unfinished-line": pending?.kind === "fragment" ? 1 : 0,
    "unfinished-record": pending?.kind === "record" ? 1 : 0,
  });
  return {
    path: file.path,
    ok: !isDamaged(findings),
    findings,
    bytes: framer.offset,
    lines: check.lines,
    blankLines: check.blank,
    records: check.records,
    entries: indexer.index.count - indexer.index.damagedCount,
    badLineCount: check.badLineCount,
    badLineCounts: check.badLineCounts,
    badLines: check.badLines,
    invalidUtf8Count: check.invalidUtf8Count,
    invalidUtf8: check.invalidUtf8,
    ...changes,
    ...differences,
    damagedEntryCount: indexer.index.damagedCount,
    damagedEntries: check.damagedEntries,
    ...tree,
    divergenceCount: divergences.length,
    divergences: divergences.slice(0, diagnosticsMax),
    danglingReferenceCount: dangling.length,
    danglingReferences: dangling.slice(0, diagnosticsMax),
    pending,
  };
}

/** What opening would take from the checkpoint of a log. Throws nothing. */
function savedIndex({
  settings,
  saved: { stat },
  file,
}: VerifiedRange): Promise<FoundCheckpoint | undefined> {
  const { checkpoint, checkpointDir, lineBytesMax, ports } = settings;
  if (checkpoint === "off" || stat === null) return Promise.resolve(undefined);
  const schema = checkpointSchema({ file, stat, lineBytesMax });
  return loadIndex(ports.fs, checkpointPath(file.path, checkpointDir), schema);
}
