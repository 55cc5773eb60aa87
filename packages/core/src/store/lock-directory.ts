/**
 * One attempt to own a lock directory, and the ownership that follows: the file system that
 * proper-lockfile is given. Removes a directory only if it is the one we made, or is stale still;
 * proper-lockfile alone would remove any directory there. Between the last `stat` and the removal
 * a few microseconds remain, so writers must check what they wrote all the same.
 */
import fs from "node:fs";
import type { LockHolder } from "../errors.ts";

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
export interface LockFileSystem {
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
   * lock that the faster one has made since (proper-lockfile#121). Left standing, it is `ELOCKED`.
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
