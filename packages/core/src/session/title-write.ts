/**
 * Writes the name of a session into the title slot of omp: the one write in place. It happens under
 * our lock and under omp's, to the file that was read, and only over a slot.
 */
import { basename, dirname, join } from "node:path";
import { encodeTitleSlot, slotLength, titleSlotBytes } from "../dialects/title-slot.ts";
import type { TitleSource } from "../dialects/title-slot.ts";
import { BranchlogError } from "../errors.ts";
import { lockStaleMs } from "../limits.ts";
import { closeQuietly, removeQuietly, writeFully } from "../platform/atomic-file.ts";
import { errorCodeOf, isSameFile } from "../platform/ports.ts";
import type { FileStat, FileSystem, Ports } from "../platform/ports.ts";
import { notAppended } from "../append/append-result.ts";
import type { Engine } from "./engine.ts";
import { acquireLock } from "../platform/lock.ts";
import { portStep } from "@branchlog/streaming";
import type { Steps } from "@branchlog/streaming";

const pauseMs = 5;

/**
 * Returns whether the title is in force: one made by an agent (`auto`) does not replace one set by
 * a user, even if another process set it a moment ago. Throws `ERR_READ_ONLY`, `ERR_VERSION_NEWER`,
 * `ERR_LOCK_TIMEOUT`, `ERR_LOG_GONE`; `ERR_APPEND_FAILED`, also without a slot.
 */
export function* writeTitle(engine: Engine, title: string, source: TitleSource): Steps<boolean> {
  engine.appender.requireWritable();
  const { log, settings } = engine;
  if (log.stored !== undefined) throw slotInStore(log.path);
  const { ports, lockWaitMs } = settings;
  const endMs = ports.clock.monotonicMs() + lockWaitMs;
  for (;;) {
    const outcome = yield* underLocks(engine, title, source);
    if (outcome !== "busy") return outcome === "written";
    if (ports.clock.monotonicMs() >= endMs) throw heldByOmp(log.path, lockWaitMs);
    yield { kind: "wait", clock: ports.clock, ms: pauseMs };
  }
}

/** `busy`: omp is writing, or our lock was lost; `kept`: a user named it. Nothing was written. */
type TitleOutcome = "written" | "kept" | "busy";

function* underLocks(engine: Engine, title: string, source: TitleSource): Steps<TitleOutcome> {
  try {
    return yield* writtenUnderLocks(engine, title, source);
  } catch (error) {
    throw notAppended(engine.path, error);
  }
}

function* writtenUnderLocks(
  engine: Engine,
  title: string,
  source: TitleSource,
): Steps<TitleOutcome> {
  const { log, settings } = engine;
  const { ports, lockWaitMs } = settings;
  const held = yield* acquireLock(log.path, ports, lockWaitMs);
  try {
    yield* log.catchUp();
    if (source === "auto" && log.state.titleSlot?.source === "user") return "kept";
    yield portStep("peer lock");
    const release = takePeerLock(ports, log.path);
    if (release === null) return "busy";
    try {
      yield portStep("check lock");
      if (!held.isOursSync()) return "busy";
      yield portStep("write title");
      const updatedAt = new Date(ports.clock.now()).toISOString();
      const slot = encodeTitleSlot({ title, source, updatedAt });
      overwriteSlot(engine, slot);
    } finally {
      release();
    }
    yield* log.catchUp();
    return "written";
  } finally {
    held.releaseSync();
  }
}

function overwriteSlot({ log, path, settings }: Engine, slot: Buffer): void {
  const { fs } = settings.ports;
  try {
    const fd = fs.openSync(path, "update");
    try {
      requireSlot(fs, fd, path, log.stat);
      for (let done = 0; done < slot.length;) {
        const count = fs.updateSync(fd, slot.subarray(done), done);
        if (count === 0) throw new Error("the file system took none of the bytes");
        done += count;
      }
      if (settings.durability === "disk") fs.fdatasyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
  } catch (cause) {
    if (cause instanceof BranchlogError) throw cause;
    const message =
      `The title slot of ${path} could not be written (${String(cause)}); its entries are as ` +
      "they were. Fix the cause, then name the session again.";
    throw new BranchlogError("ERR_APPEND_FAILED", message, { path, cause });
  }
}

/** Anywhere else, 256 bytes would overwrite something, usually a header. */
function requireSlot(fs: FileSystem, fd: number, path: string, read: FileStat | undefined): void {
  const start = Buffer.alloc(titleSlotBytes);
  const count = fs.readSync(fd, start, 0, start.length, 0);
  const isSame = read !== undefined && isSameFile(fs.fstatSync(fd), read);
  if (isSame && slotLength(start.subarray(0, count)) > 0) return;
  const message =
    `${path} has no title slot, or another file took its name; nothing was written. ` +
    "Open it again, then name the session.";
  throw new BranchlogError("ERR_APPEND_FAILED", message, { path });
}

/**
 * Null if omp holds it. A lock left behind by a dead process is removed once it is as old as a lock
 * of ours may get. Throws `ERR_APPEND_FAILED`.
 */
function takePeerLock({ fs, clock }: Ports, path: string): (() => void) | null {
  const lockPath = join(dirname(path), `.${basename(path)}.lock`);
  const record = `${process.pid}:${clock.now()}`;
  try {
    if (createLockFile(fs, lockPath, record)) return () => releasePeerLock(fs, lockPath, record);
  } catch (cause) {
    const message =
      `The lock of omp beside ${path} could not be taken (${String(cause)}); the session was ` +
      "not renamed. Fix the cause, then name it again.";
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

function slotInStore(path: string): BranchlogError {
  const message =
    `${path} has its name in a title slot of omp, which a store cannot rewrite; it was not ` +
    "renamed. Name the session in its file, and store it under a new name.";
  return new BranchlogError("ERR_APPEND_FAILED", message, { path });
}

function heldByOmp(path: string, lockWaitMs: number): BranchlogError {
  const message =
    `omp kept its lock of ${path} for ${lockWaitMs} ms; the session was not renamed. ` +
    "Try again, or raise lockWaitMs.";
  return new BranchlogError("ERR_LOCK_TIMEOUT", message, { path });
}
