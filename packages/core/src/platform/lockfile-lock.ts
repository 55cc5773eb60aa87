/**
 * The lock port over proper-lockfile. The lock is the symbolic link
 * `<path>.branchlog-lock`, whose text names its holder. It is taken over at once if that process
 * has ended, else when it was not refreshed for `staleMs`. A holder that stalls for longer loses
 * the lock, as `isOursSync` reports; it never removes its successor's.
 *
 * proper-lockfile gets a file system whose "directory" is that link: it is created and named in one
 * system call, so that the holder is always known, and it is removed only if it is the one that was
 * made, or abandoned. Between the last `lstat` and the removal a few microseconds remain, so
 * writers must verify their writes nevertheless.
 */
import fs from "node:fs";
import { lockSync } from "proper-lockfile";
import type { LockHolder } from "../errors.ts";
import { awaitedLocksMax, lockStaleMs, lockUpdateMs } from "../limits.ts";
import { directoryQueue } from "./lock-queue.ts";
import { errorCodeOf, quietly } from "./ports.ts";
import type { FileLock, HeldLock } from "./ports.ts";
import { ownProcessName, processIdOf, processState } from "./process-name.ts";
import { sidecarPath } from "./sidecar.ts";

/** Must be equal in every process that shares a log. */
export interface LockTimes {
  /** Age of an untouched lock at which it may be taken over; at least 2,000. */
  readonly staleMs: number;
  /** How often a held lock is touched; at least 1,000 and at most half of `staleMs`. */
  readonly updateMs: number;
}

const holdings = new Map<string, LockLink>();
const awaited = new Set<string>();
let attempts = 0;

/** `path` must be canonical. Uncontended, a lock costs three system calls and two `lstat`. */
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

export const lockfileLock: FileLock = createLockfileLock({
  staleMs: lockStaleMs,
  updateMs: lockUpdateMs,
});

function linkPathOf(path: string): string {
  return sidecarPath(path, ".branchlog-lock");
}

function tryAcquire(linkPath: string, times: LockTimes): HeldLock | null {
  // Checked first, as our own lock may be stale after a long stall and must not be taken by us.
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
  // The first argument is proper-lockfile's key. Unique, so that releasing a lost lock does not end
  // one that was acquired since.
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
      // An append does not fail for a lock that cannot be removed: it becomes stale.
      if (quietly(release) === null) quietly(() => link.removeIfOurs());
    },
  };
}

/**
 * A link that we made and that is gone before our lstat was treated as a stale one. On Windows
 * `mkdir` fails with `EPERM` while a directory of that name is being removed.
 */
export function isHeldByAnother(error: unknown, platform: NodeJS.Platform): boolean {
  const code = errorCodeOf(error);
  if (code === "ELOCKED") return true;
  const syscall = error instanceof Error && "syscall" in error ? error.syscall : undefined;
  if (code === "ENOENT") return syscall !== "mkdir" && syscall !== "symlink";
  return platform === "win32" && code === "EPERM" && syscall === "mkdir";
}

/**
 * An inode number alone is reused. Times as numbers are fine enough, and bigints cost a multiple.
 */
interface Identity {
  readonly ino: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
}

interface LockFileSystem {
  readonly mkdirSync: () => void;
  readonly statSync: () => { readonly mtime: Date };
  readonly utimesSync: (path: string, atime: Date, mtime: Date) => void;
  readonly rmdirSync: () => void;
}

/** Errors of a file system without symbolic links, or of a Windows user who may not make them. */
const unsupported: ReadonlySet<string> = new Set(["EPERM", "ENOSYS", "ENOTSUP", "EOPNOTSUPP"]);
const longAgo = new Date(0);

/** One attempt to own a lock, and the ownership that follows; ends with its release. */
export class LockLink {
  readonly #path: string;
  readonly #staleMs: number;
  #made = false;
  #lost = false;
  #ours: Identity | null = null;
  #found: Identity | null = null;

  /** For proper-lockfile. Own properties: it copies the object and calls the copy. */
  readonly fs: LockFileSystem = {
    mkdirSync: () => this.#make(),
    statSync: () => ({ mtime: this.#refreshedAt() }),
    utimesSync: (_path, _atime, mtime) => this.#refresh(mtime),
    // Two processes may have found the same abandoned link; the slower one must not remove the lock
    // that the faster one has made since (proper-lockfile#121). Not removed, it is `ELOCKED`.
    rmdirSync: () => (this.#made ? this.removeIfOurs() : removeIfSame(this.#path, this.#found)),
  };

  constructor(path: string, staleMs: number) {
    this.#path = path;
    this.#staleMs = staleMs;
  }

  /** Whether the link at the path is the one we made. Never throws: false if unknown. */
  isOurs(): boolean {
    return !this.#lost && this.#isUnchanged();
  }

  /** Whether another holder has the lock, alive and not stale. Never throws: false if unknown. */
  isHeldByOther(): boolean {
    const refreshedMs = quietly(() => this.#refreshedAt().getTime());
    return refreshedMs !== null && refreshedMs >= Date.now() - this.#staleMs;
  }

  markLost(): void {
    this.#lost = true;
  }

  removeIfOurs(): void {
    removeIfSame(this.#path, this.#ours);
  }

  #make(): void {
    try {
      fs.symlinkSync(ownProcessName(), this.#path);
    } catch (error) {
      if (!unsupported.has(errorCodeOf(error))) throw error;
      // Without a name: a dead holder is recognised by its age alone.
      fs.mkdirSync(this.#path, { mode: 0o700 });
    }
    this.#made = true;
  }

  /** The last refresh by the holder; long ago if it has ended, so that the lock is stale. */
  #refreshedAt(): Date {
    const found = identify(this.#path);
    if (this.#made) this.#ours ??= found;
    else {
      this.#found = found;
      // Read after the identity: a link that replaced the one found is never removed for its text.
      if (processState(holderNameOf(this.#path)) === "ended") return longAgo;
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
    const ours = this.#ours;
    return ours !== null && quietly(() => isSame(identify(this.#path), ours)) === true;
  }
}

/** Null if the lock is free. Never throws. */
export function holderOf(path: string): Omit<LockHolder, "isOwnProcess"> | null {
  return quietly(() => {
    const { mtimeMs, birthtimeMs } = fs.lstatSync(path);
    return {
      pid: processIdOf(holderNameOf(path)),
      heldMs: ageMs(birthtimeMs),
      refreshedMsAgo: ageMs(mtimeMs),
    };
  });
}

function holderNameOf(path: string): string {
  return quietly(() => fs.readlinkSync(path)) ?? "";
}

/** Removes a link, or an empty directory: a holder makes nothing else. */
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

/** Rounded: a time set in milliseconds may be stored some nanoseconds below. */
function wholeMtimeMs({ mtimeMs }: Identity): number {
  return Math.round(mtimeMs);
}

function takenOver(path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`The lock at ${path} was taken over`), { code: "ENOENT" });
}
