/**
 * Keeps the promise of one session about what its acknowledgements mean: nothing more to do (`os`),
 * a sync before each (`disk`), or one within some time. After a failed sync nobody knows what the
 * device has: the session writes nothing more until what it wrote was written again, or it was
 * opened anew. Which entries are meant, it remembers.
 */
import { BranchlogError } from "../errors.ts";
import { unsyncedEntriesMax } from "../limits.ts";
import { diskSyncOf } from "../store/disk-sync.ts";
import type { DiskSync } from "../store/disk-sync.ts";
import type { LogFile } from "../store/log-file.ts";
import type { Clock, FileSystem, Ports } from "../store/ports.ts";
import type { Durability } from "./engine-options.ts";
import type { TrackedLog } from "./tracked-log.ts";

/** See the file comment. */
export class LogDurability {
  readonly mode: Durability;
  readonly #log: TrackedLog;
  readonly #fs: FileSystem;
  readonly #clock: Clock;
  #file: LogFile | undefined;
  #sync: DiskSync | undefined;
  /** Failed syncs that are not held against this session. */
  #failuresBefore = 0;
  /** What was written and is not known to be on the device, in order. */
  #unsynced: string[] = [];
  #writtenCount = 0;
  #syncedCount = 0;
  /** When the oldest of these was written. */
  #sinceMs = 0;
  #isScheduled = false;

  constructor(mode: Durability, log: TrackedLog, { fs, clock }: Pick<Ports, "fs" | "clock">) {
    this.mode = mode;
    this.#log = log;
    this.#fs = fs;
    this.#clock = clock;
  }

  /** Ids that were appended and are not known to be on the device, in order. Empty for `os`. */
  get unsyncedIds(): readonly string[] {
    return this.#unsynced;
  }

  /** Whether a sync failed that was to bring these onto the device. */
  get isInDoubt(): boolean {
    if (this.#unsynced.length === 0) return false;
    return this.#diskSync().failures > this.#failuresBefore;
  }

  /** Whether the next write must begin with a newline, as the disk may not have the last one. */
  get needsFence(): boolean {
    return this.mode !== "os" && this.#diskSync().hasLooseEnd;
  }

  /** Throws `ERR_DURABILITY_UNKNOWN` after a failed sync. */
  requireKnown(): void {
    if (!this.isInDoubt) return;
    const { path } = this.#log;
    throw new BranchlogError(
      "ERR_DURABILITY_UNKNOWN",
      `Earlier appends to ${path} could not be brought onto the disk; nothing was written. ` +
        "Call recover(), or open the session anew.",
      { path },
    );
  }

  /** The error for entries that are in the log, and perhaps not on the device. */
  unknown(landed: readonly string[], cause: unknown): BranchlogError {
    const { path } = this.#log;
    const reason = cause instanceof Error ? cause.message : String(cause);
    return new BranchlogError(
      "ERR_DURABILITY_UNKNOWN",
      `What was appended to ${path} is in the log, but could not be brought onto the disk ` +
        `(${reason}): a loss of power may lose it. Mend the cause and call recover().`,
      { path, landed, cause },
    );
  }

  /**
   * Takes note of what was written. The promise tells when it is as durable as was promised;
   * undefined: it is. Must be called before anybody else can use the file's descriptor.
   */
  wrote(ids: readonly string[]): Promise<void> | undefined {
    if (this.mode === "os") return undefined;
    this.#note(ids);
    if (this.mode === "disk") return this.#synced();
    if (this.#unsynced.length >= unsyncedEntriesMax) return this.#synced();
    this.#schedule(this.mode.intervalMs);
    return undefined;
  }

  /** As {@link LogDurability.wrote}, blocking. Throws what the file system throws. */
  wroteSync(ids: readonly string[]): void {
    if (this.mode === "os") return;
    this.#note(ids);
    if (this.mode === "disk" || this.#isOverdue(this.mode.intervalMs)) this.#syncNow();
    else this.#schedule(this.mode.intervalMs);
  }

  /** Brings onto the device what is not on it yet. Throws `ERR_DURABILITY_UNKNOWN`. */
  async flush(): Promise<void> {
    if (this.#unsynced.length === 0) return;
    try {
      await this.#synced();
    } catch (error) {
      throw this.unknown(this.#unsynced, error);
    }
    if (this.isInDoubt) throw this.unknown(this.#unsynced, "an earlier sync failed");
  }

  /** Syncs what was left in doubt and has been written again; the doubt ends if that works. */
  async settleDoubt(): Promise<void> {
    const sync = this.#diskSync();
    sync.fenceOff();
    const upTo = this.#writtenCount;
    await sync.sync();
    this.#failuresBefore = sync.failures;
    this.#confirm(upTo);
  }

  #note(ids: readonly string[]): void {
    const sync = this.#diskSync();
    if (ids.length > 0) sync.fenceOff();
    if (this.#unsynced.length === 0) {
      this.#sinceMs = this.#clock.monotonicMs();
      this.#failuresBefore = sync.failures;
    }
    for (const id of ids) this.#unsynced.push(id);
    this.#writtenCount += ids.length;
  }

  /** A timer cannot help a caller who blocks. */
  #isOverdue(intervalMs: number): boolean {
    const ageMs = this.#clock.monotonicMs() - this.#sinceMs;
    return ageMs >= intervalMs || this.#unsynced.length >= unsyncedEntriesMax;
  }

  async #synced(): Promise<void> {
    const upTo = this.#writtenCount;
    const sync = this.#diskSync();
    await sync.sync();
    if (sync === this.#sync) this.#confirm(upTo);
  }

  #syncNow(): void {
    const upTo = this.#writtenCount;
    this.#diskSync().syncSync();
    this.#confirm(upTo);
  }

  /** A sync that succeeds after one that failed says nothing of what the failed one was to do. */
  #confirm(upTo: number): void {
    if (this.isInDoubt || upTo <= this.#syncedCount) return;
    this.#unsynced.splice(0, upTo - this.#syncedCount);
    this.#syncedCount = upTo;
    this.#sinceMs = this.#clock.monotonicMs();
  }

  /** A failure is counted where it happens; the next append tells of it. */
  #schedule(intervalMs: number): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const work = async (): Promise<void> => {
      await this.#clock.sleep(intervalMs);
      this.#isScheduled = false;
      if (this.#unsynced.length > 0) await this.#synced();
    };
    this.#diskSync()
      .keepOpen(work)
      .catch(() => (this.#isScheduled = false));
  }

  /** That of the file as it is now: a log that was replaced has nothing of ours to sync. */
  #diskSync(): DiskSync {
    const { file, stat } = this.#log;
    if (this.#sync !== undefined && file === this.#file) return this.#sync;
    if (stat === undefined) throw new Error(`${file.path} was not opened`);
    const sync = diskSyncOf(this.#fs, file, stat);
    this.#file = file;
    this.#sync = sync;
    this.#failuresBefore = sync.failures;
    this.#unsynced = [];
    this.#syncedCount = this.#writtenCount;
    return sync;
  }
}
