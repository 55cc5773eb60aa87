/**
 * omp's own lock of a session file, `.<name>.lock` with `pid:time` in it, for changes that must not
 * happen between its check of a file and its write. It is held under ours, and only for a moment.
 */
import { basename, dirname, join } from "node:path";
import { portStep } from "@branchlog/streaming";
import type { Steps } from "@branchlog/streaming";
import { BranchlogError } from "../errors.ts";
import { lockStaleMs } from "../limits.ts";
import { closeQuietly, removeQuietly, writeFully } from "./atomic-file.ts";
import { acquireLock } from "./lock.ts";
import { errorCodeOf } from "./ports.ts";
import type { FileSystem, Ports } from "./ports.ts";

const pauseMs = 5;

export interface PeerWaiting {
  readonly ports: Ports;
  readonly lockWaitMs: number;
}

/** Tries again while omp holds its lock. Throws `ERR_LOCK_TIMEOUT`. */
export function* untilPeerFree<T>(
  path: string,
  { ports, lockWaitMs }: PeerWaiting,
  attempt: () => Steps<T | "busy">,
): Steps<T> {
  const endMs = ports.clock.monotonicMs() + lockWaitMs;
  for (;;) {
    const outcome = yield* attempt();
    if (outcome !== "busy") return outcome;
    if (ports.clock.monotonicMs() >= endMs) throw heldByOmp(path, lockWaitMs);
    yield { kind: "wait", clock: ports.clock, ms: pauseMs };
  }
}

/** Runs `work` under our lock of a file and under omp's. Throws `ERR_LOCK_TIMEOUT`. */
export function underBothLocks<T>(path: string, waiting: PeerWaiting, work: () => T): Steps<T> {
  return untilPeerFree(path, waiting, function* attempt(): Steps<T | "busy"> {
    const { ports, lockWaitMs } = waiting;
    const held = yield* acquireLock(path, ports, lockWaitMs);
    try {
      yield portStep("peer lock");
      const release = takePeerLock(ports, path);
      if (release === null) return "busy";
      try {
        return held.isOursSync() ? work() : "busy";
      } finally {
        release();
      }
    } finally {
      held.releaseSync();
    }
  });
}

/**
 * Null if omp holds it. A stale lock of a dead process is removed at the age limit of our locks.
 * Throws `ERR_APPEND_FAILED`.
 */
export function takePeerLock({ fs, clock }: Ports, path: string): (() => void) | null {
  const lockPath = join(dirname(path), `.${basename(path)}.lock`);
  const record = `${process.pid}:${clock.now()}`;
  try {
    if (createLockFile(fs, lockPath, record)) return () => releasePeerLock(fs, lockPath, record);
  } catch (cause) {
    const message =
      `The lock of omp next to ${path} could not be acquired (${String(cause)}); nothing was ` +
      "written. Fix the cause, then try again.";
    throw new BranchlogError("ERR_APPEND_FAILED", message, { path, cause });
  }
  if (clock.now() - takenMs(fs, lockPath) > lockStaleMs) removeQuietly(fs, lockPath);
  return null;
}

/** False if the file exists. After a failure, no file of ours is left. */
function createLockFile(fs: FileSystem, lockPath: string, record: string): boolean {
  let fd: number;
  try {
    fd = fs.openSync(lockPath, "create");
  } catch (error) {
    if (errorCodeOf(error) === "EEXIST") return false;
    throw error;
  }
  try {
    writeFully(fs, fd, Buffer.from(record));
    return true;
  } catch (error) {
    removeQuietly(fs, lockPath);
    throw error;
  } finally {
    closeQuietly(fs, fd);
  }
}

/** After a long stall, the lock may be another's. */
function releasePeerLock(fs: FileSystem, lockPath: string, record: string): void {
  if (lockRecord(fs, lockPath)?.text === record) removeQuietly(fs, lockPath);
}

function takenMs(fs: FileSystem, lockPath: string): number {
  const found = lockRecord(fs, lockPath);
  if (found === undefined) return Number.NaN;
  const [, time] = /^\d+:(\d+)$/.exec(found.text) ?? [];
  return time === undefined ? found.writtenMs : Number(time);
}

function lockRecord(
  fs: FileSystem,
  lockPath: string,
): { readonly text: string; readonly writtenMs: number } | undefined {
  const text = Buffer.alloc(64);
  try {
    const fd = fs.openSync(lockPath, "read");
    try {
      const count = fs.readSync(fd, text, 0, text.length, 0);
      return { text: text.toString("latin1", 0, count), writtenMs: fs.fstatSync(fd).mtimeMs };
    } finally {
      fs.closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

function heldByOmp(path: string, lockWaitMs: number): BranchlogError {
  const message =
    `omp held its lock of ${path} for ${lockWaitMs} ms; nothing was written. ` +
    "Try again, or raise lockWaitMs.";
  return new BranchlogError("ERR_LOCK_TIMEOUT", message, { path });
}
