/**
 * Commits lines to a log in a file: acquire the lock, catch up if required, plan, write once,
 * verify where the bytes are, retain the lock or release it. Without the verification, a writer
 * that takes no lock, or lost it while it stalled, would cost acknowledged entries. Between lock
 * and unlock there is no wait, and no cost that grows with the log.
 */
import { portStep } from "@branchlog/streaming";
import type { Steps } from "@branchlog/streaming";
import { BranchlogError, isBranchlogError } from "../errors.ts";
import { appendAttemptsMax } from "../limits.ts";
import type { AppendVerification, LinePlan, LogInFile, PlannedLine } from "./line-plan.ts";
import { settleWrite } from "./settled-write.ts";
import type { WriteLines, WriteOutcome } from "./settled-write.ts";
import { acquireLock, sharingOf, takeRetainedLock } from "../platform/lock.ts";
import type { ReleasePolicy } from "../platform/lock.ts";
import type { HeldLock, Ports } from "../platform/ports.ts";

/** A log that lines are committed to. */
export interface CommitLog {
  /** Throws only if nothing was written. */
  commit<Plan extends LinePlan>(work: CommitWork<Plan>): Steps<CommitOutcome<Plan>>;
}

export interface CommitWork<Plan extends LinePlan> {
  readonly ports: Ports;
  readonly lockWaitMs: number;
  readonly releasePolicy: ReleasePolicy;
  /** Says what to commit. Called once, when the turn of this commit has come. */
  readonly take: () => CommitTask<Plan>;
}

export interface CommitTask<Plan extends LinePlan> {
  /**
   * Otherwise the plan may use what the log held `retentionMsMax` ago, under a lock retained since.
   */
  readonly requiresCatchUp: boolean;
  /** Called again if the log changed before anything was written. */
  readonly plan: () => Plan;
}

export interface CommitOutcome<Plan> {
  readonly plan: Plan;
  readonly verification: AppendVerification;
}

/**
 * Plans again if the lock was lost before the write, or another log took the name during it. In a
 * sequence of appends, log and lock are validated before the write only periodically: the `stat`
 * after each write detects interference.
 */
export function* commitToFile<Plan extends LinePlan>(
  log: LogInFile,
  work: CommitWork<Plan>,
): Steps<CommitOutcome<Plan>> {
  let task: CommitTask<Plan> | undefined;
  for (let attempt = 0; attempt < appendAttemptsMax; attempt += 1) {
    const startMs = work.ports.clock.monotonicMs();
    const held =
      takeRetainedLock(log.path, work.ports, startMs) ??
      (yield* acquireLock(log.path, work.ports, work.lockWaitMs));
    let outcome: CommitOutcome<Plan> | undefined;
    try {
      task ??= work.take();
      outcome = yield* planAndWrite(log, held, task, work.ports, startMs);
      if (outcome !== undefined) return outcome;
    } finally {
      endHold(log, held, work, startMs, outcome?.verification.isAsPlanned ?? false);
    }
  }
  throw new BranchlogError(
    "ERR_APPEND_FAILED",
    `The lock of ${log.path} was taken over, or the log replaced, ${appendAttemptsMax} times; ` +
      "none of the entries was appended. Append again.",
    { path: log.path },
  );
}

/** Undefined if nothing was written, and the plan no longer fits. */
function* planAndWrite<Plan extends LinePlan>(
  log: LogInFile,
  held: HeldLock,
  { requiresCatchUp, plan }: CommitTask<Plan>,
  { clock, lock }: Ports,
  startMs: number,
): Steps<CommitOutcome<Plan> | undefined> {
  const { retention } = sharingOf(lock);
  // Under a retained lock, too: some programs take none, and deleting a file needs none.
  const catchesUp = requiresCatchUp || !retention.isValidated(log, startMs);
  if (catchesUp) yield* log.catchUp();
  const planned = plan();
  if (catchesUp) {
    yield beforeCheck;
    // A holder that stalled for too long has lost its lock.
    if (!held.isOursSync()) return undefined;
    retention.validated(log, clock.monotonicMs());
  }
  const { lines, needsSeparator } = planned;
  if (lines.length === 0) return { plan: planned, verification: asPlanned };
  const { generation } = log;
  const start = log.end + (needsSeparator || !log.isTerminated ? newline.length : 0);
  const write = yield* writeOnce(log, lines, needsSeparator);
  if (write.kind === "written") return { plan: planned, verification: asPlanned };
  const again: WriteLines = (missing) => writeOnce(log, missing, needsSeparator);
  const verification = yield* settleWrite(log, { lines, generation, start, write, again });
  return verification === undefined ? undefined : { plan: planned, verification };
}

/** After anything unexpected, the next append starts afresh. */
function endHold(
  log: LogInFile,
  held: HeldLock,
  { ports, releasePolicy }: CommitWork<LinePlan>,
  startMs: number,
  isAsPlanned: boolean,
): void {
  if (!isAsPlanned) return held.releaseSync();
  const { clock, lock } = ports;
  const use = { startMs, nowMs: clock.monotonicMs(), keeper: log, releasePolicy };
  sharingOf(lock).retention.retainOrRelease(log.path, held, use);
}

export const asPlanned: AppendVerification = {
  missing: new Set(),
  displaced: new Set(),
  isAsPlanned: true,
  failure: undefined,
};

const newline = Buffer.from("\n");
const beforeCheck = portStep("check lock");
const beforeWrite = portStep("write");
const beforeStat = portStep("stat");
const written: WriteOutcome = { kind: "written" };
const unknown: WriteOutcome = { kind: "unknown" };

function* writeOnce(
  log: LogInFile,
  lines: readonly PlannedLine[],
  needsSeparator: boolean,
): Steps<WriteOutcome> {
  const bytes = joined(lines, needsSeparator || !log.isTerminated);
  yield beforeWrite;
  let taken: number;
  try {
    taken = log.writeSync(bytes);
  } catch (cause) {
    // Another log has the name and got nothing: not a failure of the system.
    return isBranchlogError(cause, "ERR_LOG_GONE") ? unknown : { kind: "failed", cause };
  }
  yield beforeStat;
  try {
    const stat = log.statSync();
    if (stat === null || taken < bytes.length || !log.grewBy(stat, taken)) return unknown;
    log.adopt(bytes, stat, lines);
    return written;
  } catch {
    // The log is then read, as after writes of others.
    return unknown;
  }
}

export function joined(lines: readonly PlannedLine[], isApart: boolean): Buffer {
  const [first] = lines;
  if (first !== undefined && lines.length === 1 && !isApart) return first.line;
  const pieces = lines.map(({ line }) => line);
  return Buffer.concat(isApart ? [newline, ...pieces] : pieces);
}
