/**
 * Commits lines to a log in a file: acquire the lock, catch up if required, plan, write once,
 * verify where the bytes are, retain the lock or release it. Without the verification, a writer
 * that takes no lock, or lost it while it stalled, would cost acknowledged entries. Between lock
 * and unlock there is no wait, and no cost that grows with the log.
 *
 * Every line that is found whole counts as written. If the log is not as planned after a write that
 * succeeded, in part or whole, missing lines are written again; after one that failed, they are
 * `refused`; if the log cannot be read, they are `unreadable`. Lines that are written again keep
 * their ids and follow a newline, apart from the remains of the write before. Lines missing after
 * `appendAttemptsMax` writes are `torn`. Nothing is written again to another log that took the
 * name.
 */
import { portStep } from "@branchlog/streaming";
import type { Steps } from "@branchlog/streaming";
import type { SessionEntry } from "../entries/entry-types.ts";
import { BranchlogError, isBranchlogError } from "../errors.ts";
import { appendAttemptsMax } from "../limits.ts";
import { acquireLock, sharingOf } from "../platform/lock.ts";
import type { ReleasePolicy } from "../platform/lock.ts";
import type { FileStat, HeldLock, Ports } from "../platform/ports.ts";

/** A log that lines are committed to. */
export interface CommitLog {
  /** Throws only if nothing was written. */
  commit<Plan extends LinePlan>(work: CommitWork<Plan>): Steps<CommitOutcome<Plan>>;
}

/** What a commit to a file needs of the log. */
export interface LogInFile {
  readonly path: string;
  readonly end: number;
  readonly isTerminated: boolean;
  readonly generation: number;
  catchUp(): Steps<void>;
  statSync(): FileStat | null;
  /** Appends in one write; returns how many bytes were written. */
  writeSync(bytes: Buffer): number;
  grewBy(stat: FileStat, bytes: number): boolean;
  /** Indexes `bytes`, which were written at the end: these lines. */
  adopt(bytes: Buffer, stat: FileStat, lines: readonly PlannedLine[]): void;
  holds(id: string, line: Buffer): "no" | "unknown" | "unterminated" | "yes";
  offsetOf(id: string): number;
}

export interface LinePlan {
  readonly lines: readonly PlannedLine[];
  /** Whether entries are acknowledged that the log was found to hold. */
  readonly hasRetries?: boolean;
  /** The write begins with a newline even after a terminated line. */
  readonly needsSeparator: boolean;
}

export interface PlannedLine {
  readonly id: string;
  readonly line: Buffer;
  /** As decoding the line gives it, for readers; undefined: they decode it. */
  readonly entry?: SessionEntry | undefined;
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
    const held = yield* acquireLock(log.path, work.ports, work.lockWaitMs);
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
      "it holds nothing of what was appended. Append again.",
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
    yield portStep("check lock");
    // A holder that stalled for too long has lost its lock.
    if (!held.isOursSync()) return undefined;
    retention.validated(log, clock.monotonicMs());
  }
  const verification = yield* writeAndVerify(log, planned);
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

/** Never throws. Undefined: another log has the name and holds none of the lines. */
function* writeAndVerify(
  log: LogInFile,
  { lines, needsSeparator }: LinePlan,
): Steps<AppendVerification | undefined> {
  if (lines.length === 0) return asPlanned;
  const { generation } = log;
  const start = log.end + (needsSeparator || !log.isTerminated ? newline.length : 0);
  let missing = lines;
  for (let attempt = 1; ; attempt += 1) {
    // A line that only lacks its newline gets it from the separator.
    const fresh = attempt === 1 ? lines : missing.filter((one) => heldAs(log, one) === "no");
    const outcome = yield* write(log, fresh, needsSeparator);
    if (outcome.kind === "written" && attempt === 1) return asPlanned;
    const failure = outcome.kind === "written" ? undefined : yield* readBack(log, outcome);
    if (failure?.kind !== "unreadable") {
      missing = missing.filter((one) => heldAs(log, one) !== "yes");
      if (missing.length === 0) return verified(log, lines, start, missing, undefined);
    }
    if (failure !== undefined) return verified(log, lines, start, missing, failure);
    if (log.generation !== generation && missing.length === lines.length) return undefined;
    if (attempt === appendAttemptsMax) {
      return verified(log, lines, start, missing, { kind: "torn", cause: undefined });
    }
  }
}

function heldAs(log: LogInFile, { id, line }: PlannedLine): ReturnType<LogInFile["holds"]> {
  return log.holds(id, line);
}

/** `unknown`: the log is not as it would be after this write alone. */
type WriteOutcome =
  | { readonly kind: "written" }
  | { readonly kind: "unknown" }
  | { readonly kind: "failed"; readonly cause: unknown };

const written: WriteOutcome = { kind: "written" };
const unknown: WriteOutcome = { kind: "unknown" };
const newline = Buffer.from("\n");

function* write(
  log: LogInFile,
  lines: readonly PlannedLine[],
  needsSeparator: boolean,
): Steps<WriteOutcome> {
  const bytes = joined(lines, needsSeparator || !log.isTerminated);
  yield portStep("write");
  let taken: number;
  try {
    taken = log.writeSync(bytes);
  } catch (cause) {
    // Another log has the name and got nothing: not a failure of the system.
    return isBranchlogError(cause, "ERR_LOG_GONE") ? unknown : { kind: "failed", cause };
  }
  yield portStep("stat");
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

/** Undefined: lines that the log does not hold may be written again. */
function* readBack(
  log: LogInFile,
  outcome: Exclude<WriteOutcome, { kind: "written" }>,
): Steps<AppendFailure | undefined> {
  const isFailed = outcome.kind === "failed";
  try {
    yield* log.catchUp();
  } catch (cause) {
    return { kind: "unreadable", cause: isFailed ? outcome.cause : cause };
  }
  return isFailed ? { kind: "refused", cause: outcome.cause } : undefined;
}

function verified(
  log: LogInFile,
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
