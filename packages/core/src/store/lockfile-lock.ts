/**
 * The lock port over proper-lockfile: the directory `<path>.branchlog-lock`, touched by a timer
 * while it is held and taken over by others once it was not for `staleMs`. A holder that stalls
 * for longer loses the lock, as `isOursSync` reports; it never removes its successor's.
 */
import fs from "node:fs";
import { lockSync } from "proper-lockfile";
import type { LockHolder } from "../errors.ts";
import { awaitedLocksMax, lockStaleMs, lockUpdateMs } from "../limits.ts";
import { directoryQueue } from "./lock-queue.ts";
import type { FileLock, HeldLock } from "./ports.ts";
import { sidecarPath } from "./sidecar-path.ts";

/** Times of a lock, equal in every process that shares a log. */
export interface LockTimes {
  /** Age of an untouched lock at which it may be taken over; at least 2,000. */
  readonly staleMs: number;
  /** How often a held lock is touched; at least 1,000 and at most half of `staleMs`. */
  readonly updateMs: number;
}

/** Locks this process believes to hold, by lock directory. */
const holdings = new Map<string, LockDirectory>();
/** Locks that another holder had when they were last tried. */
const awaited = new Set<string>();
let attempts = 0;

/**
 * A lock with times of its own. `path` must be canonical: aliases would be different locks.
 * Uncontended, acquiring and releasing cost three system calls and two `stat` of the directory.
 */
export function createLockfileLock(times: LockTimes): FileLock {
  return {
    tryAcquireSync: (path) => tryAcquire(lockDirectoryOf(path), times),
    holderSync(path) {
      const directory = lockDirectoryOf(path);
      const holder = holderOf(directory);
      return holder && { ...holder, isOwnProcess: holdings.get(directory)?.isOurs() === true };
    },
    queue: directoryQueue,
  };
}

/** The lock that every process uses for the logs they share. */
export const lockfileLock: FileLock = createLockfileLock({
  staleMs: lockStaleMs,
  updateMs: lockUpdateMs,
});

function lockDirectoryOf(path: string): string {
  return sidecarPath(path, ".branchlog-lock");
}

function tryAcquire(directoryPath: string, times: LockTimes): HeldLock | null {
  // Asked first, as our own lock may be stale after a long stall and must not be taken by us.
  if (holdings.get(directoryPath)?.isOurs() === true) return null;
  const directory = new LockDirectory(directoryPath, times.staleMs);
  // A stat costs a tenth of a try, and does not keep the holder from releasing the lock.
  if (awaited.has(directoryPath) && directory.isInTheWay()) return null;
  awaited.delete(directoryPath);
  try {
    const release = lockDirectory(directory, directoryPath, times);
    holdings.set(directoryPath, directory);
    return heldLock(directory, directoryPath, release);
  } catch (error) {
    if (!isHeldByAnother(error, process.platform)) throw error;
    if (awaited.size >= awaitedLocksMax) awaited.clear();
    awaited.add(directoryPath);
    return null;
  }
}

function lockDirectory(directory: LockDirectory, path: string, times: LockTimes): () => void {
  attempts += 1;
  // The first argument is only the key under which proper-lockfile keeps its books. Unique, so
  // that releasing a lock that was lost does not end one that was acquired since.
  return lockSync(`${path}#${attempts}`, {
    lockfilePath: path,
    realpath: false,
    stale: times.staleMs,
    update: times.updateMs,
    fs: directory.fs,
    onCompromised: () => directory.markLost(),
  });
}

function heldLock(directory: LockDirectory, path: string, release: () => void): HeldLock {
  let isReleased = false;
  return {
    isOursSync: () => !isReleased && directory.isOurs(),
    releaseSync() {
      if (isReleased) return;
      isReleased = true;
      if (holdings.get(path) === directory) holdings.delete(path);
      releaseQuietly(directory, release);
    },
  };
}

/** After a write nothing about its lock may fail it: what cannot be removed becomes stale. */
function releaseQuietly(directory: LockDirectory, release: () => void): void {
  try {
    release();
  } catch {
    // Proper-lockfile had given it up already, without removing it.
    removeQuietly(directory);
  }
}

function removeQuietly(directory: LockDirectory): void {
  try {
    directory.removeIfOurs();
  } catch {
    // Another process was faster, or the directory may not be removed.
  }
}

/**
 * Whether a failure to lock means that another holder has it, or was about to: a directory that
 * we made and that is gone before our stat was taken for a stale one. On Windows `mkdir` fails
 * with `EPERM` while a directory of that name is being removed.
 */
export function isHeldByAnother(error: unknown, platform: NodeJS.Platform): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  if (error.code === "ELOCKED") return true;
  const isMkdir = "syscall" in error && error.syscall === "mkdir";
  if (error.code === "ENOENT") return !isMkdir;
  return platform === "win32" && error.code === "EPERM" && isMkdir;
}

// One attempt to own a lock directory, and the ownership that follows: the file system that
// proper-lockfile is given. Removes a directory only if it is the one we made, or is stale still;
// proper-lockfile alone would remove any directory there. Between the last `stat` and the removal
// a few microseconds remain, so writers must check what they wrote all the same.

/**
 * Tells one lock directory from another at the same path; an inode number alone is reused. As
 * numbers: their times are finer than the clocks of file systems, and big ones cost a multiple.
 */
interface Identity {
  readonly ino: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
}

/** The access time of a lock directory, in seconds: it names the holder. Nothing else has room. */
const ownPid = process.pid;

/** The largest process id of any system that Node runs on. */
const pidMax = 2 ** 22;

/** What proper-lockfile asks of a file system. */
interface LockFileSystem {
  readonly mkdirSync: () => void;
  readonly statSync: () => { readonly mtime: Date };
  readonly utimesSync: (path: string, atime: Date, mtime: Date) => void;
  readonly rmdirSync: () => void;
}

/** One lock directory. Belongs to a single attempt; not to be used again after its release. */
export class LockDirectory {
  readonly #path: string;
  readonly #staleMs: number;
  #made = false;
  #lost = false;
  #ours: Identity | null = null;
  #inTheWay: Identity | null = null;

  /** The face for proper-lockfile. Own properties: it copies the object and calls the copy. */
  readonly fs: LockFileSystem = {
    mkdirSync: () => this.#make(),
    statSync: () => ({ mtime: new Date(wholeMtimeMs(this.#look())) }),
    utimesSync: (_path, _atime, mtime) => this.#refresh(mtime),
    rmdirSync: () => (this.#made ? this.removeIfOurs() : this.#removeIfSeen()),
  };

  /** @param staleMs Age at which the directory of another holder may be removed. */
  constructor(path: string, staleMs: number) {
    this.#path = path;
    this.#staleMs = staleMs;
  }

  /** Whether the directory at the path is the one we made. Never throws: in doubt, it is not. */
  isOurs(): boolean {
    return !this.#lost && this.#isUnchanged();
  }

  /** Whether there is a directory that is not stale. Never throws: in doubt, there is none. */
  isInTheWay(): boolean {
    try {
      const found = fs.statSync(this.#path, { throwIfNoEntry: false });
      return found !== undefined && wholeMtimeMs(found) >= Date.now() - this.#staleMs;
    } catch {
      return false;
    }
  }

  /** From now on {@link LockDirectory.isOurs} is false. */
  markLost(): void {
    this.#lost = true;
  }

  /** Removes the directory unless it is another holder's. */
  removeIfOurs(): void {
    if (this.#isUnchanged()) fs.rmdirSync(this.#path);
  }

  #make(): void {
    fs.mkdirSync(this.#path, { mode: 0o700 });
    this.#made = true;
  }

  #look(): Identity {
    const found = identify(this.#path);
    if (!this.#made) this.#inTheWay = found;
    else this.#ours ??= found;
    return found;
  }

  /** Called by the update timer; an `ENOENT` tells proper-lockfile that the lock is lost. */
  #refresh(mtime: Date): void {
    // While acquiring, this is the probe of the time stamps' precision, which any time serves. The
    // file system may have another clock than the processes that judge staleness.
    if (this.#ours === null) {
      fs.utimesSync(this.#path, ownPid, new Date());
      return;
    }
    if (!this.#isUnchanged()) throw takenOver(this.#path);
    fs.utimesSync(this.#path, ownPid, mtime);
    const found = identify(this.#path);
    const isTouched = found.ino === this.#ours.ino && wholeMtimeMs(found) === mtime.getTime();
    if (!isTouched) throw takenOver(this.#path);
    this.#ours = found;
  }

  /**
   * Two processes may have seen the same stale directory; the slower one must not remove the
   * lock that the faster one has made since (proper-lockfile#121). Not removed, it is `ELOCKED`.
   */
  #removeIfSeen(): void {
    const found = identify(this.#path);
    // Proper-lockfile found it stale; unchanged, it is so still.
    if (this.#inTheWay !== null && isSame(found, this.#inTheWay)) fs.rmdirSync(this.#path);
  }

  #isUnchanged(): boolean {
    if (this.#ours === null) return false;
    try {
      return isSame(identify(this.#path), this.#ours);
    } catch {
      return false;
    }
  }
}

/** The holder of the lock directory; null: there is none. Never throws. */
export function holderOf(path: string): Omit<LockHolder, "isOwnProcess"> | null {
  try {
    const { atimeMs, mtimeMs, birthtimeMs } = fs.statSync(path);
    const pid = Math.round(atimeMs / 1_000);
    return {
      pid: pid > 0 && pid <= pidMax ? pid : null,
      heldMs: ageMs(birthtimeMs),
      refreshedMsAgo: ageMs(mtimeMs),
    };
  } catch {
    return null;
  }
}

function ageMs(sinceMs: number): number {
  return Math.max(0, Math.round(Date.now() - sinceMs));
}

function identify(path: string): Identity {
  return fs.statSync(path);
}

function isSame(one: Identity, other: Identity): boolean {
  return one.ino === other.ino && one.mtimeMs === other.mtimeMs && one.ctimeMs === other.ctimeMs;
}

/** Rounded: what was set in milliseconds may be stored some nanoseconds below. */
function wholeMtimeMs({ mtimeMs }: Identity): number {
  return Math.round(mtimeMs);
}

function takenOver(path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`The lock at ${path} was taken over`), { code: "ENOENT" });
}
