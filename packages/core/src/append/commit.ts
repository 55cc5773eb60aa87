/**
 * The critical section of an append, from lock to unlock: catch up with what others wrote, plan,
 * write once, and verify where the bytes were written. Without the verification, a peer that takes no
 * lock or a lock that was taken over while its holder stalled would cost acknowledged entries. It
 * contains no wait, and nothing whose cost depends on the length of the log.
 *
 * The result of a write, by what is found after it; every line that is found whole counts, whatever
 * the system said:
 *
 * | the write       | is as planned    | is not as planned         | cannot be read |
 * |-----------------|------------------|---------------------------|----------------|
 * | took every byte | all written       | what is missing, again    | unreadable     |
 * | took fewer      | -                | what is missing, again    | unreadable     |
 * | failed          | -                | what is missing, refused  | unreadable     |
 *
 * Lines that are written again keep their ids and go behind a newline, so that debris of the write
 * before stays apart. What is missing after `appendAttemptsMax` writes is torn. Nothing is written
 * again to another log that took the name meanwhile.
 */
import { BranchlogError, isBranchlogError } from "../errors.ts";
import { appendAttemptsMax } from "../limits.ts";
import { acquireLock, sharingOf, takeRetained } from "../store/lock.ts";
import type { ReleasePolicy } from "../store/lock.ts";
import type { FileStat, Ports } from "../store/ports.ts";
import { portStep } from "../store/steps.ts";
import type { Steps } from "../store/steps.ts";

/** How the lock is taken, and whether it may be retained for the next append. */
export interface CommitLock {
  readonly ports: Ports;
  readonly lockWaitMs: number;
  readonly releasePolicy: ReleasePolicy;
}

/** Anything that says what to write. */
export interface LinePlan {
  readonly lines: readonly PlannedLine[];
  /** The write begins with a newline, whatever precedes it. */
  readonly needsSeparator: boolean;
}

/** What is to be written, as it is decided under the lock. */
export interface CommitWork<Plan extends LinePlan> {
  /**
   * Whether the plan depends on what other programs wrote a moment ago. Else it may be made of what
   * the log held `retentionMsMax` ago, under a lock that was kept since.
   */
  requiresCatchUp(): boolean;
  plan(): Plan;
}

/** The plan that was carried out, and what became of it. */
export interface CommitOutcome<Plan> {
  readonly plan: Plan;
  readonly verification: AppendVerification;
}

/**
 * Runs one append under the lock of the log, from lock to unlock. The plan is made with the log
 * caught up, and again if the lock was lost before anything was written, or another log took the
 * name during the write. In a row of appends, log and lock are looked at before the write only now
 * and then: the look after each write finds what came between.
 * @throws BranchlogError `ERR_LOCK_TIMEOUT`, whatever the plan and catching up throw,
 * `ERR_APPEND_FAILED`: in each case nothing was written.
 */
export function* commit<Plan extends LinePlan>(
  log: CommitLog,
  { ports, lockWaitMs, releasePolicy }: CommitLock,
  work: CommitWork<Plan>,
): Steps<CommitOutcome<Plan>> {
  const { retention } = sharingOf(ports.lock);
  const { clock } = ports;
  for (let attempt = 0; attempt < appendAttemptsMax; attempt += 1) {
    const startMs = clock.monotonicMs();
    // Without the steps of waiting for it: most appends in a row find it.
    const retained = takeRetained(log.path, ports, startMs);
    const held = retained ?? (yield* acquireLock(log.path, ports, lockWaitMs));
    let isDone = false;
    try {
      // Under a retained lock, too: some programs take none, and deleting a file needs none.
      const looks = work.requiresCatchUp() || !retention.isValidated(log, startMs);
      if (looks) yield* log.catchUp();
      const planned = work.plan();
      if (looks) {
        yield portStep("check lock");
        // A holder that stalled for too long has lost its lock: it starts over instead of writing.
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

/** The log as the section needs it. */
export interface CommitLog {
  readonly path: string;
  /** Reads and indexes what is new. Throws if the log is gone. */
  catchUp(): Steps<void>;
  /** Counts up whenever the log turns out to be another one. */
  readonly generation: number;
  /** Position after the last byte that was read. */
  readonly end: number;
  /** Whether a line can be appended as it is, without a newline before it. */
  readonly isTerminated: boolean;
  /** One write at the end of the file; returns the bytes taken. */
  writeSync(bytes: Buffer): number;
  statSync(): FileStat | null;
  /** Whether the file with this stat is the one that was read, with `bytes` more at its end. */
  grewBy(stat: FileStat, bytes: number): boolean;
  /** Indexes bytes that were written at `end` without reading them. */
  adopt(bytes: Buffer, stat: FileStat): void;
  /**
   * Whether the log holds exactly this line as the entry of that id, or all but its newline;
   * unknown where it cannot be read.
   */
  holds(id: string, line: Buffer): "no" | "unknown" | "unterminated" | "yes";
  /** Where the line of an entry starts; -1 if there is none. */
  offsetOf(id: string): number;
}

/** A line that is to be written, newline included. */
export interface PlannedLine {
  readonly id: string;
  readonly line: Buffer;
}

/**
 * Why lines are missing: the system refused, other writers tore them, or it cannot be determined.
 */
export interface AppendFailure {
  readonly kind: "refused" | "torn" | "unreadable";
  readonly cause: unknown;
}

/** What became of the lines. */
export interface AppendVerification {
  /** Ids of lines that are not known to be in the log. */
  readonly missing: ReadonlySet<string>;
  /** Ids of lines at other offsets than planned, because of concurrent writers. */
  readonly displaced: ReadonlySet<string>;
  /** Whether nothing came between the plan and the log. */
  readonly isAsPlanned: boolean;
  /** Why lines are missing; undefined if none is. */
  readonly failure: AppendFailure | undefined;
}

const none: ReadonlySet<string> = new Set();
const asPlanned: AppendVerification = {
  missing: none,
  displaced: none,
  isAsPlanned: true,
  failure: undefined,
};
const newline = Buffer.from("\n");

/**
 * Writes the lines as one write. Never throws: what went wrong is part of the answer. Null: another
 * log has the name and holds none of the lines, which were not planned for it.
 * @param needsSeparator A newline comes first in any case.
 */
function* writeAndVerify(
  log: CommitLog,
  lines: readonly PlannedLine[],
  needsSeparator: boolean,
): Steps<AppendVerification | null> {
  if (lines.length === 0) return asPlanned;
  const { generation } = log;
  const start = log.end + (needsSeparator || !log.isTerminated ? newline.length : 0);
  let missing = lines;
  for (let attempt = 1; ; attempt += 1) {
    const write = yield* writeAndStat(log, missing, attempt > 1, needsSeparator);
    if (write.kind === "as planned" && attempt === 1) return asPlanned;
    const failure =
      write.kind === "as planned" ? undefined : yield* classifyFailure(log, write.error);
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

type Write =
  | { readonly kind: "as planned" }
  /** `error` is what the write itself threw. */
  | { readonly kind: "otherwise"; readonly error: unknown };

const otherwise: Write = { kind: "otherwise", error: undefined };

/** One write, and one `stat` of the file. If it is as planned, the log has indexed the lines. */
function* writeAndStat(
  log: CommitLog,
  missing: readonly PlannedLine[],
  isAgain: boolean,
  needsSeparator: boolean,
): Steps<Write> {
  // A line that only lacks its newline gets it from the seal.
  const isNew = ({ id, line }: PlannedLine): boolean => log.holds(id, line) === "no";
  const fresh = (isAgain ? missing.filter(isNew) : missing).map(({ line }) => line);
  const isApart = log.isTerminated && !needsSeparator;
  const bytes = joined(isApart ? fresh : [newline, ...fresh]);
  yield portStep("write");
  let taken: number;
  try {
    taken = log.writeSync(bytes);
  } catch (error) {
    // Another log has the name: nothing was written to it, which is no failure of the system.
    return isBranchlogError(error, "ERR_LOG_GONE") ? otherwise : { kind: "otherwise", error };
  }
  yield portStep("stat");
  const stat = lookAt(log);
  if (stat === null || taken < bytes.length || !log.grewBy(stat, taken)) return otherwise;
  return indexWritten(log, bytes, stat);
}

/** What cannot be indexed from memory is read like the bytes of other writers. */
function indexWritten(log: CommitLog, bytes: Buffer, stat: FileStat): Write {
  try {
    log.adopt(bytes, stat);
    return { kind: "as planned" };
  } catch {
    return otherwise;
  }
}

function joined(pieces: readonly Buffer[]): Buffer {
  const [first] = pieces;
  return first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces);
}

/** A stat that fails shows nothing: the log is read then. */
function lookAt(log: CommitLog): FileStat | null {
  try {
    return log.statSync();
  } catch {
    return null;
  }
}

/** Reads on what the log holds now; the failure that counts if lines are missing then. */
function* classifyFailure(log: CommitLog, error: unknown): Steps<AppendFailure | undefined> {
  try {
    yield* log.catchUp();
  } catch (cause) {
    return { kind: "unreadable", cause: error ?? cause };
  }
  return error === undefined ? undefined : { kind: "refused", cause: error };
}

function verified(
  log: CommitLog,
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
