/**
 * Brings what was appended to one file onto its device. One sync serves everybody who asked before
 * it began; while it runs, writing goes on, and those who ask meanwhile share the next one. The
 * system tells of a failed sync once and forgets what it could not write, so failures are counted
 * here, for all who share the file's descriptor: whoever asks later must not take silence for yes,
 * nor write on the line that may be missing its end on the disk.
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
  #hasLooseEnd = false;

  /** @param file Appends to it must go through the same pool of descriptors. */
  constructor(file: LogFile) {
    this.#file = file;
  }

  /** How many syncs have failed so far. */
  get failures(): number {
    return this.#failures;
  }

  /** Whether what stands before the next write may be gone from the disk, its newline included. */
  get hasLooseEnd(): boolean {
    return this.#hasLooseEnd;
  }

  /** Takes note that a newline was written before the next line. */
  fenceOff(): void {
    this.#hasLooseEnd = false;
  }

  /**
   * Resolves once everything that was written before this call is on the device.
   * @throws What the file system throws, to everybody who waits by then.
   */
  sync(): Promise<void> {
    this.#next ??= this.#begin();
    return this.#next;
  }

  /** As {@link DiskSync.sync}, blocking. */
  syncSync(): void {
    try {
      this.#file.syncSync();
    } catch (error) {
      this.#fail();
      throw error;
    }
  }

  /** Keeps the file open meanwhile: one that is opened anew knows nothing of earlier failures. */
  keepOpen<T>(work: () => Promise<T>): Promise<T> {
    return this.#file.keepOpen(work);
  }

  /** A sync that begins once the one under way has ended. */
  async #begin(): Promise<void> {
    const before = this.#running;
    const failures = this.#failures;
    let hasStarted = false;
    const start = (): void => {
      if (!hasStarted) [this.#running, this.#next] = [this.#next, undefined];
      hasStarted = true;
    };
    try {
      await this.#file.keepOpen(async () => {
        // If that one fails, those who waited for it are told. And one turn for who joins.
        await before?.catch(() => undefined);
        start();
        await this.#file.sync();
      });
    } catch (error) {
      start();
      this.#fail();
      throw error;
    }
    // Another sync was told of a failure, which may have been that of our bytes.
    if (this.#failures !== failures) throw new Error("an earlier sync of the file failed");
  }

  #fail(): void {
    this.#failures += 1;
    this.#hasLooseEnd = true;
  }
}

type Syncs = Map<string, WeakRef<DiskSync>>;

// Through the registry of symbols, as two copies of this package in one process share descriptors.
// The number changes when the methods of the class do.
const sharedKey: unique symbol = Symbol.for("branchlog.disk-syncs.1");
const registry: Pick<typeof globalThis, "Symbol"> & { [sharedKey]?: Syncs } = globalThis;
const syncsByFileSystem = new WeakMap<FileSystem, Syncs>();
const forgotten = new FinalizationRegistry<() => void>((forget) => forget());

/** The one that everybody shares who appends to this file in this process. */
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
