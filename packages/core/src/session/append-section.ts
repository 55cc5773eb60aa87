/**
 * The critical section of an append, from lock to unlock: catch up with what others wrote, plan,
 * write once, and look where the bytes landed. Without that last look, a peer that takes no lock or
 * a lock that was taken over while its holder stalled would cost acknowledged entries. It contains
 * no wait, and nothing whose cost depends on the length of the log.
 */
import { BranchlogError } from "../errors.ts";
import { appendAttemptsMax } from "../limits.ts";
import type { FileStat, Ports } from "../store/ports.ts";
import type { AppendPlan, PlannedEntry } from "./append-plan.ts";
import { acquireLock } from "./lock-wait.ts";
import { portStep } from "./steps.ts";
import type { Steps } from "./steps.ts";

/** The log as the section needs it. */
export interface AppendLog {
  readonly path: string;
  readonly ports: Ports;
  /** Reads and indexes what is new. Throws if the log is gone. */
  catchUp(): Steps<void>;
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
   * Whether the log holds exactly this line as the entry of that id: with newline, or still
   * without.
   */
  holds(id: string, line: Buffer): "no" | "unterminated" | "yes";
}

/** What an append came to. */
export interface AppendOutcome {
  readonly plan: AppendPlan;
  /** Ids whose lines stand elsewhere than planned, because others wrote at the same time. */
  readonly displaced: ReadonlySet<string>;
}

/**
 * Runs one append under the lock of the log.
 * @throws BranchlogError `ERR_LOCK_TIMEOUT`, whatever `plan` throws, `ERR_APPEND_FAILED` (naming
 * what landed), `ERR_APPEND_UNCERTAIN`.
 */
export function* appendSection(
  log: AppendLog,
  lockWaitMs: number,
  plan: () => AppendPlan,
): Steps<AppendOutcome> {
  for (let attempt = 0; attempt < appendAttemptsMax; attempt += 1) {
    const held = yield* acquireLock(log.path, log.ports, lockWaitMs);
    try {
      yield* log.catchUp();
      const planned = plan();
      yield portStep("check lock");
      // A holder that stalled for too long has lost its lock: it starts over instead of writing.
      if (!held.isOursSync()) continue;
      const displaced = yield* writeEntries(log, planned.entries);
      return { plan: planned, displaced };
    } finally {
      held.releaseSync();
    }
  }
  throw new BranchlogError(
    "ERR_APPEND_FAILED",
    `The lock of ${log.path} was taken over ${appendAttemptsMax} times while this process ` +
      "stalled; nothing was written. Append again.",
    { path: log.path },
  );
}

interface PendingLine {
  readonly id: string;
  readonly line: Buffer;
}

function* writeEntries(
  log: AppendLog,
  entries: readonly PlannedEntry[],
): Steps<ReadonlySet<string>> {
  const lines = entries.flatMap(({ id, line }) => (line === null ? [] : [{ id, line }]));
  const displaced = new Set<string>();
  let missing: readonly PendingLine[] = lines;
  for (let attempt = 0; attempt < appendAttemptsMax && missing.length > 0; attempt += 1) {
    const landed = yield* writeOnce(log, missing, lines);
    if (landed) return displaced;
    const left = missing.filter(({ id, line }) => log.holds(id, line) !== "yes");
    for (const line of missing) if (!left.includes(line)) displaced.add(line.id);
    missing = left;
  }
  if (missing.length > 0) throw uncertain(log, lines);
  return displaced;
}

/** One write; true if it landed where it should, else the log was read again. */
function* writeOnce(
  log: AppendLog,
  missing: readonly PendingLine[],
  all: readonly PendingLine[],
): Steps<boolean> {
  // A line that only lacks its newline gets it from the seal.
  const fresh = missing.filter(({ id, line }) => log.holds(id, line) === "no");
  const seal = log.isTerminated ? [] : [newline];
  const bytes = Buffer.concat([...seal, ...fresh.map(({ line }) => line)]);
  let failure: unknown;
  try {
    yield portStep("write");
    const written = log.writeSync(bytes);
    yield portStep("stat");
    const stat = log.statSync();
    if (stat !== null && written === bytes.length && log.grewBy(stat, written)) {
      log.adopt(bytes, stat);
      return true;
    }
  } catch (error) {
    failure = error;
  }
  try {
    yield* log.catchUp();
  } catch (error) {
    throw unknownEnd(log, failure ?? error);
  }
  if (failure !== undefined) throw failed(log, all, failure);
  return false;
}

const newline = Buffer.from("\n");

function failed(log: AppendLog, lines: readonly PendingLine[], cause: unknown): BranchlogError {
  const landed = landedIds(log, lines);
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new BranchlogError(
    "ERR_APPEND_FAILED",
    `Appending to ${log.path} failed (${reason}); ${landed.length} of ${lines.length} entries ` +
      "landed. Append the others again once the cause is mended.",
    { path: log.path, landed, cause },
  );
}

/** The log cannot be read after the write: what landed will show when it can be. */
function unknownEnd(log: AppendLog, cause: unknown): BranchlogError {
  return new BranchlogError(
    "ERR_APPEND_UNCERTAIN",
    `${log.path} could not be read after writing to it (${String(cause)}), so it is not known ` +
      "what landed. Mend the cause, look at the log, and append again what is missing.",
    { path: log.path, cause },
  );
}

function uncertain(log: AppendLog, lines: readonly PendingLine[]): BranchlogError {
  const landed = landedIds(log, lines);
  return new BranchlogError(
    "ERR_APPEND_UNCERTAIN",
    `Other writers tore what was appended to ${log.path} ${appendAttemptsMax} times; ` +
      `${landed.length} of ${lines.length} entries landed. Append the others again.`,
    { path: log.path, landed },
  );
}

function landedIds(log: AppendLog, lines: readonly PendingLine[]): string[] {
  return lines.filter(({ id, line }) => log.holds(id, line) === "yes").map(({ id }) => id);
}
