/**
 * The critical section of an append: catch up, plan, write once, verify where the bytes are.
 * Without the verification, a writer that takes no lock, or lost it while it stalled, would cost
 * acknowledged entries. The section contains no wait, and no cost that grows with the log.
 *
 * Every line that is found whole counts as written. If the log is not as planned after a write that
 * succeeded, in part or whole, missing lines are written again; after one that failed, they are
 * `refused`; if the log cannot be read, they are `unreadable`. Lines that are written again keep
 * their ids and follow a newline, apart from the remains of the write before. Lines missing after
 * `appendAttemptsMax` writes are `torn`. Nothing is written again to another log that took the
 * name.
 */
import { BranchlogError, isBranchlogError } from "../errors.ts";
import { appendAttemptsMax } from "../limits.ts";
import { acquireLock, sharingOf, takeRetained } from "../store/lock.ts";
import type { ReleasePolicy } from "../store/lock.ts";
import type { Ports } from "../store/ports.ts";
import type { TrackedLog } from "../log/tracked-log.ts";
import { portStep } from "../store/steps.ts";
import type { Steps } from "../store/steps.ts";
import type { Divergence } from "../entries/divergence.ts";
import type { IndexTable } from "../index-table/index-table.ts";
import { rowFlags } from "../index-table/row-table.ts";
import { movesLeaf } from "./plan.ts";
import type { AppendPlan, PlannedEntry } from "./plan.ts";
import type { AppendCall } from "./request.ts";

export interface LinePlan {
  readonly lines: readonly PlannedLine[];
  /** The write begins with a newline even after a terminated line. */
  readonly needsSeparator: boolean;
}

export interface CommitWork<Plan extends LinePlan> {
  readonly ports: Ports;
  readonly lockWaitMs: number;
  readonly releasePolicy: ReleasePolicy;
  /**
   * Otherwise the plan may use what the log held `retentionMsMax` ago, under a lock retained since.
   */
  readonly requiresCatchUp: () => boolean;
  readonly plan: () => Plan;
}

export interface CommitOutcome<Plan> {
  readonly plan: Plan;
  readonly verification: AppendVerification;
}

/**
 * Plans again if the lock was lost before the write, or another log took the name during it. In a
 * sequence of appends, log and lock are revalidated before the write only periodically: the `stat`
 * after each write detects interference. Throws only if nothing was written.
 */
export function* commit<Plan extends LinePlan>(
  log: TrackedLog,
  { ports, lockWaitMs, releasePolicy, requiresCatchUp, plan }: CommitWork<Plan>,
): Steps<CommitOutcome<Plan>> {
  const { retention } = sharingOf(ports.lock);
  const { clock } = ports;
  for (let attempt = 0; attempt < appendAttemptsMax; attempt += 1) {
    const startMs = clock.monotonicMs();
    // The usual case in a sequence, without the steps of a wait.
    const retained = takeRetained(log.path, ports, startMs);
    const held = retained ?? (yield* acquireLock(log.path, ports, lockWaitMs));
    let isDone = false;
    try {
      // Under a retained lock, too: some programs take none, and deleting a file needs none.
      const catchesUp = requiresCatchUp() || !retention.isValidated(log, startMs);
      if (catchesUp) yield* log.catchUp();
      const planned = plan();
      if (catchesUp) {
        yield portStep("check lock");
        // A holder that stalled for too long has lost its lock: start over instead of writing.
        if (!held.isOursSync()) continue;
        retention.validated(log, clock.monotonicMs());
      }
      const verification = yield* writeAndVerify(log, planned.lines, planned.needsSeparator);
      if (verification === null) continue;
      isDone = verification.isAsPlanned;
      return { plan: planned, verification };
    } finally {
      if (isDone) {
        const nowMs = clock.monotonicMs();
        retention.retainOrRelease(log.path, held, { startMs, nowMs, keeper: log, releasePolicy });
      } else {
        held.releaseSync();
      }
    }
  }
  throw new BranchlogError(
    "ERR_APPEND_FAILED",
    `The lock of ${log.path} was taken over, or the log replaced, ${appendAttemptsMax} times; ` +
      "it holds nothing of what was appended. Append again.",
    { path: log.path },
  );
}

export interface PlannedLine {
  readonly id: string;
  readonly line: Buffer;
}

export interface AppendFailure {
  readonly kind: "refused" | "torn" | "unreadable";
  readonly cause: unknown;
}

export interface AppendVerification {
  /** Lines that are not known to be in the log. */
  readonly missing: ReadonlySet<string>;
  /** Lines at other offsets than planned, because of concurrent writers. */
  readonly displaced: ReadonlySet<string>;
  readonly isAsPlanned: boolean;
  readonly failure: AppendFailure | undefined;
}

const asPlanned: AppendVerification = {
  missing: new Set(),
  displaced: new Set(),
  isAsPlanned: true,
  failure: undefined,
};
const newline = Buffer.from("\n");

/** Never throws. Null: another log has the name and holds none of the lines. */
function* writeAndVerify(
  log: TrackedLog,
  lines: readonly PlannedLine[],
  needsSeparator: boolean,
): Steps<AppendVerification | null> {
  if (lines.length === 0) return asPlanned;
  const { generation } = log;
  const start = log.end + (needsSeparator || !log.isTerminated ? newline.length : 0);
  let missing = lines;
  for (let attempt = 1; ; attempt += 1) {
    const write = yield* writeAndStat(log, missing, attempt > 1, needsSeparator);
    if (write.isAsPlanned && attempt === 1) return asPlanned;
    const failure = write.isAsPlanned ? undefined : yield* classifyFailure(log, write.error);
    if (failure?.kind === "unreadable") return verified(log, lines, start, missing, failure);
    missing = missing.filter(({ id, line }) => log.holds(id, line) !== "yes");
    if (missing.length === 0) return verified(log, lines, start, missing, undefined);
    if (failure !== undefined) return verified(log, lines, start, missing, failure);
    if (log.generation !== generation && missing.length === lines.length) return null;
    if (attempt === appendAttemptsMax) {
      return verified(log, lines, start, missing, { kind: "torn", cause: undefined });
    }
  }
}

interface Write {
  readonly isAsPlanned: boolean;
  readonly error: unknown;
}

const unexpected: Write = { isAsPlanned: false, error: undefined };

function* writeAndStat(
  log: TrackedLog,
  missing: readonly PlannedLine[],
  isAgain: boolean,
  needsSeparator: boolean,
): Steps<Write> {
  // A line that only lacks its newline gets it from the separator.
  const isNew = ({ id, line }: PlannedLine): boolean => log.holds(id, line) === "no";
  const fresh = (isAgain ? missing.filter(isNew) : missing).map(({ line }) => line);
  const isApart = log.isTerminated && !needsSeparator;
  const bytes = joined(isApart ? fresh : [newline, ...fresh]);
  yield portStep("write");
  let taken: number;
  try {
    taken = log.writeSync(bytes);
  } catch (error) {
    // Another log has the name and got nothing: not a failure of the system.
    return isBranchlogError(error, "ERR_LOG_GONE") ? unexpected : { isAsPlanned: false, error };
  }
  yield portStep("stat");
  try {
    const stat = log.statSync();
    if (stat === null || taken < bytes.length || !log.grewBy(stat, taken)) return unexpected;
    log.adopt(bytes, stat);
    return { isAsPlanned: true, error: undefined };
  } catch {
    // The log is then read, as after writes of others.
    return unexpected;
  }
}

function joined(pieces: readonly Buffer[]): Buffer {
  const [first] = pieces;
  return first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces);
}

function* classifyFailure(log: TrackedLog, error: unknown): Steps<AppendFailure | undefined> {
  try {
    yield* log.catchUp();
  } catch (cause) {
    return { kind: "unreadable", cause: error ?? cause };
  }
  return error === undefined ? undefined : { kind: "refused", cause: error };
}

function verified(
  log: TrackedLog,
  lines: readonly PlannedLine[],
  start: number,
  missing: readonly PlannedLine[],
  failure: AppendFailure | undefined,
): AppendVerification {
  const lost = new Set(missing.map(({ id }) => id));
  const displaced = new Set<string>();
  let planned = start;
  for (const { id, line } of lines) {
    if (!lost.has(id) && log.offsetOf(id) !== planned) displaced.add(id);
    planned += line.length;
  }
  return { missing: lost, displaced, isAsPlanned: false, failure };
}

export interface WrittenLog {
  readonly path: string;
  readonly index: IndexTable;
  readonly generation: number;
  readonly tailId: string | null;
  /** The log ends with what the owner appended at its leaf. */
  markOwn(): void;
  /** The owner appended the entry of this row, but may not know the rows before it. */
  markKnown(row: number): void;
  report(entry: PlannedEntry): void;
}

/** Where an entry is: its line starts at `offset` in that generation of the log. */
export interface Position {
  readonly generation: number;
  readonly offset: number;
}

/** The acknowledgement of one appended entry. */
export interface AppendResult {
  readonly id: string;
  readonly parentId: string | null;
  /** 1-based ordinal of the entry in its generation. */
  readonly revision: number;
  readonly position: Position;
  /** The entry is at another offset than planned, because of a concurrent writer. */
  readonly displaced: boolean;
  /** What the parent is: this session's leaf, the log's tail, or an entry that was named. */
  readonly attachedTo: PlannedEntry["attachedTo"];
  /**
   * On a branch that nobody chose: others had continued from this session's leaf, unknown to it.
   * `follow`, `reject` and `parent: "tail"` avoid that.
   */
  readonly diverged: Divergence | undefined;
}

export type AppendOutcome =
  | { readonly results: readonly AppendResult[] }
  | { readonly results: undefined; readonly error: unknown };

export function failedCall(error: unknown): AppendOutcome {
  return { results: undefined, error };
}

export function writtenCall(
  target: WrittenLog,
  { request, leaf }: AppendCall,
  { entries, leafId }: AppendPlan,
  verification: AppendVerification,
  unreachable: ReadonlySet<string>,
): AppendOutcome {
  if (verification.failure !== undefined && entries.some(({ id }) => unreachable.has(id))) {
    const written = entries.filter(
      ({ id, line }) => line !== null && !verification.missing.has(id),
    );
    const last = written.at(-1);
    if (last !== undefined) leaf.pin(last.leafId);
    const ids = written.map(({ id }) => id);
    return failedCall(appendError(target.path, verification.failure, ids, entries.length));
  }
  leaf.pin(leafId);
  // Metadata attached elsewhere leaves the leaf behind what others appended.
  const isAtLeaf = entries.some(movesLeaf);
  if (isAtLeaf) target.markOwn();
  for (const entry of entries) {
    if (!isAtLeaf) target.markKnown(target.index.rowOfId(entry.id));
    if (entry.line !== null) target.report(entry);
  }
  const results = entries.map((entry) =>
    resultOf(target, entry, verification.displaced.has(entry.id)),
  );
  const isOvertaken =
    request.expectedTail !== undefined &&
    wasOvertaken(target, entries, verification, request.expectedTail);
  return isOvertaken ? failedCall(overtaken(target, results)) : { results };
}

export function notAppended(path: string, cause: unknown): BranchlogError {
  if (cause instanceof BranchlogError && cause.code !== "ERR_LOG_UNREADABLE") return cause;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `Nothing was appended to ${path} (${reason}). Append again once it works.`;
  return new BranchlogError("ERR_APPEND_FAILED", message, { path, cause });
}

function resultOf(target: WrittenLog, entry: PlannedEntry, displaced: boolean): AppendResult {
  const { index, generation } = target;
  const row = index.rowOfId(entry.id);
  return {
    id: entry.id,
    parentId: entry.parentId,
    revision: row + 1,
    position: { generation, offset: index.rows.offset(row) },
    displaced,
    attachedTo: entry.attachedTo,
    diverged: entry.diverged,
  };
}

function wasOvertaken(
  { index }: WrittenLog,
  entries: readonly PlannedEntry[],
  { isAsPlanned }: AppendVerification,
  expectedTail: string | null,
): boolean {
  const first = entries.find(({ line }) => line !== null);
  if (isAsPlanned || first === undefined) return false;
  let before = index.rowOfId(first.id) - 1;
  while (before >= 0 && index.rows.is(before, rowFlags.damaged)) before -= 1;
  return expectedTail !== (before < 0 ? null : index.idOf(before));
}

function overtaken(target: WrittenLog, results: readonly AppendResult[]): BranchlogError {
  return new BranchlogError(
    "ERR_CONFLICT",
    `Others wrote to ${target.path} between the check of its tail and the write; the entries ` +
      "were written all the same. Check the log before the next append.",
    { path: target.path, tail: target.tailId, written: results.map(({ id }) => id) },
  );
}

function appendError(
  path: string,
  { kind, cause }: AppendFailure,
  written: readonly string[],
  count: number,
): BranchlogError {
  const found = `${written.length} of ${count} entries were written`;
  const reason = cause instanceof Error ? cause.message : String(cause);
  switch (kind) {
    case "refused":
      return new BranchlogError(
        "ERR_APPEND_FAILED",
        `Appending to ${path} failed (${reason}); ${found}. Append the others again once the ` +
          "cause is fixed.",
        { path, written, cause },
      );
    case "unreadable":
      return new BranchlogError(
        "ERR_APPEND_UNCERTAIN",
        `${path} could not be read after writing to it (${reason}), so it is not known what ` +
          "was written. Fix the cause, check the log, and append again what is missing.",
        { path, written, cause },
      );
    case "torn":
      return new BranchlogError(
        "ERR_APPEND_UNCERTAIN",
        `What was appended to ${path} was torn or cut short each time it was written; ${found}. ` +
          "Append the others again.",
        { path, written },
      );
  }
}
