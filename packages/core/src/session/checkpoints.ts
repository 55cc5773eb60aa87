/**
 * Keeps the checkpoint of one log: takes it up when the log is opened, and saves another one once
 * the log has gone far enough past it. That happens while nothing else does, in pieces; at the
 * latest when the session is closed or the process exits. Saving may fail without anybody being
 * told: all that is lost is time at the next opening.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  CheckpointWrite,
  checkpointPath,
  loadCheckpoint,
  loadCheckpointSync,
} from "../checkpoint/checkpoint-file.ts";
import { checkpointIdleMs } from "../limits.ts";
import { atExit } from "../store/exit-work.ts";
import type { FileStat } from "../store/ports.ts";
import type { EngineSettings } from "./engine-options.ts";
import type { ChangeSignal } from "./change-signal.ts";
import { restoreState, statePieces } from "./log-checkpoint.ts";
import type { Checkpoint } from "./log-checkpoint.ts";
import type { LogState } from "./log-state.ts";

/** What checkpoints are kept with. */
export type CheckpointSettings = Pick<
  EngineSettings,
  "access" | "checkpoint" | "checkpointDir" | "checkpointEveryBytes" | "ports"
>;

/** The log, as it is now. */
export interface CheckpointedLog {
  readonly path: string;
  readonly state: LogState;
}

/** See the file comment. */
export class Checkpoints {
  readonly #settings: CheckpointSettings;
  readonly #log: CheckpointedLog;
  readonly #changes: ChangeSignal;
  /** How much of which state is saved. */
  #saved: { readonly state: LogState; readonly end: number } | undefined;
  #isScheduled = false;
  #isClosed = false;
  #hasFailed = false;
  #write: CheckpointWrite | undefined;
  #stopAtExit: (() => void) | undefined;

  constructor(settings: CheckpointSettings, log: CheckpointedLog, changes: ChangeSignal) {
    this.#settings = settings;
    this.#log = log;
    this.#changes = changes;
  }

  /** A state that goes on from the checkpoint of its log, if there is one. */
  restoreSync(makeState: () => LogState, stat: FileStat): LogState {
    const { checkpoint, ports } = this.#settings;
    if (checkpoint === "off") return makeState();
    return this.#restored(makeState, stat, loadCheckpointSync(ports.fs, this.#path));
  }

  /** As {@link Checkpoints.restoreSync}, without blocking for long. */
  async restore(makeState: () => LogState, stat: FileStat): Promise<LogState> {
    const { checkpoint, ports } = this.#settings;
    if (checkpoint === "off") return makeState();
    return this.#restored(makeState, stat, await loadCheckpoint(ports.fs, this.#path));
  }

  /** Takes note that the log was read or has grown. O(1). */
  progressed(): void {
    if (this.#isScheduled || this.#isClosed || !this.#isDue) return;
    this.#isScheduled = true;
    // Until then this is kept, also if its owner is not.
    this.#stopAtExit ??= atExit(() => this.saveSync());
    const { version } = this.#changes;
    setTimeout(() => void this.#saveIfIdle(version), checkpointIdleMs).unref();
  }

  /** Saves another one if the log has gone far enough, blocking. Throws nothing. */
  saveSync(): void {
    const steps = this.#saving();
    while (steps.next().done !== true);
  }

  /** The same in turns; not, if anything changes meanwhile. */
  async save(): Promise<void> {
    const steps = this.#saving();
    while (steps.next().done !== true) await nextTurn();
  }

  /** Saves what is to be saved, for the last time. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.save();
    this.#leaveExit();
  }

  /** Whoever is busy is left alone: the close, or the exit, will do. */
  async #saveIfIdle(version: number): Promise<void> {
    this.#isScheduled = false;
    if (version === this.#changes.version) {
      await this.save();
      // Else again after the next change: there is nothing to be saved now, or not so.
      if (version === this.#changes.version) return this.#leaveExit();
    }
    this.progressed();
  }

  #leaveExit(): void {
    this.#stopAtExit?.();
    this.#stopAtExit = undefined;
  }

  get #path(): string {
    return checkpointPath(this.#log.path, this.#settings.checkpointDir);
  }

  get #isDue(): boolean {
    const { access, checkpoint, checkpointEveryBytes } = this.#settings;
    if (checkpoint !== "auto" || access === "read" || this.#hasFailed) return false;
    const { state } = this.#log;
    const end = this.#saved?.state === state ? this.#saved.end : 0;
    return state.end - end >= checkpointEveryBytes;
  }

  #restored(makeState: () => LogState, stat: FileStat, loaded: unknown): LogState {
    if (loaded === undefined) return makeState();
    const state = makeState();
    try {
      // Decoding boundary: what has the mark, the version and the checksum was written here.
      if (restoreState(state, loaded as Checkpoint, stat)) {
        this.#saved = { state, end: state.end };
        return state;
      }
    } catch {
      // Half of a checkpoint is worse than none.
    }
    return makeState();
  }

  /** Pauses between the pieces; ends without a result if anything has changed by then. */
  *#saving(): Generator<void, void, undefined> {
    if (!this.#isDue) return;
    this.#abandon();
    const { state } = this.#log;
    const { version } = this.#changes;
    let write: CheckpointWrite | undefined;
    try {
      const pieces = statePieces(state);
      if (pieces === null) return;
      write = new CheckpointWrite(this.#settings.ports, this.#path);
      this.#write = write;
      for (const piece of pieces) {
        write.add(piece);
        yield;
        if (this.#changes.version !== version || this.#write !== write) return;
      }
      this.#write = undefined;
      write.finish();
      this.#saved = { state, end: state.end };
    } catch {
      this.#hasFailed = true;
    } finally {
      // Another one may have begun while this one paused.
      if (write === this.#write) this.#abandon();
    }
  }

  #abandon(): void {
    const write = this.#write;
    this.#write = undefined;
    try {
      write?.abandon();
    } catch {
      // What cannot be closed or removed stays.
    }
  }
}
