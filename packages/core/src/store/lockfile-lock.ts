/**
 * The lock port over proper-lockfile: the symbolic link `<path>.branchlog-lock`, whose text names
 * its holder. Others take it over at once if that process has ended, else when it was not refreshed
 * for `staleMs`. A holder that stalls for longer loses the lock, as `isOursSync` reports; it never
 * removes its successor's.
 */
import fs from "node:fs";
import { lockSync } from "proper-lockfile";
import type { LockHolder } from "../errors.ts";
import { awaitedLocksMax, lockStaleMs, lockUpdateMs } from "../limits.ts";
import { directoryQueue } from "./lock-queue.ts";
import type { FileLock, HeldLock } from "./ports.ts";
import { ownProcessName, processIdOf, processState } from "./process-name.ts";
import { sidecarPath } from "./sidecar-path.ts";

/** Times of a lock, equal in every process that shares a log. */
export interface LockTimes {
  /** Age of an untouched lock at which it may be taken over; at least 2,000. */
  readonly staleMs: number;
  /** How often a held lock is touched; at least 1,000 and at most half of `staleMs`. */
  readonly updateMs: number;
}

/** Locks this process believes to hold, by the path of the link. */
const holdings = new Map<string, LockLink>();
/** Locks that another holder had when they were last tried. */
const awaited = new Set<string>();
let attempts = 0;

/**
 * A lock with times of its own. `path` must be canonical: aliases would be different locks.
 * Uncontended, acquiring and releasing cost three system calls and two `lstat` of the link.
 */
export function createLockfileLock(times: LockTimes): FileLock {
  return {
    tryAcquireSync: (path) => tryAcquire(linkPathOf(path), times),
    holderSync(path) {
      const linkPath = linkPathOf(path);
      const holder = holderOf(linkPath);
      return holder && { ...holder, isOwnProcess: holdings.get(linkPath)?.isOurs() === true };
    },
    queue: directoryQueue,
  };
}

/** The lock that every process uses for the logs they share. */
export const lockfileLock: FileLock = createLockfileLock({
  staleMs: lockStaleMs,
  updateMs: lockUpdateMs,
});

function linkPathOf(path: string): string {
  return sidecarPath(path, ".branchlog-lock");
}

function tryAcquire(linkPath: string, times: LockTimes): HeldLock | null {
  // Asked first, as our own lock may be stale after a long stall and must not be taken by us.
  if (holdings.get(linkPath)?.isOurs() === true) return null;
  const link = new LockLink(linkPath, times.staleMs);
  // An lstat costs a tenth of a try, and does not keep the holder from releasing the lock.
  if (awaited.has(linkPath) && link.isHeldByOther()) return null;
  awaited.delete(linkPath);
  try {
    const release = lockLink(link, linkPath, times);
    holdings.set(linkPath, link);
    return heldLock(link, linkPath, release);
  } catch (error) {
    if (!isHeldByAnother(error, process.platform)) throw error;
    if (awaited.size >= awaitedLocksMax) awaited.clear();
    awaited.add(linkPath);
    return null;
  }
}

function lockLink(link: LockLink, path: string, times: LockTimes): () => void {
  attempts += 1;
  // The first argument is only the key under which proper-lockfile keeps its books. Unique, so
  // that releasing a lock that was lost does not end one that was acquired since.
  return lockSync(`${path}#${attempts}`, {
    lockfilePath: path,
    realpath: false,
    stale: times.staleMs,
    update: times.updateMs,
    fs: link.fs,
    onCompromised: () => link.markLost(),
  });
}

function heldLock(link: LockLink, path: string, release: () => void): HeldLock {
  let isReleased = false;
  return {
    isOursSync: () => !isReleased && link.isOurs(),
    releaseSync() {
      if (isReleased) return;
      isReleased = true;
      if (holdings.get(path) === link) holdings.delete(path);
      releaseQuietly(link, release);
    },
  };
}

/** After a write nothing about its lock may fail it: what cannot be removed becomes stale. */
function releaseQuietly(link: LockLink, release: () => void): void {
  try {
    release();
  } catch {
    // Proper-lockfile had given it up already, without removing it.
    removeQuietly(link);
  }
}

function removeQuietly(link: LockLink): void {
  try {
    link.removeIfOurs();
  } catch {
    // Another process was faster, or the link may not be removed.
  }
}

/**
 * Whether a failure to lock means that another holder has it, or was about to: a link that we made
 * and that is gone before our lstat was taken for a stale one. On Windows `mkdir` fails with
 * `EPERM` while a directory of that name is being removed.
 */
export function isHeldByAnother(error: unknown, platform: NodeJS.Platform): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  if (error.code === "ELOCKED") return true;
  const syscall = "syscall" in error ? error.syscall : undefined;
  if (error.code === "ENOENT") return syscall !== "mkdir" && syscall !== "symlink";
  return platform === "win32" && error.code === "EPERM" && syscall === "mkdir";
}

// One attempt to own a lock, and the ownership that follows: the file system that proper-lockfile
// is given. Its "directory" is a symbolic link, which is created and named in one system call, so
// that there is no moment in which a killed holder is unknown. Removes a link only if it is the one
// we made, or is abandoned; proper-lockfile alone would remove any. Between the last `lstat` and
// the removal a few microseconds remain, so writers must check what they wrote all the same.

/**
 * Tells one link from another at the same path; an inode number alone is reused. As numbers: their
 * times are finer than the clocks of file systems, and big ones cost a multiple.
 */
interface Identity {
  readonly ino: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
}

/** What proper-lockfile asks of a file system. */
interface LockFileSystem {
  readonly mkdirSync: () => void;
  readonly statSync: () => { readonly mtime: Date };
  readonly utimesSync: (path: string, atime: Date, mtime: Date) => void;
  readonly rmdirSync: () => void;
}

/** Errors of a file system without symbolic links, or of a Windows user who may not make them. */
const unsupported: ReadonlySet<unknown> = new Set(["EPERM", "ENOSYS", "ENOTSUP", "EOPNOTSUPP"]);
const longAgo = new Date(0);

/** One lock. Belongs to a single attempt; not to be used again after its release. */
export class LockLink {
  readonly #path: string;
  readonly #staleMs: number;
  #made = false;
  #lost = false;
  #ours: Identity | null = null;
  #found: Identity | null = null;

  /** The face for proper-lockfile. Own properties: it copies the object and calls the copy. */
  readonly fs: LockFileSystem = {
    mkdirSync: () => this.#make(),
    statSync: () => ({ mtime: this.#refreshedAt() }),
    utimesSync: (_path, _atime, mtime) => this.#refresh(mtime),
    // Two processes may have found the same abandoned link; the slower one must not remove the
    // lock that the faster one has made since (proper-lockfile#121). Not removed, it is `ELOCKED`.
    rmdirSync: () => (this.#made ? this.removeIfOurs() : removeIfSame(this.#path, this.#found)),
  };

  /** @param staleMs Age at which the link of a holder that may be alive may be removed. */
  constructor(path: string, staleMs: number) {
    this.#path = path;
    this.#staleMs = staleMs;
  }

  /** Whether the link at the path is the one we made. Never throws: if it is unknown, false. */
  isOurs(): boolean {
    return !this.#lost && this.#isUnchanged();
  }

  /** Whether another holder has the lock, alive and not stale. Never throws: if unknown, false. */
  isHeldByOther(): boolean {
    try {
      const found = fs.lstatSync(this.#path, { throwIfNoEntry: false });
      if (found === undefined || wholeMtimeMs(found) < Date.now() - this.#staleMs) return false;
      return !isAbandoned(this.#path);
    } catch {
      return false;
    }
  }

  /** From now on {@link LockLink.isOurs} is false. */
  markLost(): void {
    this.#lost = true;
  }

  /** Removes the link unless it is another holder's. */
  removeIfOurs(): void {
    removeIfSame(this.#path, this.#ours);
  }

  #make(): void {
    try {
      fs.symlinkSync(ownProcessName(), this.#path);
    } catch (error) {
      if (!(error instanceof Error && "code" in error && unsupported.has(error.code))) throw error;
      // Without a name: a dead holder is recognised by its age alone.
      fs.mkdirSync(this.#path, { mode: 0o700 });
    }
    this.#made = true;
  }

  /** When the holder refreshed the lock last; long ago if it has ended, so that it is stale. */
  #refreshedAt(): Date {
    const found = identify(this.#path);
    if (this.#made) this.#ours ??= found;
    else {
      this.#found = found;
      // Read after the identity: a link that replaced the one found is never removed for its text.
      if (isAbandoned(this.#path)) return longAgo;
    }
    return new Date(wholeMtimeMs(found));
  }

  /** Called by the update timer; an `ENOENT` tells proper-lockfile that the lock is lost. */
  #refresh(mtime: Date): void {
    // While acquiring, this is the probe of the time stamps' precision, which any time serves. The
    // file system may have another clock than the processes that judge staleness.
    if (this.#ours === null) {
      const now = new Date();
      fs.lutimesSync(this.#path, now, now);
      return;
    }
    if (!this.#isUnchanged()) throw takenOver(this.#path);
    fs.lutimesSync(this.#path, mtime, mtime);
    const found = identify(this.#path);
    const isTouched = found.ino === this.#ours.ino && wholeMtimeMs(found) === mtime.getTime();
    if (!isTouched) throw takenOver(this.#path);
    this.#ours = found;
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

/** The holder of the lock; null: it is free. Never throws. */
export function holderOf(path: string): Omit<LockHolder, "isOwnProcess"> | null {
  try {
    const { mtimeMs, birthtimeMs } = fs.lstatSync(path);
    return {
      pid: processIdOf(holderNameOf(path)),
      heldMs: ageMs(birthtimeMs),
      refreshedMsAgo: ageMs(mtimeMs),
    };
  } catch {
    return null;
  }
}

/** Whether the holder is known to have ended without releasing its lock. */
function isAbandoned(path: string): boolean {
  return processState(holderNameOf(path)) === "ended";
}

/** The text of the link; empty if it is something else, or gone. */
function holderNameOf(path: string): string {
  try {
    return fs.readlinkSync(path);
  } catch {
    return "";
  }
}

/** Removes a link, or an empty directory: nothing else was made by a holder. */
function removeIfSame(path: string, identity: Identity | null): void {
  const found = fs.lstatSync(path, { throwIfNoEntry: false });
  if (identity === null || found === undefined || !isSame(found, identity)) return;
  if (found.isSymbolicLink()) fs.unlinkSync(path);
  else fs.rmdirSync(path);
}

function ageMs(sinceMs: number): number {
  return Math.max(0, Math.round(Date.now() - sinceMs));
}

function identify(path: string): Identity {
  return fs.lstatSync(path);
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
