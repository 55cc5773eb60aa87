/**
 * Brings what was appended to one file onto its device. One sync serves all callers that asked
 * before it began; while it runs, writing continues, and callers that ask meanwhile share the next
 * one. The system reports a failed sync once and drops what it could not write. So the failure is
 * kept here, with the ids it concerns, for all sessions of this process: until these entries are
 * written again, a later sync that succeeds proves nothing about them.
 */
import type { LogFile } from "./log-file.ts";
import { nodeFileSystem } from "./node-file-system.ts";
import type { FileStat, FileSystem } from "./ports.ts";

/** See the file comment. */
export class DiskSync {
  readonly #file: LogFile;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #failures = 0;
  #tailMayBeTorn = false;
  #isInDoubt = false;
  #unsynced: string[] = [];
  /** How many ids were ever taken note of, and how many of them are on the device. */
  #notedCount = 0;
  #syncedCount = 0;
  #sinceMs = 0;

  /** @param file Appends to it must go through the same pool of descriptors. */
  constructor(file: LogFile) {
    this.#file = file;
  }

  /**
   * Ids that callers rely on and that are not known to be on the device, in the order of their
   * notes.
   */
  get unsyncedIds(): readonly string[] {
    return this.#unsynced;
  }

  /** When the oldest of these was taken note of, or the others were synced, in monotonic time. */
  get sinceMs(): number {
    return this.#sinceMs;
  }

  /** Whether a sync failed that was to bring these onto the device. */
  get isInDoubt(): boolean {
    return this.#isInDoubt;
  }

  /** Whether what precedes the next write may be gone from the disk, its newline included. */
  get tailMayBeTorn(): boolean {
    return this.#tailMayBeTorn;
  }

  /** Takes note that a newline was written before the next line. */
  separate(): void {
    this.#tailMayBeTorn = false;
  }

  /**
   * Takes note of entries that are in the file, or perhaps are, and are to be on the device. To be
   * called before another caller can use the file's descriptor.
   */
  note(ids: readonly string[], nowMs: number): void {
    if (this.#unsynced.length === 0) this.#sinceMs = nowMs;
    for (const id of ids) this.#unsynced.push(id);
    this.#notedCount += ids.length;
  }

  /**
   * Resolves once everything that was noted before this call is on the device.
   * @throws What the file system throws, to all callers that wait by then; or that this is in
   * doubt.
   */
  async sync(nowMs: () => number): Promise<void> {
    const upTo = this.#notedCount;
    await this.#shared();
    this.#requireNoDoubt();
    this.#confirm(upTo, nowMs());
  }

  /** As {@link DiskSync.sync}, blocking. */
  syncSync(nowMs: number): void {
    const upTo = this.#notedCount;
    try {
      this.#file.syncSync();
    } catch (error) {
      this.#fail();
      throw error;
    }
    this.#requireNoDoubt();
    // The sync under way may have been told of a failure that concerns these as well.
    if (this.#running === undefined) this.#confirm(upTo, nowMs);
  }

  /** Syncs what was in doubt and has been written again. The doubt ends if that works. */
  async settle(nowMs: () => number): Promise<void> {
    const upTo = this.#notedCount;
    await this.#shared();
    this.#isInDoubt = false;
    doubted.delete(this);
    this.#confirm(upTo, nowMs());
  }

  /** Keeps the file open meanwhile: one that is opened anew knows nothing of earlier failures. */
  keepOpen<T>(work: () => Promise<T>): Promise<T> {
    return this.#file.keepOpen(work);
  }

  #shared(): Promise<void> {
    this.#next ??= this.#begin();
    return this.#next;
  }

  /** A sync that begins once the one under way has ended. */
  async #begin(): Promise<void> {
    const before = this.#running;
    const failures = this.#failures;
    let hasStarted = false;
    const start = (): void => {
      [this.#running, this.#next] = [this.#next, undefined];
      hasStarted = true;
    };
    try {
      await this.#file.keepOpen(async () => {
        // If that one fails, its waiters get the error. One event-loop iteration for more callers.
        await before?.catch(() => undefined);
        start();
        await this.#file.sync();
      });
    } catch (error) {
      this.#fail();
      throw error;
    } finally {
      if (hasStarted) this.#running = undefined;
      else this.#next = undefined;
    }
    // Another sync was told of a failure, which may have been that of our bytes.
    if (this.#failures !== failures) throw new Error("an earlier sync of the file failed");
  }

  #requireNoDoubt(): void {
    if (this.#isInDoubt) throw new Error("an earlier sync of the file failed");
  }

  #confirm(upTo: number, nowMs: number): void {
    if (upTo <= this.#syncedCount) return;
    this.#unsynced.splice(0, upTo - this.#syncedCount);
    this.#syncedCount = upTo;
    this.#sinceMs = nowMs;
  }

  #fail(): void {
    this.#failures += 1;
    this.#tailMayBeTorn = true;
    if (this.#unsynced.length === 0) return;
    this.#isInDoubt = true;
    doubted.add(this);
  }
}

/** What is in doubt stays so though its sessions are gone. */
const doubted = new Set<DiskSync>();

type Syncs = Map<string, WeakRef<DiskSync>>;

// Through the registry of symbols, as two copies of this package in one process share descriptors.
// The number changes when the methods of the class do.
const sharedKey: unique symbol = Symbol.for("branchlog.disk-syncs.2");
const registry: Pick<typeof globalThis, "Symbol"> & { [sharedKey]?: Syncs } = globalThis;
const syncsByFileSystem = new WeakMap<FileSystem, Syncs>();
const forgotten = new FinalizationRegistry<() => void>((forget) => forget());

/** The one that all appenders to this file in this process share. */
export function diskSyncOf(fs: FileSystem, file: LogFile, { dev, ino }: FileStat): DiskSync {
  const syncs = syncsOf(fs);
  const key = `${dev}:${ino}:${file.path}`;
  const known = syncs.get(key)?.deref();
  if (known !== undefined) return known;
  const sync = new DiskSync(file);
  const weak = new WeakRef(sync);
  syncs.set(key, weak);
  forgotten.register(sync, () => {
    if (syncs.get(key) === weak) syncs.delete(key);
  });
  return sync;
}

function syncsOf(fs: FileSystem): Syncs {
  if (fs === nodeFileSystem) return (registry[sharedKey] ??= new Map());
  const known = syncsByFileSystem.get(fs);
  if (known !== undefined) return known;
  const syncs: Syncs = new Map();
  syncsByFileSystem.set(fs, syncs);
  return syncs;
}
