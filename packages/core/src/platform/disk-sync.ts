/**
 * Syncs one file for all its appenders in this process. One sync serves all callers that asked
 * before it began; later ones share the next. The system reports a failed sync once and drops what
 * it could not write, so the failure is recorded here with the affected ids: until these entries
 * are written again, a later successful sync proves nothing about them.
 */
import type { LogFile } from "./log-file.ts";
import { nodeFileSystem } from "./node-file-system.ts";
import { onePerPort } from "./ports.ts";
import type { FileStat, FileSystem } from "./ports.ts";

/** Appends to the file must go through the same pool of descriptors. */
export class DiskSync {
  readonly #file: LogFile;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #failures = 0;
  #tailMayBeTorn = false;
  #isInDoubt = false;
  #unsynced: string[] = [];
  #notedCount = 0;
  #syncedCount = 0;
  #sinceMs = 0;

  constructor(file: LogFile) {
    this.#file = file;
  }

  get unsyncedIds(): readonly string[] {
    return this.#unsynced;
  }

  /** When the oldest unsynced id was noted, or the others were synced, in monotonic time. */
  get sinceMs(): number {
    return this.#sinceMs;
  }

  get isInDoubt(): boolean {
    return this.#isInDoubt;
  }

  /** Whether bytes before the next write may be missing on the device, their newline included. */
  get tailMayBeTorn(): boolean {
    return this.#tailMayBeTorn;
  }

  separate(): void {
    this.#tailMayBeTorn = false;
  }

  /** Call it before another caller can use the file's descriptor. */
  note(ids: readonly string[], nowMs: number): void {
    if (this.#unsynced.length === 0) this.#sinceMs = nowMs;
    for (const id of ids) this.#unsynced.push(id);
    this.#notedCount += ids.length;
  }

  /** Resolves once all noted ids are synced. Rejects for all waiters on failure. */
  async sync(nowMs: () => number): Promise<void> {
    const upTo = this.#notedCount;
    await this.#shared();
    this.#requireNoDoubt();
    this.#confirm(upTo, nowMs());
  }

  syncSync(nowMs: number): void {
    const upTo = this.#notedCount;
    try {
      this.#file.syncSync();
    } catch (error) {
      this.#fail();
      throw error;
    }
    this.#requireNoDoubt();
    // A sync under way may have received a failure that concerns these as well.
    if (this.#running === undefined) this.#confirm(upTo, nowMs);
  }

  /** Syncs rewritten entries; the doubt ends if that succeeds. */
  async settle(nowMs: () => number): Promise<void> {
    const upTo = this.#notedCount;
    await this.#shared();
    this.#isInDoubt = false;
    doubted.delete(this);
    this.#confirm(upTo, nowMs());
  }

  /** Holds the file open meanwhile: a new descriptor does not report earlier failures. */
  keepOpen<T>(work: () => Promise<T>): Promise<T> {
    return this.#file.keepOpen(work);
  }

  #shared(): Promise<void> {
    this.#next ??= this.#begin();
    return this.#next;
  }

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
    // Another sync received a failure, which may concern our bytes.
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

/** Unsynced state persists after the sessions that wrote it. */
const doubted = new Set<DiskSync>();

const syncsOf: (fs: FileSystem) => Map<string, WeakRef<DiskSync>> = onePerPort(
  nodeFileSystem,
  "branchlog.disk-syncs.2",
  () => new Map(),
);
const forgotten = new FinalizationRegistry<() => void>((forget) => forget());

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
