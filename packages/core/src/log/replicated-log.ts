/**
 * The log of a store, with its bytes in a file of this process alone: everything is read from
 * there, as of any other log. Where the store has an index of it, the bytes before are fetched when
 * they are read. Reading on fetches what others stored; a commit stores the lines of
 * its plan if the log still ends where the plan was made for, and else fetches and plans again.
 */
import { io, portStep } from "@branchlog/streaming";
import type { Steps } from "@branchlog/streaming";
import { BranchlogError, isBranchlogError } from "../errors.ts";
import type { IndexTable } from "../index-table/index-table.ts";
import { commitConflictsMax } from "../limits.ts";
import type { LogFile } from "../platform/log-file.ts";
import { quietly } from "../platform/ports.ts";
import type { FileSystem } from "../platform/ports.ts";
import type { PrivatePorts } from "../platform/private-ports.ts";
import type {
  LogLease,
  LostLine,
  StoredAppend,
  StoredLog,
  StoredPosition,
} from "../store/log-store.ts";
import { asPlanned, joined } from "./commit.ts";
import type { CommitOutcome, CommitTask, CommitWork } from "./commit.ts";
import type { LinePlan, PlannedLine } from "./line-plan.ts";
import type { ReadOptions } from "./log-state.ts";
import { endOf, fetched, replicate } from "./replica.ts";
import type { LogParts, Replica } from "./replica.ts";
import { TrackedLog } from "./tracked-log.ts";

export class ReplicatedLog extends TrackedLog {
  override readonly stored: StoredLog;
  readonly #ports: PrivatePorts;
  #parts: LogParts | undefined;
  #position: StoredPosition;
  /** That the log was set back, until all of it was fetched again: what is here is of before. */
  #setBack: BranchlogError | undefined;
  /** Whether others appended between the last two commits here. */
  #isBusy = false;
  /** Settles when the fetch or the commit before is done: they would disturb each other. */
  #turn: Promise<void> | undefined;

  constructor(replica: Replica, file: LogFile, options: ReadOptions, onChange: () => void) {
    super(file, options, onChange);
    this.stored = replica.stored;
    this.#ports = replica.ports;
    this.#parts = replica.parts;
    this.#position = replica.position;
  }

  /** Nothing is being fetched or stored, and what is here is of the log as it is. */
  override get isSettled(): boolean {
    return this.#turn === undefined && this.#setBack === undefined;
  }

  /** As of any log, after fetching. Throws what the store rejects with. */
  override catchUp(): Steps<void> {
    return this.#alone(() => this.#catchUp());
  }

  override commit<Plan extends LinePlan>(work: CommitWork<Plan>): Steps<CommitOutcome<Plan>> {
    return this.#alone(() => this.#commit(work));
  }

  *#alone<T>(steps: () => Steps<T>): Steps<T> {
    while (this.#turn !== undefined) {
      const before = this.#turn;
      yield* io(() => before);
    }
    let end: () => void = () => undefined;
    this.#turn = new Promise((resolve) => {
      end = resolve;
    });
    try {
      return yield* steps();
    } finally {
      this.#turn = undefined;
      end();
    }
  }

  *#catchUp(): Steps<void> {
    if (this.#setBack === undefined) {
      try {
        yield* fetched(this.stored, this.#position, (bytes) => this.#keep(bytes));
      } catch (error) {
        if (!isBranchlogError(error, "ERR_LOG_GONE")) throw error;
        this.#setBack = error;
      }
    }
    if (this.#setBack === undefined) yield* super.catchUp();
    else yield* this.#startAnew(this.#setBack);
  }

  /** Of a log that was set back, as by a failover that lost its last commits. */
  *#startAnew(error: BranchlogError): Steps<void> {
    const { fs } = this.#ports;
    const { index } = this.state;
    // Of the file as it is: another one takes its name.
    const fd = fs.openSync(this.path, "read");
    try {
      this.#parts?.end();
      yield* this.#fetchAnew(error);
      yield* super.catchUp();
      this.#setBack = undefined;
      yield* this.#reportLost(linesOnlyIn({ index, fs, fd }, this.state.index));
    } finally {
      fs.closeSync(fd);
    }
  }

  /**
   * Waits until what the log was found to hold is durable. False: it was set back meanwhile, and
   * was caught up with. Throws what the store rejects with.
   */
  flush(): Steps<boolean> {
    return this.#alone(() => this.#flush());
  }

  *#flush(): Steps<boolean> {
    if (this.#setBack !== undefined) {
      yield* this.#catchUp();
      return false;
    }
    const until = this.#position;
    const isThere = yield* io((signal) => this.stored.flush?.(until, signal) ?? true);
    if (!isThere) yield* this.#catchUp();
    return isThere;
  }

  *#commit<Plan extends LinePlan>(work: CommitWork<Plan>): Steps<CommitOutcome<Plan>> {
    let task: CommitTask<Plan> | undefined;
    let isCaughtUp = this.#setBack === undefined;
    for (let attempt = 0; attempt < commitConflictsMax; attempt += 1) {
      const isBusy = this.#isBusy || attempt >= leaseAfter;
      const lease = isBusy ? yield* this.#lease(work) : undefined;
      if (lease !== undefined) isCaughtUp = true;
      try {
        if (!isCaughtUp) yield* patiently(work, () => this.#catchUp());
        if (task === undefined) {
          task = work.take();
          // What holds it has caught up, on the one connection that it may wait for.
          const isBehind = task.requiresCatchUp && lease === undefined;
          if (isBehind) yield* patiently(work, () => this.#catchUp());
        }
        const plan = task.plan();
        if (plan.lines.length === 0) {
          lease?.release();
          if (plan.hasRetries !== true || (yield* this.#flushed(work))) {
            return { plan, verification: asPlanned };
          }
          continue;
        }
        const bytes = joined(plan.lines, plan.needsSeparator || !this.isTerminated);
        const answer = yield* this.#append(bytes, work, lease);
        if (answer.kind === "appended" || answer.kind === "alreadyStored") {
          yield portStep("write");
          this.#adopt(bytes, plan.lines);
          return { plan, verification: asPlanned };
        }
        // Else catching up finds out in which way the log is another one.
        isCaughtUp = answer.kind === "conflict" && answer.since !== undefined;
        if (answer.kind === "conflict") yield* this.#take(answer.since);
      } finally {
        lease?.release();
      }
    }
    throw this.#conflict();
  }

  /** An entry that was read may be on no standby yet. */
  #flushed(work: CommitWork<LinePlan>): Steps<boolean> {
    return patiently(
      work,
      () => this.#flush(),
      (cause) => this.#uncertain(cause),
    );
  }

  /** What others stored. */
  *#take(since: Buffer | undefined): Steps<void> {
    if (since === undefined || since.length === 0) return;
    this.#keep(since);
    yield* super.catchUp();
  }

  /** Undefined: the store does not do that, or the log is gone. */
  *#lease(work: CommitWork<LinePlan>): Steps<LogLease | undefined> {
    const { stored } = this;
    if (stored.lease === undefined) return undefined;
    if (this.#setBack !== undefined) yield* patiently(work, () => this.#catchUp());
    let lease: LogLease | undefined;
    const ask = async (): Promise<void> => {
      lease = await stored.lease?.(this.#position);
    };
    try {
      yield* patiently(work, () => io(ask));
      this.#isBusy = lease !== undefined && lease.since.length > 0;
      yield* this.#take(lease?.since);
      return lease;
    } catch (error) {
      lease?.release();
      throw error;
    }
  }

  /** Of an answer that was lost, the same call again tells what it was. */
  *#append(
    bytes: Buffer,
    work: CommitWork<LinePlan>,
    lease: LogLease | undefined,
  ): Steps<StoredAppend> {
    // Whether an attempt before may have stored the bytes.
    let mayBeStored = false;
    const position = this.#position;
    const failed = (cause: unknown): unknown => (mayBeStored ? this.#uncertain(cause) : cause);
    function* attempt(ask: () => Steps<StoredAppend>): Steps<StoredAppend> {
      try {
        return yield* ask();
      } catch (error) {
        mayBeStored ||= isUnsettled(error);
        throw error;
      }
    }
    if (lease !== undefined) {
      try {
        return yield* attempt(() => io(() => lease.append(bytes)));
      } catch (error) {
        lease.release();
        if (isRefused(error)) throw error;
      }
    }
    const ask = (): Steps<StoredAppend> =>
      io((signal) => this.stored.append(position, bytes, signal));
    return yield* patiently(work, () => attempt(ask), failed);
  }

  *#fetchAnew(error: BranchlogError): Steps<void> {
    const end = yield* endOf(this.stored);
    if (end?.generation !== this.#position.generation) throw error;
    const { position, parts } = yield* replicate(this.stored, this.#ports);
    [this.#position, this.#parts] = [position, parts];
  }

  /** So that the entries can be restored; without it, this session's diagnostics name them. */
  *#reportLost(lines: readonly LostLine[]): Steps<void> {
    if (lines.length === 0) return;
    try {
      yield* io(() => this.stored.reportLost?.(lines));
    } catch (error) {
      // A role that only reads cannot.
      if (!isBranchlogError(error)) throw error;
    }
  }

  #keep(bytes: Buffer): void {
    for (let done = 0; done < bytes.length;) done += this.file.appendSync(bytes.subarray(done));
    this.#position = { ...this.#position, at: this.#position.at + bytes.length };
  }

  #adopt(bytes: Buffer, lines: readonly PlannedLine[]): void {
    this.#keep(bytes);
    const stat = this.statSync();
    if (stat !== null) this.adopt(bytes, stat, lines);
  }

  #uncertain(cause: unknown): BranchlogError {
    const { name, address } = this.stored;
    // The advice of the store's own error is given here.
    const under = isBranchlogError(cause) ? (cause.cause ?? cause) : cause;
    const reason = under instanceof Error ? under.message : String(under);
    const message =
      `The store did not confirm in time whether it has the entries appended to ${address} ` +
      `(${reason}). Append again once it answers, with the ids in this error: ` +
      "nothing is stored twice.";
    return new BranchlogError("ERR_APPEND_UNCERTAIN", message, { id: name, cause });
  }

  #conflict(): BranchlogError {
    const { name, address } = this.stored;
    const message =
      `Others appended to ${address} first, ${commitConflictsMax} times; nothing was stored. ` +
      "Append again.";
    return new BranchlogError("ERR_APPEND_FAILED", message, { id: name });
  }
}

/** See {@link ReplicatedLog.flush}; a file holds what it was found to hold. */
export function* flushed(log: TrackedLog): Steps<boolean> {
  return log instanceof ReplicatedLog ? yield* log.flush() : true;
}

/** After so many conflicts a writer lets the others wait: to try again is work for all. */
const leaseAfter = 2;

/** A log before it was set back. */
interface LogBefore {
  readonly index: IndexTable;
  readonly fs: FileSystem;
  readonly fd: number;
}

/** In the order of the file. What was never fetched is lost to this session, too. */
function linesOnlyIn({ index, fs, fd }: LogBefore, now: IndexTable): readonly LostLine[] {
  const lines: LostLine[] = [];
  for (let row = 0; row < index.count; row += 1) {
    const id = index.idOf(row);
    if (now.rowOfId(id) >= 0 || !index.isNode(row)) continue;
    const line = Buffer.allocUnsafe(index.rows.length(row));
    const count = quietly(() => fs.readSync(fd, line, 0, line.length, index.rows.offset(row)));
    if (count === line.length) lines.push({ id, line: line.toString() });
  }
  return lines;
}

/** Long enough for a connection to be opened again. */
const firstRetryMs = 50;
const retryMsMax = 1_000;

/**
 * Again while the store is unavailable, for `lockWaitMs`; then, and when it refuses, throws what
 * `failed` makes.
 */
function* patiently<T>(
  { ports: { clock }, lockWaitMs }: CommitWork<LinePlan>,
  ask: () => Steps<T>,
  failed: (cause: unknown) => unknown = (cause) => cause,
): Steps<T> {
  const endMs = clock.monotonicMs() + lockWaitMs;
  for (let ms = firstRetryMs; ; ms = Math.min(2 * ms, retryMsMax)) {
    try {
      return yield* ask();
    } catch (cause) {
      if (isRefused(cause) || clock.monotonicMs() + ms > endMs) throw failed(cause);
    }
    try {
      // Throws the reason of an abort.
      yield { kind: "wait", clock, ms };
    } catch (cause) {
      throw isBranchlogError(cause, "ERR_INTERRUPTED") ? failed(cause) : cause;
    }
  }
}

/** What was asked for may have been done. */
function isUnsettled(error: unknown): boolean {
  if (!isBranchlogError(error)) return true;
  return error.code === "ERR_APPEND_UNCERTAIN" || error.code === "ERR_INTERRUPTED";
}

/** To ask again is of no use, or not wanted. */
function isRefused(error: unknown): boolean {
  if (!isBranchlogError(error)) return false;
  return error.code !== "ERR_STORE_UNAVAILABLE" && error.code !== "ERR_APPEND_UNCERTAIN";
}
