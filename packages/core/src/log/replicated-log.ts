/**
 * The log of a store, with its bytes in a file of this process alone: everything is read from
 * there, as of any other log. Reading on fetches what others stored; a commit stores the lines of
 * its plan if the log still ends where the plan was made for, and else fetches and plans again.
 */
import { setTimeout as pause } from "node:timers/promises";
import { io, portStep } from "@branchlog/streaming";
import type { Steps } from "@branchlog/streaming";
import { BranchlogError } from "../errors.ts";
import { commitConflictsMax } from "../limits.ts";
import type { LogFile } from "../store/log-file.ts";
import type { StoredAppend, StoredLog, StoredPosition } from "../store/log-store.ts";
import { storedLogGone } from "../store/stored-names.ts";
import { asPlanned, joined } from "./commit.ts";
import type { CommitOutcome, CommitTask, CommitWork, LinePlan, PlannedLine } from "./commit.ts";
import type { ReadOptions } from "./log-state.ts";
import { TrackedLog } from "./tracked-log.ts";

export class ReplicatedLog extends TrackedLog {
  readonly #stored: StoredLog;
  /** How far the file has the bytes of the log. */
  #position: StoredPosition;

  constructor(
    stored: StoredLog,
    position: StoredPosition,
    file: LogFile,
    options: ReadOptions,
    onChange: () => void,
  ) {
    super(file, options, onChange);
    this.#stored = stored;
    this.#position = position;
  }

  /** As of any log, after fetching. Rejects with what the store rejects with. */
  override *catchUp(): Steps<void> {
    yield* io((signal) => this.#fetch(signal));
    yield* super.catchUp();
  }

  override *commit<Plan extends LinePlan>(work: CommitWork<Plan>): Steps<CommitOutcome<Plan>> {
    let task: CommitTask<Plan> | undefined;
    for (let attempt = 0; attempt < commitConflictsMax; attempt += 1) {
      if (attempt > 0 || task?.requiresCatchUp === true) yield* this.catchUp();
      if (task === undefined) {
        task = work.take();
        if (task.requiresCatchUp) yield* this.catchUp();
      }
      const plan = task.plan();
      if (plan.lines.length === 0) return { plan, verification: asPlanned };
      const bytes = joined(plan.lines, plan.needsSeparator || !this.isTerminated);
      const answer = yield* io((signal) => this.#append(bytes, signal));
      if (answer.kind === "gone") throw storedLogGone(this.#stored.name);
      if (answer.kind === "overtaken") continue;
      yield portStep("write");
      this.#adopt(bytes, plan.lines);
      return { plan, verification: asPlanned };
    }
    throw this.#overtaken();
  }

  /** Of an answer that was lost, the same call again tells what it was. */
  async #append(bytes: Buffer, signal: AbortSignal | undefined): Promise<StoredAppend> {
    try {
      return await this.#stored.append(this.#position, bytes, signal);
    } catch (error) {
      signal?.throwIfAborted();
      try {
        await pause(retryAfterMs);
        return await this.#stored.append(this.#position, bytes, signal);
      } catch (cause) {
        throw this.#uncertain(cause, error);
      }
    }
  }

  async #fetch(signal: AbortSignal | undefined): Promise<void> {
    for await (const bytes of this.#stored.read(this.#position, signal)) this.#keep(bytes);
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

  #uncertain(cause: unknown, first: unknown): BranchlogError {
    const { name } = this.#stored;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message =
      `The store did not answer twice whether it has what was appended to ${name} (${reason}). ` +
      "Append again with the same ids once it answers: what is there is not stored twice.";
    return new BranchlogError("ERR_APPEND_UNCERTAIN", message, { id: name, cause: cause ?? first });
  }

  #overtaken(): BranchlogError {
    const { name } = this.#stored;
    const message =
      `Others appended to ${name} first, ${commitConflictsMax} times; nothing of this was ` +
      "stored. Append again.";
    return new BranchlogError("ERR_APPEND_FAILED", message, { id: name });
  }
}

/** Long enough for a connection to be opened again. */
const retryAfterMs = 50;
