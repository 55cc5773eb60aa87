/**
 * The lock port over proper-lockfile: the directory `<path>.branchlog-lock`, touched by a timer
 * while it is held and taken over by others once it was not for `staleMs`. A holder that stalls
 * for longer loses the lock and is told so by `isOursSync`; it never removes its successor's.
 */
import { lockSync } from "proper-lockfile";
import { awaitedLocksMax, lockStaleMs, lockUpdateMs } from "../limits.ts";
import { LockDirectory, holderOf } from "./lock-directory.ts";
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
  // A look costs a tenth of a try, and does not keep the holder from giving the lock back.
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
 * is gone before we looked at it, though we made it, was taken for a stale one. On Windows `mkdir`
 * says `EPERM` while a directory of that name is being removed.
 */
export function isHeldByAnother(error: unknown, platform: NodeJS.Platform): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  if (error.code === "ELOCKED") return true;
  const isMkdir = "syscall" in error && error.syscall === "mkdir";
  if (error.code === "ENOENT") return !isMkdir;
  return platform === "win32" && error.code === "EPERM" && isMkdir;
}
