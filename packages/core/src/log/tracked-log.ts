/**
 * Follows a log through its generations: reads on from its cursor, and indexes the log again once
 * its file was replaced, truncated or rewritten.
 */
import { portStep, runSync } from "@branchlog/streaming";
import type { Steps } from "@branchlog/streaming";
import type { SessionOwner } from "../dialects/agent.ts";
import { BranchlogError } from "../errors.ts";
import { DamagedCheckpoint } from "../index-table/log-indexer.ts";
import type { LogFile } from "../platform/log-file.ts";
import type { StoredLog } from "../store/log-store.ts";
import { isSameFile } from "../platform/ports.ts";
import { isSameState } from "../platform/ports.ts";
import type { FileStat } from "../platform/ports.ts";
import { commitToFile } from "./commit.ts";
import type { CommitLog, CommitOutcome, CommitWork } from "./commit.ts";
import type { LinePlan, LogInFile, PlannedLine } from "./line-plan.ts";
import { requireFile, requireHeader } from "./log-checks.ts";
import { LogState } from "./log-state.ts";
import type { ReadOptions } from "./log-state.ts";

const readAttemptsMax = 3;

/** Makes a state from the checkpoint of the log that has `stat`, or an empty one. */
export interface StateRestorer {
  restore(makeState: () => LogState, stat: FileStat): Steps<LogState>;
}

export class TrackedLog implements CommitLog, LogInFile {
  readonly stored?: StoredLog;
  readonly #options: ReadOptions;
  readonly #onChange: () => void;
  #state: LogState;
  #stat: FileStat | undefined;
  #generation = 1;
  #ownRows: number[] = [];

  constructor(file: LogFile, options: ReadOptions, onChange: () => void = () => undefined) {
    this.#options = options;
    this.#onChange = onChange;
    this.#state = new LogState(file, options, onChange);
  }

  get file(): LogFile {
    return this.#state.file;
  }

  /** Whether the state may be saved with the end of the log. */
  get isSettled(): boolean {
    return true;
  }

  get state(): LogState {
    return this.#state;
  }

  get path(): string {
    return this.file.path;
  }

  /** The only agent that writes it; undefined if sessions of ours may. */
  get owner(): SessionOwner | undefined {
    return this.#state.indexer.format ?? this.stored?.owner;
  }

  get end(): number {
    return this.#state.end;
  }

  get isTerminated(): boolean {
    return this.#state.isTerminated;
  }

  /** Counts from 1; incremented for each new generation. */
  get generation(): number {
    return this.#generation;
  }

  get stat(): FileStat | undefined {
    return this.#stat;
  }

  get size(): number {
    return this.#stat?.size ?? 0;
  }

  open(saved?: StateRestorer): Steps<void> {
    return this.#read(() => requireFile(this.path, this.statSync()), saved);
  }

  /** The old state stays in force until the new one is complete. */
  *#read(statNow: () => FileStat, saved?: StateRestorer): Steps<void> {
    for (let attempt = 1; ; attempt += 1) {
      const stat = statNow();
      try {
        const make = (): LogState => this.#newState(stat);
        const state = attempt === 1 && saved ? yield* saved.restore(make, stat) : make();
        yield* state.read(stat.size);
        return this.#finish(state, stat);
      } catch (error) {
        const isAgain = isReplaced(error) || error instanceof DamagedCheckpoint;
        if (!isAgain || attempt >= readAttemptsMax) throw error;
      }
    }
  }

  /**
   * Reads appended bytes, or everything if the log is another one. Throws `ERR_LOG_GONE`, and the
   * errors of `requireHeader` for a new generation.
   */
  *catchUp(): Steps<void> {
    yield portStep("stat");
    const stat = this.#statNow();
    // A file written in place twice within a tick of its clock has the same status.
    if (this.#isUnchanged(stat) && this.#hasSameSlot()) return;
    yield portStep("read");
    if (!this.#readOn(stat)) this.#startOver();
    this.#onChange();
  }

  commit<Plan extends LinePlan>(work: CommitWork<Plan>): Steps<CommitOutcome<Plan>> {
    return commitToFile(this, work);
  }

  statSync(): FileStat | null {
    return this.file.statSync();
  }

  writeSync(bytes: Buffer): number {
    return this.file.appendSync(bytes);
  }

  /** Indexes bytes written at `end` without reading them. */
  adopt(bytes: Buffer, stat: FileStat, lines: readonly PlannedLine[]): void {
    const { end } = this.#state;
    let firstRow: number;
    try {
      firstRow = this.#state.adopt(bytes);
    } catch (error) {
      if (!(error instanceof DamagedCheckpoint)) throw error;
      this.#reread();
      firstRow = this.#state.index.rows.firstFrom(end);
    }
    const { bodies, index } = this.#state;
    for (let row = firstRow; row < index.count; row += 1) this.#ownRows.push(row);
    const areRows = index.count - firstRow === lines.length;
    for (const [at, { id, entry }] of lines.entries()) {
      if (entry !== undefined) bodies.keep(areRows ? firstRow + at : index.rowOfId(id), entry);
    }
    this.#remember(stat);
    this.#onChange();
  }

  /** Rereads the log as the same generation in a new form. */
  reloadMigrated(): void {
    this.#reread();
    this.#onChange();
  }

  /** Whether this is the file that was read, with `bytes` more at its end. */
  grewBy(stat: FileStat, bytes: number): boolean {
    const isSame = this.#stat !== undefined && isSameFile(stat, this.#stat);
    return isSame && stat.size === this.#state.end + bytes;
  }

  /** Whether the entry of that id is exactly this line, or all but its newline. */
  holds(id: string, line: Buffer): "no" | "unknown" | "unterminated" | "yes" {
    const { index, bodies, pendingRow } = this.#state;
    const row = index.rowOfId(id);
    if (row < 0 || index.rows.length(row) !== line.length - 1) return "no";
    try {
      if (!bodies.lineSync(row).equals(line.subarray(0, -1))) return "no";
    } catch {
      return "unknown";
    }
    return row === pendingRow ? "unterminated" : "yes";
  }

  offsetOf(id: string): number {
    const { index } = this.#state;
    const row = index.rowOfId(id);
    return row < 0 ? -1 : index.rows.offset(row);
  }

  #newState(stat: FileStat): LogState {
    return new LogState(this.file.adopted(stat), this.#options, this.#onChange);
  }

  #finish(state: LogState, stat: FileStat): void {
    requireHeader(state.file, state.indexer, stat.size);
    state.readTitleSlot();
    this.#state = state;
    this.#remember(stat);
  }

  #isUnchanged(stat: FileStat): boolean {
    return this.#stat !== undefined && isSameState(stat, this.#stat);
  }

  /** False also if the file was replaced after its `stat`. */
  #hasSameSlot(): boolean {
    try {
      return this.#state.hasSameTitleSlot();
    } catch (error) {
      if (isReplaced(error)) return false;
      throw error;
    }
  }

  #remember(stat: FileStat): void {
    this.#stat = stat;
    this.#state.remember(stat);
  }

  #readOn(stat: FileStat): boolean {
    try {
      if (!this.#state.confirm(stat)) return false;
      // Not as own steps: nothing waits while the lock is held.
      runSync(this.#state.read(stat.size));
      if (this.#state.isBroken) return false;
      this.#remember(stat);
      return true;
    } catch (error) {
      if (isReplaced(error)) return false;
      if (!(error instanceof DamagedCheckpoint)) throw error;
      this.#reread();
      return true;
    }
  }

  /** Indexes another log from the start, and reports which own entries it no longer holds. */
  #startOver(): void {
    const { index } = this.#state;
    const ownIds = this.#ownRows.map((row) => index.idOf(row));
    this.#reread();
    this.#generation += 1;
    const { indexer } = this.#state;
    this.#ownRows = [];
    for (const id of ownIds) {
      const row = indexer.index.rowOfId(id);
      if (row >= 0) this.#ownRows.push(row);
      else {
        const reason = "this session appended it; another program replaced or rewrote the log";
        indexer.diagnostics.add({ kind: "lost-entries", reason, id });
      }
    }
  }

  #reread(): void {
    runSync(this.#read(() => this.#statNow()));
  }

  #statNow(): FileStat {
    const stat = this.file.statSync();
    if (stat !== null) return stat;
    const { path } = this.file;
    const message =
      `${path} no longer exists: it was deleted or moved while open. Nothing was written, or ` +
      "created in its place. Call recover() to write it back, or open another session.";
    throw new BranchlogError("ERR_LOG_GONE", message, { path });
  }
}

function isReplaced(error: unknown): boolean {
  return error instanceof BranchlogError && error.code === "ERR_LOG_GONE";
}
