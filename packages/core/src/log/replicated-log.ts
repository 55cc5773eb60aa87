/**
 * The log of a store, with its bytes in a file of this process alone: everything is read from
 * there, as of any other log. Reading on fetches what others stored; a commit stores the lines of
 * its plan if the log still ends where the plan was made for, and else fetches and plans again.
 */
import { io, portStep } from "@branchlog/streaming";
import type { Steps } from "@branchlog/streaming";
import { BranchlogError, isBranchlogError } from "../errors.ts";
import { commitConflictsMax } from "../limits.ts";
import { AtomicFile } from "../store/atomic-file.ts";
import type { LogFile } from "../store/log-file.ts";
import { isBlocking } from "../store/log-store.ts";
import type {
  BlockingLog,
  HeldLog,
  StoredAppend,
  StoredLog,
  StoredPosition,
} from "../store/log-store.ts";
import type { Ports } from "../store/ports.ts";
import { storedLogMissing } from "../store/stored-names.ts";
import { asPlanned, joined } from "./commit.ts";
import type { CommitOutcome, CommitTask, CommitWork, LinePlan, PlannedLine } from "./commit.ts";
import type { ReadOptions } from "./log-state.ts";
import { TrackedLog } from "./tracked-log.ts";

export interface Replica {
  readonly stored: StoredLog | BlockingLog;
  /** Private: nothing else writes to the file. */
  readonly ports: Ports;
  /** How far the file has the bytes of the log. */
  readonly position: StoredPosition;
}

/** Fetches a log into its file, which it replaces. Throws `ERR_LOG_MISSING`, as the store does. */
export function* replicate(stored: StoredLog | BlockingLog, ports: Ports): Steps<Replica> {
  const opened = isBlocking(stored) ? undefined : stored.takeOpened?.();
  const end = opened?.end ?? (yield* endOf(stored));
  if (end === undefined) throw storedLogMissing(stored.name);
  const file = new AtomicFile(ports, stored.address);
  let position: StoredPosition = { ...end, at: 0 };
  const keep = (bytes: Buffer): void => {
    file.add(bytes);
    position = { ...position, at: position.at + bytes.length };
  };
  try {
    for (const bytes of opened?.pieces ?? []) keep(bytes);
    if (opened === undefined || position.at < end.at) yield* fetched(stored, position, keep);
    file.replace();
  } finally {
    file.discard();
  }
  return { stored, ports, position };
}

export class ReplicatedLog extends TrackedLog {
  override readonly stored: StoredLog | BlockingLog;
  readonly #ports: Ports;
  #position: StoredPosition;
  /** Whether others appended between the last two commits here. */
  #isBusy = false;
  /** Settles when the fetch or the commit before is done: they would disturb each other. */
  #turn: Promise<void> | undefined;

  constructor(replica: Replica, file: LogFile, options: ReadOptions, onChange: () => void) {
    super(file, options, onChange);
    this.stored = replica.stored;
    this.#ports = replica.ports;
    this.#position = replica.position;
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
    try {
      yield* fetched(this.stored, this.#position, (bytes) => this.#keep(bytes));
    } catch (error) {
      if (!isBranchlogError(error, "ERR_LOG_GONE")) throw error;
      yield* this.#fetchAnew(error);
    }
    yield* super.catchUp();
  }

  *#commit<Plan extends LinePlan>(work: CommitWork<Plan>): Steps<CommitOutcome<Plan>> {
    let task: CommitTask<Plan> | undefined;
    let isCaughtUp = true;
    for (let attempt = 0; attempt < commitConflictsMax; attempt += 1) {
      const isBusy = this.#isBusy || attempt >= holdAfter;
      const held = isBusy ? yield* this.#hold(work) : undefined;
      if (held !== undefined) isCaughtUp = true;
      try {
        if (!isCaughtUp) yield* patiently(work, () => this.#catchUp());
        if (task === undefined) {
          task = work.take();
          // What holds it has caught up, on the one connection that it may wait for.
          const isBehind = task.requiresCatchUp && held === undefined;
          if (isBehind) yield* patiently(work, () => this.#catchUp());
        }
        const plan = task.plan();
        if (plan.lines.length === 0) return { plan, verification: asPlanned };
        const bytes = joined(plan.lines, plan.needsSeparator || !this.isTerminated);
        const answer = yield* this.#append(bytes, work, held);
        if (answer.kind === "appended" || answer.kind === "landed") {
          yield portStep("write");
          this.#adopt(bytes, plan.lines);
          return { plan, verification: asPlanned };
        }
        // Else catching up finds out in which way the log is another one.
        isCaughtUp = answer.kind === "overtaken" && answer.since !== undefined;
        if (answer.kind === "overtaken") yield* this.#take(answer.since);
      } finally {
        held?.release();
      }
    }
    throw this.#overtaken();
  }

  /** What others stored. */
  *#take(since: Buffer | undefined): Steps<void> {
    if (since === undefined || since.length === 0) return;
    this.#keep(since);
    yield* super.catchUp();
  }

  /** Undefined: the store does not do that, or the log is gone. */
  *#hold(work: CommitWork<LinePlan>): Steps<HeldLog | undefined> {
    const { stored } = this;
    if (isBlocking(stored)) return undefined;
    let held: HeldLog | undefined;
    const hold = async (): Promise<void> => {
      held = await stored.hold?.(this.#position);
    };
    try {
      yield* patiently(work, () => io(hold));
      this.#isBusy = held !== undefined && held.since.length > 0;
      yield* this.#take(held?.since);
      return held;
    } catch (error) {
      held?.release();
      throw error;
    }
  }

  /** Of an answer that was lost, the same call again tells what it was. */
  *#append(
    bytes: Buffer,
    work: CommitWork<LinePlan>,
    held: HeldLog | undefined,
  ): Steps<StoredAppend> {
    if (held !== undefined) {
      try {
        return yield* io(() => held.append(bytes));
      } catch (error) {
        held.release();
        if (isRefused(error)) throw error;
      }
    }
    const position = this.#position;
    const ask: Question<StoredAppend> = {
      later: (log, signal) => log.append(position, bytes, signal),
      now: (log) => log.appendSync(position, bytes),
    };
    return yield* patiently(
      work,
      () => asked(this.stored, ask),
      (cause) => this.#uncertain(cause),
    );
  }

  /** Of a log that was set back, as by a failover that lost its last commits. */
  *#fetchAnew(error: BranchlogError): Steps<void> {
    const end = yield* endOf(this.stored);
    if (end?.generation !== this.#position.generation) throw error;
    this.#position = (yield* replicate(this.stored, this.#ports)).position;
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
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message =
      `The store did not answer in time whether it has what was appended to ${address} ` +
      `(${reason}). Append again with the same ids once it answers: what is there is not stored ` +
      "twice.";
    return new BranchlogError("ERR_APPEND_UNCERTAIN", message, { id: name, cause });
  }

  #overtaken(): BranchlogError {
    const { name, address } = this.stored;
    const message =
      `Others appended to ${address} first, ${commitConflictsMax} times; nothing of this was ` +
      "stored. Append again.";
    return new BranchlogError("ERR_APPEND_FAILED", message, { id: name });
  }
}

/** A writer that was overtaken so often lets the others wait: to try again is work for all. */
const holdAfter = 2;

/** Long enough for a connection to be opened again. */
const firstRetryMs = 50;
const retryMsMax = 1_000;

/** Again while the store does not answer, for `lockWaitMs`; then throws what `failed` makes. */
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
      if (isRefused(cause)) throw cause;
      if (clock.monotonicMs() + ms > endMs) throw failed(cause);
    }
    // Throws the reason of an abort.
    yield { kind: "wait", clock, ms };
  }
}

/** The store has answered: it holds nothing of it. */
function isRefused(error: unknown): boolean {
  return isBranchlogError(error) && error.code !== "ERR_STORE_UNAVAILABLE";
}

interface Question<T> {
  readonly later: (log: StoredLog, signal: AbortSignal | undefined) => Promise<T>;
  readonly now: (log: BlockingLog) => T;
}

function* asked<T>(stored: StoredLog | BlockingLog, { later, now }: Question<T>): Steps<T> {
  return isBlocking(stored) ? now(stored) : yield* io((signal) => later(stored, signal));
}

function endOf(stored: StoredLog | BlockingLog): Steps<StoredPosition | undefined> {
  return asked(stored, {
    later: (log, signal) => log.end(signal),
    now: (log) => log.endSync(),
  });
}

function fetched(
  stored: StoredLog | BlockingLog,
  from: StoredPosition,
  keep: (bytes: Buffer) => void,
): Steps<void> {
  return asked(stored, {
    later: async (log, signal) => {
      for await (const bytes of log.read(from, signal)) keep(bytes);
    },
    now: (log) => {
      for (const bytes of log.readSync(from)) keep(bytes);
    },
  });
}
