/**
 * The ports of the engine: all access to the outside world, so that the rest is deterministic.
 * Errors pass unchanged, as Node's error objects (`code`, `errno`, `syscall`, `path`).
 */
import { setTimeout as timeout } from "node:timers/promises";
import type { LockHolder } from "../errors.ts";
import { waitBlocking } from "./blocking-wait.ts";

/** A file or directory. Times are epoch milliseconds. */
export interface FileStat {
  readonly dev: number;
  readonly ino: number;
  /** Length in bytes. */
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly isFile: boolean;
  readonly isDirectory: boolean;
  /** File type and permission bits, as in `st_mode`. */
  readonly mode: number;
  /** User id of the owner; 0 if the system has none. */
  readonly uid: number;
}

/**
 * How a file is opened: `read` read-only; `append` for reading and appending, the file must exist
 * (`O_RDWR|O_APPEND`); `create` the same on a new file of mode 0600, `EEXIST` if there is one;
 * `update` for reading and for writing in place, the file must exist (`O_RDWR`); `nofollow`
 * read-only, fails with `ELOOP` for a symbolic link, and never waits for the other end of a pipe.
 */
export type OpenMode = "read" | "append" | "create" | "update" | "nofollow";

/** Files and directories. Paths are absolute; failures are thrown as by Node. */
export interface FileSystem {
  /** Opens a file and returns its descriptor, which stays valid when the file is unlinked. */
  openSync(path: string, mode: OpenMode): number;
  closeSync(fd: number): void;
  /** Reads up to `length` bytes at `position` into `target`; returns the count, 0 at the end. */
  readSync(fd: number, target: Buffer, offset: number, length: number, position: number): number;
  read(
    fd: number,
    target: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<number>;
  /** Appends bytes at the current end of the file; returns how many, possibly fewer. */
  writeSync(fd: number, bytes: Buffer, offset: number, length: number): number;
  /**
   * Overwrites bytes at `position` of a file opened with `update`; returns how many, possibly
   * fewer.
   */
  updateSync(fd: number, bytes: Buffer, position: number): number;
  /** Null: nothing exists at `path`, nor can (`ENOENT`, `ENOTDIR`); anything else is thrown. */
  statSync(path: string): FileStat | null;
  fstatSync(fd: number): FileStat;
  /** Returns once the file's data and size are on the device. */
  fdatasyncSync(fd: number): void;
  fdatasync(fd: number): Promise<void>;
  /** Makes new and renamed names in a directory durable, if the system supports it. */
  syncDirectorySync(path: string): void;
  /** Gives a file a second name; `EEXIST` if `to` exists. */
  linkSync(from: string, to: string): void;
  /** Renames, atomically replacing an existing file at `to`. */
  renameSync(from: string, to: string): void;
  unlinkSync(path: string): void;
  /** Sets the permission bits of an open file; ignores those of its type in `mode`. */
  setModeSync(fd: number, mode: number): void;
  /** Creates a directory of mode 0700 and its missing parents; an existing one is fine. */
  makeDirectorySync(path: string): void;
  /** Names in a directory, in no particular order, without `.` and `..`. */
  listSync(path: string): readonly string[];
  /** The canonical absolute path of an existing file. */
  realpathSync(path: string): string;
  /** User id that files are accessed with (`geteuid`); undefined if the system has none. */
  userId(): number | undefined;
}

/** Mutual exclusion of appends, between processes and inside one. */
export interface FileLock {
  /** Null: it is held by another, in this process or elsewhere. Any other failure is thrown. */
  tryAcquireSync(path: string): HeldLock | null;
  /** Facts about the holder; null: it is free, or unknown. Never throws. */
  holderSync?(path: string): LockHolder | null;
  /** The order of the waiters; without it, any of them gets the lock. */
  readonly queue?: LockQueue;
}

/** The waiters for a lock, in the order of their arrival. Advisory; never throws. */
export interface LockQueue {
  /** Whether there may be waiters: a free lock is then theirs. */
  isBusySync(path: string): boolean;
  /** Enters the queue; null if that is impossible. */
  joinSync(path: string): LockPlace | null;
}

/** A place in a queue. */
export interface LockPlace {
  /** The largest possible number of waiters in front. */
  aheadSync(): number;
  /** Tells the others that this waiter will check again after so many milliseconds. */
  pauseSync(ms: number): void;
  leaveSync(): void;
}

/** An acquired lock. A holder that stalls for too long can lose it. */
export interface HeldLock {
  /** Whether the lock is still the one we made: false once it was taken over or released. */
  isOursSync(): boolean;
  /** Releases the lock if it is still ours. Never throws; a second call does nothing. */
  releaseSync(): void;
}

/** Signals that a directory may have changed. Hints may be late, doubled or lost. */
export interface ChangeHints {
  /**
   * Calls `onHint` with the name of a file in the directory, or null if anything may have changed,
   * until it is closed. Never throws, and never calls before it has returned.
   */
  watch(directory: string, onHint: (name: string | null) => void): { closeSync(): void };
}

/** Time. */
export interface Clock {
  /** Milliseconds since the epoch; may jump. */
  now(): number;
  /** Milliseconds since some fixed moment; never goes back. */
  monotonicMs(): number;
  /** Blocks the thread. */
  sleepSync(ms: number): void;
  /** Waits without blocking; rejects with the signal's reason once it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** New ids, and randomness. */
export interface IdSource {
  /** Eight lower-case hex digits. Unlikely, but not guaranteed, to be unique: check them. */
  entryId(): string;
  /** So many letters, digits, `-` and `_`. Unique as {@link IdSource.entryId} is. */
  urlSafeId(length: number): string;
  /** A UUIDv7 in canonical text, greater than every earlier one of this source. */
  sessionId(): string;
  /** A random number in [0, 1), for spreading retries. */
  jitter(): number;
}

/** The outside world of an engine. */
export interface Ports {
  readonly fs: FileSystem;
  readonly lock: FileLock;
  readonly hints: ChangeHints;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** Distinguishes a file from one that later takes its name. */
export type FileIdentity = Pick<FileStat, "dev" | "ino">;

/**
 * On Windows, some releases of Node (22.12 to 22.16, 24.0, 24.1) give device 0 for paths, and the
 * actual device for descriptors.
 */
export function isSameFile(one: FileIdentity, other: FileIdentity): boolean {
  return one.ino === other.ino && (one.dev === other.dev || one.dev === 0 || other.dev === 0);
}

export type FileState = Pick<FileStat, "dev" | "ino" | "size" | "ctimeMs">;

/** While file, size and time of change stay, the bytes do. */
export function isSameState(one: FileState, other: FileState): boolean {
  const isFile = one.dev === other.dev && one.ino === other.ino;
  return isFile && one.size === other.size && one.ctimeMs === other.ctimeMs;
}

/** {@link isSameState}, also where the file system keeps no time of change, as FAT. */
export function isUnchanged(one: FileStat, other: FileStat): boolean {
  return isSameState(one, other) && one.mtimeMs === other.mtimeMs;
}

/** The reason of an error, for a message. */
export function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

/** "" for anything but a system error. */
export function errorCodeOf(error: unknown): string {
  if (!(error instanceof Error) || !("code" in error)) return "";
  return typeof error.code === "string" ? error.code : "";
}

/**
 * One value for each port of a kind. That of the machine's own port is one per process, found by
 * the registry of symbols, so that two copies of this package share it: the number in `key` changes
 * when the methods of the value do.
 */
export function onePerPort<P extends object, V>(
  own: P,
  key: string,
  make: (port: P) => V,
): (port: P) => V {
  const sharedKey = Symbol.for(key);
  const registry: Pick<typeof globalThis, "Symbol"> & { [key: symbol]: V | undefined } = globalThis;
  const others = new WeakMap<P, V>();
  let shared: V | undefined;
  return (port) => {
    if (port === own) return (shared ??= registry[sharedKey] ??= make(port));
    const known = others.get(port);
    if (known !== undefined) return known;
    const made = make(port);
    others.set(port, made);
    return made;
  };
}

/** Null if `work` throws. */
export function quietly<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

const never = new Int32Array(new SharedArrayBuffer(4));

async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await timeout(ms, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    // The caller's own reason says more than the timer's AbortError.
    signal?.throwIfAborted();
    throw error;
  }
}

/** Real time. Its `sleepSync` throws as `waitBlocking`. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleepSync(ms) {
    if (ms > 0) waitBlocking({ state: never, at: 0, value: 0, ms });
  },
  sleep,
};
