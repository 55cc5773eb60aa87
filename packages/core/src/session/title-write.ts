/**
 * Writes the name of a session into the title slot of omp: the one write in place. It happens under
 * our lock and under omp's, to the file that was read, and only over a slot.
 */
import { encodeTitleSlot, slotLength, titleSlotBytes } from "../dialects/title-slot.ts";
import type { TitleSource } from "../dialects/title-slot.ts";
import { BranchlogError } from "../errors.ts";
import type { EngineSettings } from "../log/engine-options.ts";
import { takePeerLock, untilPeerFree } from "../platform/peer-lock.ts";
import { isSameFile } from "../platform/ports.ts";
import type { FileStat, FileSystem } from "../platform/ports.ts";
import { notAppended } from "../append/append-result.ts";
import type { Engine } from "./engine.ts";
import { acquireLock } from "../platform/lock.ts";
import { portStep } from "@branchlog/streaming";
import type { Steps } from "@branchlog/streaming";

/**
 * Returns whether the title is in force: one made by an agent (`auto`) does not replace one set by
 * a user, even if another process set it a moment ago. Throws `ERR_READ_ONLY`, `ERR_VERSION_NEWER`,
 * `ERR_LOCK_TIMEOUT`, `ERR_LOG_GONE`; `ERR_APPEND_FAILED`, also without a slot.
 */
export function* writeTitle(engine: Engine, title: string, source: TitleSource): Steps<boolean> {
  engine.appender.requireWritable();
  const { log, settings } = engine;
  if (log.stored !== undefined) throw slotInStore(log.path);
  const attempt = (): Steps<TitleOutcome> => underLocks(engine, title, source);
  return (yield* untilPeerFree(log.path, settings, attempt)) === "written";
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
      overwriteSlot(log.path, slot, settings, log.stat);
    } finally {
      release();
    }
    yield* log.catchUp();
    return "written";
  } finally {
    held.releaseSync();
  }
}

/** Under both locks. Throws `ERR_APPEND_FAILED`. @param read The intended file. */
export function overwriteSlot(
  path: string,
  slot: Buffer,
  { ports, durability }: Pick<EngineSettings, "ports" | "durability">,
  read: FileStat | undefined,
): void {
  const { fs } = ports;
  try {
    const fd = fs.openSync(path, "update");
    try {
      requireSlot(fs, fd, path, read);
      for (let done = 0; done < slot.length;) {
        const count = fs.updateSync(fd, slot.subarray(done), done);
        if (count === 0) throw new Error("the file system wrote no bytes");
        done += count;
      }
      if (durability === "disk") fs.fdatasyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
  } catch (cause) {
    if (cause instanceof BranchlogError) throw cause;
    const message =
      `The title slot of ${path} could not be written (${String(cause)}); its entries are ` +
      "unchanged. Fix the cause, then name the session again.";
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
    `${path} has no title slot, or was replaced; nothing was written. ` +
    "Open it again, then name the session.";
  throw new BranchlogError("ERR_APPEND_FAILED", message, { path });
}

function slotInStore(path: string): BranchlogError {
  const message =
    `${path} has its name in a title slot of omp, which a store cannot rewrite; it was not ` +
    "renamed. Name the session in its file, and store it under a new name.";
  return new BranchlogError("ERR_APPEND_FAILED", message, { path });
}
