/**
 * A file system that can lose power. It remembers what was synced; afterwards each write that was
 * not may be kept, lost, truncated or a run of zeros, whatever became of the writes around it, and
 * each name that was not may be what it was at any moment since. More than real disks do, and less
 * orderly.
 */
import { dirname, resolve } from "node:path";
import { MemoryFileSystem, fileError } from "@branchlog/core/testing";
import type { FileSystem } from "@branchlog/core/testing";
import { observedFileSystem } from "./observed-file-system.ts";
import type { Around, ObservedCall } from "./observed-file-system.ts";

/** A number below `of`, chosen by the test that decides what the disk kept. */
export type Choose = (of: number) => number;

interface Write {
  readonly from: number;
  readonly to: number;
  isSynced: boolean;
  /** A sync failed: the system has forgotten that it still has to write this. */
  isForgotten: boolean;
}

/** A file; its bytes are read through a descriptor that outlives its names. */
interface TrackedFile {
  readonly fd: number;
  readonly durableBytes: number;
  readonly writes: Write[];
}

/** What a name has meant since its directory was last synced, oldest first. */
type Meanings = (number | "directory" | "nothing")[];

/** See the file comment. */
export class CrashFileSystem {
  /** For the program under test. */
  readonly fs: FileSystem;
  /** What the running system sees; outlives the death of a process, not of the machine. */
  readonly memory: MemoryFileSystem = new MemoryFileSystem();
  readonly #files = new Map<number, TrackedFile>();
  readonly #names = new Map<string, Meanings>();
  #callsLeft = Number.POSITIVE_INFINITY;
  #syncsFail = false;

  constructor() {
    this.fs = observedFileSystem(this.memory, this.#around);
  }

  /** Puts a file there whose bytes and name are on the disk. */
  addDurable(path: string, bytes: Buffer): void {
    this.memory.makeDirectorySync(dirname(path));
    for (let at = dirname(path); at !== "/"; at = dirname(at)) this.#names.set(at, ["directory"]);
    this.memory.writeFileSync(path, bytes);
    this.#names.set(path, [this.#track(path)]);
  }

  /** The process dies before so many more calls have happened; cleaning up is a call, too. */
  dieAfter(calls: number): void {
    this.#callsLeft = calls;
  }

  /** Whether the process has died. */
  get isDead(): boolean {
    return this.#callsLeft < 0;
  }

  /** What is not on the disk now never will be, whatever is synced later: a sync has failed. */
  forgetUnsynced(): void {
    for (const { writes } of this.#files.values()) {
      for (const write of writes) write.isForgotten ||= !write.isSynced;
    }
  }

  /** From now on syncing fails, and what was to be synced is forgotten by the system. */
  failSyncs(fail: boolean): void {
    this.#syncsFail = fail;
  }

  /** What the machine finds after it lost power at this moment. */
  afterPowerLoss(choose: Choose): MemoryFileSystem {
    const found = new MemoryFileSystem();
    const placed = new Map<number, string>();
    const paths = [...this.#names.keys()].toSorted((a, b) => a.length - b.length);
    for (const path of paths) {
      const meanings = this.#names.get(path) ?? [];
      const meaning = meanings[choose(meanings.length)] ?? "nothing";
      if (found.statSync(dirname(path)) === null || meaning === "nothing") continue;
      if (meaning === "directory") {
        found.makeDirectorySync(path);
        continue;
      }
      const other = placed.get(meaning);
      if (other === undefined) found.writeFileSync(path, this.#contentAfter(meaning, choose));
      else found.linkSync(other, path);
      placed.set(meaning, path);
    }
    return found;
  }

  readonly #around: Around = (call, effect) => {
    this.#callsLeft -= 1;
    if (this.isDead) throw new Error("the process is dead");
    return this.#observed(call, effect);
  };

  #observed<T>(call: ObservedCall, effect: () => T): T {
    switch (call.name) {
      case "writeSync": {
        const from = this.#size(call.fd);
        const count = effect();
        this.#tracked(call.fd).writes.push({
          from,
          to: this.#size(call.fd),
          isSynced: false,
          isForgotten: false,
        });
        return count;
      }
      case "fdatasyncSync":
      case "fdatasync":
        return this.#sync(call, effect);
      case "syncDirectorySync":
        return this.#syncNames(call.path, effect);
      default: {
        const before = call.name === "makeDirectorySync" ? this.#missingFrom(call.path) : [];
        const result = effect();
        this.#noteNames(call, before);
        return result;
      }
    }
  }

  /** What is written while a sync is under way need not be part of it. */
  #sync<T>({ fd, name, path }: ObservedCall, effect: () => T): T {
    const pending = this.#tracked(fd).writes.filter(({ isSynced }) => !isSynced);
    if (this.#syncsFail) {
      for (const write of pending) write.isForgotten = true;
      throw fileError("EIO", "fdatasync", path);
    }
    const done = (): void => {
      for (const write of pending) write.isSynced = !write.isForgotten;
    };
    const result = effect();
    if (name === "fdatasync") void Promise.resolve(result).then(done, () => undefined);
    else done();
    return result;
  }

  #syncNames<T>(directory: string, effect: () => T): T {
    if (this.#syncsFail) throw fileError("EIO", "fsync", directory);
    const result = effect();
    for (const [path, meanings] of this.#names) {
      if (dirname(path) === resolve(directory)) meanings.splice(0, meanings.length - 1);
    }
    return result;
  }

  #noteNames(call: ObservedCall, madeDirectories: readonly string[]): void {
    const { name, path, mode, to = "" } = call;
    for (const directory of madeDirectories) this.#mean(directory, "directory");
    if (name === "openSync" && mode === "create") this.#mean(path, this.#track(path));
    if (name === "linkSync") this.#mean(to, this.#inodeAt(to));
    if (name === "renameSync") this.#mean(to, this.#inodeAt(to));
    if (name === "renameSync" || name === "unlinkSync") this.#mean(path, "nothing");
  }

  #mean(path: string, meaning: Meanings[number]): void {
    const known = this.#names.get(path);
    if (known === undefined) this.#names.set(path, ["nothing", meaning]);
    else known.push(meaning);
  }

  #missingFrom(path: string): string[] {
    const missing: string[] = [];
    try {
      for (let at = resolve(path); this.memory.statSync(at) === null; at = dirname(at)) {
        missing.push(at);
      }
    } catch {
      // Below a file: making the directory will say so.
    }
    return missing;
  }

  /** Begins to track a file whose bytes, so far, are on the disk. Returns its inode. */
  #track(path: string): number {
    const ino = this.#inodeAt(path);
    if (!this.#files.has(ino)) {
      const fd = this.memory.openSync(path, "read");
      this.#files.set(ino, { fd, durableBytes: this.#size(fd), writes: [] });
    }
    return ino;
  }

  #inodeAt(path: string): number {
    return this.memory.statSync(path)?.ino ?? -1;
  }

  #size(fd = -1): number {
    return this.memory.fstatSync(fd).size;
  }

  #tracked(fd = -1): TrackedFile {
    const file = this.#files.get(this.memory.fstatSync(fd).ino);
    if (file === undefined) throw new Error("a file that nobody has opened");
    return file;
  }

  #contentAfter(ino: number, choose: Choose): Buffer {
    const file = this.#files.get(ino);
    if (file === undefined) return Buffer.alloc(0);
    const content = Buffer.alloc(this.#size(file.fd));
    this.memory.readSync(file.fd, content, 0, content.length, 0);
    let end = file.durableBytes;
    for (const { from, to, isSynced } of file.writes) {
      const fate = isSynced ? "kept" : fates[choose(fates.length)];
      const cut = fate === "cut off" ? from + Math.floor((to - from) / 2) : from;
      if (fate !== "kept") content.fill(0, cut, to);
      if (fate === "kept" || fate === "zeros") end = Math.max(end, to);
      if (fate === "cut off") end = Math.max(end, cut);
    }
    return content.subarray(0, end);
  }
}

/**
 * Runs a program on new disks, the first of which dies before its first call, until one is through;
 * `check` sees each disk and what the program gave, if it got so far. `stride`: calls from one
 * death to the next.
 */
export async function dieAtEveryCall<T>(
  newDisk: () => CrashFileSystem,
  program: (disk: CrashFileSystem) => T | Promise<T>,
  check: (disk: CrashFileSystem, result: T | undefined, calls: number) => void | Promise<void>,
  stride: () => number = () => 1,
): Promise<void> {
  for (let calls = 0; ; calls += stride()) {
    const disk = newDisk();
    disk.dieAfter(calls);
    let result: T | undefined;
    try {
      result = await program(disk);
    } catch {
      // It died, and said nothing.
    }
    await check(disk, result, calls);
    if (!disk.isDead) return;
  }
}

/** A disk with a file on it. */
export function diskWith(path: string, bytes: Buffer): CrashFileSystem {
  const disk = new CrashFileSystem();
  disk.addDurable(path, bytes);
  return disk;
}

const fates = ["kept", "lost", "cut off", "zeros"] as const;
