/**
 * The durability of one session's acknowledgements. After a failed sync the content of the device
 * is unknown: sessions of this process with more than `os` refuse to write until the unsynced
 * entries were written again.
 */
import { BranchlogError } from "../errors.ts";
import { unsyncedEntriesMax } from "../limits.ts";
import { diskSyncOf } from "../platform/disk-sync.ts";
import type { DiskSync } from "../platform/disk-sync.ts";
import type { LogFile } from "../platform/log-file.ts";
import type { Clock, FileSystem, Ports } from "../platform/ports.ts";
import type { Durability } from "./engine-options.ts";
import type { TrackedLog } from "./tracked-log.ts";

export class LogDurability {
  readonly mode: Durability;
  readonly #log: TrackedLog;
  readonly #fs: FileSystem;
  readonly #clock: Clock;
  readonly #nowMs: () => number;
  #file: LogFile | undefined;
  #sync: DiskSync | undefined;
  #isScheduled = false;

  constructor(mode: Durability, log: TrackedLog, { fs, clock }: Pick<Ports, "fs" | "clock">) {
    this.mode = mode;
    this.#log = log;
    this.#fs = fs;
    this.#clock = clock;
    this.#nowMs = () => clock.monotonicMs();
  }

  get unsyncedIds(): readonly string[] {
    return this.mode === "os" ? [] : this.#diskSync().unsyncedIds;
  }

  get isInDoubt(): boolean {
    return this.mode !== "os" && this.#diskSync().isInDoubt;
  }

  /** Whether the next write must begin with a newline: the device may lack the last one. */
  get needsSeparator(): boolean {
    return this.mode !== "os" && this.#diskSync().tailMayBeTorn;
  }

  requireKnown(): void {
    if (!this.isInDoubt) return;
    const { path } = this.#log;
    throw new BranchlogError(
      "ERR_DURABILITY_UNKNOWN",
      `Earlier appends to ${path} could not be synced to disk; nothing was written. ` +
        "Call recover(), which appends them again.",
      { path },
    );
  }

  /** For entries that are in the log, and perhaps not on the device. */
  unknown(written: readonly string[], cause: unknown): BranchlogError {
    const { path } = this.#log;
    const reason = cause instanceof Error ? cause.message : String(cause);
    return new BranchlogError(
      "ERR_DURABILITY_UNKNOWN",
      `The entries appended to ${path} are in the log, but could not be synced to disk ` +
        `(${reason}): a power failure may lose them. Fix the cause and call recover().`,
      { path, written: [...written], cause },
    );
  }

  /**
   * Call it before another caller can use the file's descriptor. Resolves once the entries are as
   * durable as promised; undefined: they are.
   */
  wrote(ids: readonly string[], hasWritten: boolean): Promise<void> | undefined {
    if (this.mode === "os") return undefined;
    const sync = this.#note(ids, hasWritten);
    if (this.mode === "disk" || sync.unsyncedIds.length >= unsyncedEntriesMax) {
      return sync.sync(this.#nowMs);
    }
    this.#schedule(this.mode.intervalMs);
    return undefined;
  }

  wroteSync(ids: readonly string[], hasWritten: boolean): void {
    if (this.mode === "os") return;
    const sync = this.#note(ids, hasWritten);
    if (this.mode === "disk" || this.#isOverdue(sync, this.mode.intervalMs)) {
      sync.syncSync(this.#nowMs());
    } else {
      this.#schedule(this.mode.intervalMs);
    }
  }

  async flush(): Promise<void> {
    const ids = this.unsyncedIds;
    if (ids.length === 0) return;
    try {
      await this.#diskSync().sync(this.#nowMs);
    } catch (error) {
      throw this.unknown(ids, error);
    }
  }

  async settleDoubt(): Promise<void> {
    const sync = this.#diskSync();
    sync.separate();
    await sync.settle(this.#nowMs);
  }

  #note(ids: readonly string[], hasWritten: boolean): DiskSync {
    const sync = this.#diskSync();
    if (hasWritten) sync.separate();
    sync.note(ids, this.#nowMs());
    return sync;
  }

  /** A timer does not run while a caller blocks. */
  #isOverdue({ sinceMs, unsyncedIds }: DiskSync, intervalMs: number): boolean {
    return this.#nowMs() - sinceMs >= intervalMs || unsyncedIds.length >= unsyncedEntriesMax;
  }

  /** A failure stays recorded in the sync; the next append reports it. */
  #schedule(intervalMs: number): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const sync = this.#diskSync();
    const work = async (): Promise<void> => {
      await this.#clock.sleep(intervalMs);
      this.#isScheduled = false;
      if (sync.unsyncedIds.length > 0) await sync.sync(this.#nowMs);
    };
    sync.keepOpen(work).catch(() => (this.#isScheduled = false));
  }

  /** A replaced log has nothing of ours to sync. */
  #diskSync(): DiskSync {
    const { file, stat } = this.#log;
    if (this.#sync !== undefined && file === this.#file) return this.#sync;
    if (stat === undefined) throw new Error(`${file.path} was not opened`);
    this.#file = file;
    this.#sync = diskSyncOf(this.#fs, file, stat);
    return this.#sync;
  }
}
