/** Verifies a log: reads every line whole, and compares it with its checkpoint. Changes nothing. */
import { LineFramer, runAsync, scan } from "@branchlog/streaming";
import type { Session } from "@branchlog/core";
import { requireOptions, diagnosticsMax, yieldEveryMs } from "@branchlog/core/files";
import { CheckpointCheck, noDifferences, watchedSession } from "@branchlog/core/engine";
import type {
  ChangedLine,
  CheckpointDifference,
  Checksums,
  DanglingReference,
  DivergedEntry,
  FileStat,
} from "@branchlog/core/types";
import type { Engine } from "@branchlog/core/engine";
import type { EngineSettings, LogFile } from "@branchlog/core/files";
import { findingsOf, isDamaged, mayBeWritten } from "./finding.ts";
import type {
  Finding,
  BadLine,
  BadLineKind,
  DamagedEntry,
  LinePlace,
  PendingEnd,
} from "./finding.ts";
import { LineCheck } from "./line-check.ts";
import { checkTree } from "./tree-check.ts";
import type { TreeFindings } from "./tree-check.ts";

/**
 * The result of `verify`. Numbers are exact; lists are in file order and hold the first 1,000 items
 * (of bad lines, for each reason). A pending end counts nowhere else, and damaged entries are not
 * nodes of the tree.
 */
export interface VerifyReport extends TreeFindings {
  readonly path: string;
  /** True without damage. */
  readonly ok: boolean;
  /** The findings by kind, as `planRepair` and `openedFindings` report them. */
  readonly findings: readonly Finding[];
  /** Length of the log, its pending end included. */
  readonly sizeBytes: number;
  /** Lines that end in a newline, and a bad end. */
  readonly lines: number;
  readonly blankLines: number;
  /** Lines that are JSON objects. */
  readonly records: number;
  /** Records that are entries, including those hidden by a later one. */
  readonly entries: number;
  readonly badLineCount: number;
  readonly badLineCounts: Readonly<Record<BadLineKind, number>>;
  readonly badLines: readonly BadLine[];
  /** Records with bytes that are not UTF-8, which are read as U+FFFD. */
  readonly invalidUtf8Count: number;
  readonly invalidUtf8: readonly LinePlace[];
  /** How many entries were compared with checksums. */
  readonly checksums: Checksums;
  /** Lines that differ from a checkpoint. They may be bad lines as well. */
  readonly changedLineCount: number;
  readonly changedLines: readonly ChangedLine[];
  /** Where a checkpoint differs from the log. */
  readonly checkpointDifferenceCount: number;
  readonly checkpointDifferences: readonly CheckpointDifference[];
  /** Damaged entries. Their lines are bad lines as well, unless their ids changed. */
  readonly damagedEntryCount: number;
  readonly damagedEntries: readonly DamagedEntry[];
  /** Unintended branches, by their first entries. Not damage. */
  readonly divergenceCount: number;
  readonly divergences: readonly DivergedEntry[];
  /** Labels, compactions and context edits with a target that is missing or not on their path. */
  readonly danglingReferenceCount: number;
  readonly danglingReferences: readonly DanglingReference[];
  readonly pending: PendingEnd | null;
  /** Ids of entries that a store lost, for example in a failover, and that `recover()` restores. */
  readonly lostEntryCount: number;
  readonly lostEntries: readonly string[];
}

export interface VerifyOptions {
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads every byte of the log of a session and reports all damage. Changes nothing. O(bytes);
 * memory for an index of its own.
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

export async function verifyLog(engine: Engine, signal?: AbortSignal): Promise<VerifyReport> {
  // Read before the log, which then covers at least as much.
  const { log, settings } = engine;
  const saved = new CheckpointCheck(settings, engine.path, log.statSync());
  await engine.refresh();
  // The log may be replaced while it is read; the report is on the current one.
  const { file, end } = log.state;
  const statSync = (): FileStat | null => log.statSync();
  const mayGrow = (): boolean => mayBeWritten(log.statSync(), settings.ports.clock);
  const lost = await lostIds(engine);
  return verifyRange({ settings, saved, file, end, statSync, mayGrow, signal, lost });
}

async function lostIds({ log, index }: Engine): Promise<readonly string[]> {
  const { stored } = log;
  const lines = await stored?.lostLines?.();
  return (lines ?? []).flatMap(({ id }) => (index.rowOfId(id) < 0 ? [id] : []));
}

export interface VerifiedRange {
  readonly settings: EngineSettings;
  /** Made before the file was read. */
  readonly saved: CheckpointCheck;
  readonly file: LogFile;
  readonly end: number;
  readonly statSync: () => FileStat | null;
  readonly mayGrow: () => boolean;
  readonly signal: AbortSignal | undefined;
  /** Ids of entries that the store of the log lost. */
  readonly lost?: readonly string[];
}

/** The file may lack a header. */
export async function verifyRange(range: VerifiedRange): Promise<VerifyReport> {
  const { settings, saved, file, end, statSync, mayGrow, signal, lost = [] } = range;
  const { lineBytesMax } = settings;
  const savedEnd = await saved.find(file, end);
  const check = new LineCheck(file, saved.usageRows, file.path);
  const framer = new LineFramer({ lineBytesMax });
  const readTo = (to: number): Promise<number> =>
    runAsync(scan(file, framer, check, { from: framer.offset, to, yieldEveryMs }), signal);
  const { indexer, folded } = check;
  let differences = noDifferences;
  if (savedEnd !== undefined) {
    await readTo(savedEnd);
    const read = { indexer, folded, lineNumber: framer.lineNumber };
    differences = saved.differences(file, read, statSync);
  }
  await readTo(end);
  const rest = framer.rest();
  const pending = rest === null ? null : check.addRest(rest, mayGrow());
  const { tree, counts } = checkTree({ indexer, source: file });
  const changes = await saved.changes(file, indexer, signal);
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
    "lost-entries": lost.length,
  });
  return {
    path: file.path,
    ok: !isDamaged(findings),
    findings,
    sizeBytes: framer.offset,
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
    lostEntryCount: lost.length,
    lostEntries: lost.slice(0, diagnosticsMax),
  };
}
