/**
 * A document as a file: read as a whole, replaced as a whole. Replacing holds the lock that logs
 * have, too, begins with the bytes that are there then, and keeps the mode of the file; at every
 * moment there is the old document or the new one. Editors and tools that take no lock are noticed
 * up to the last step.
 */
import { dirname } from "node:path";
import { BranchlogError, isBranchlogError } from "@branchlog/core";
import type { FileSystem, Ports } from "@branchlog/core/types";
import {
  acquireLock,
  isSameFile,
  portStep,
  requireFile,
  temporaryPath,
  writeFully,
} from "@branchlog/core/internal";
import type { FileStat, HeldLock, Steps } from "@branchlog/core/internal";
import {
  appendAttemptsMax,
  documentBytesMax,
  readAttemptsMax,
  readPauseMs,
  readQuietMs,
  replaceWaitsMax,
  settledAfterMs,
} from "./limits.ts";

/** The content of a file at one moment. */
export interface FileContent {
  readonly bytes: Buffer;
  readonly text: string;
  readonly stat: FileStat;
}

/**
 * Whether a document may be half written. The tool writes it from its beginning, in place and
 * without a lock, and what stands there meanwhile often is a document, too, with turns missing at
 * its end. What got its name by renaming was whole then: its name is younger than its bytes.
 */
function mayBeHalfWritten({ mtimeMs, ctimeMs }: FileStat, nowMs: number, quietMs: number): boolean {
  return Math.abs(nowMs - mtimeMs) <= quietMs && ctimeMs <= mtimeMs;
}

/**
 * Reads a document and makes something of it. One that is being written is read again for a moment,
 * until it has not changed for as long as a tool may pause.
 * @throws BranchlogError `ERR_LOG_MISSING`, `ERR_LOG_UNREADABLE`, `ERR_DOCUMENT_REFUSED`; what
 * `parse` throws.
 */
export async function readFileAs<T>(
  { fs, clock }: Ports,
  path: string,
  parse: (content: FileContent) => T,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const isLast = attempt >= readAttemptsMax;
    try {
      const content = readContent(fs, path);
      if (isLast || !mayBeHalfWritten(content.stat, clock.now(), readQuietMs)) {
        return parse(content);
      }
    } catch (error) {
      if (isLast || !mayHeal(error, changedMs(fs, path), clock.now())) throw error;
    }
    await clock.sleep(readPauseMs);
  }
}

/** Whether a failure may be that of a document that is being written. */
function mayHeal(error: unknown, mtimeMs: number, nowMs: number): boolean {
  const isFresh = Math.abs(nowMs - mtimeMs) <= settledAfterMs;
  return isFresh && isBranchlogError(error, "ERR_DOCUMENT_DAMAGED");
}

/** When a document was changed; not a number if that cannot be said. */
function changedMs(fs: FileSystem, path: string): number {
  try {
    return fs.statSync(path)?.mtimeMs ?? Number.NaN;
  } catch {
    return Number.NaN;
  }
}

/** The content of a file. Throws as {@link readFileAs}. */
function readContent(fs: FileSystem, path: string): FileContent {
  const { bytes, stat } = readBytes(fs, path);
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return { bytes, text, stat };
  } catch (cause) {
    const message = `${path} is no UTF-8, or only half written. It was left as it is.`;
    throw new BranchlogError("ERR_DOCUMENT_DAMAGED", message, { path, cause });
  }
}

function readBytes(fs: FileSystem, path: string): { bytes: Buffer; stat: FileStat } {
  requireFile(path, look(fs, path));
  try {
    const fd = fs.openSync(path, "read");
    try {
      const stat = fs.fstatSync(fd);
      if (stat.size > documentBytesMax) throw tooLong(path);
      const bytes = Buffer.allocUnsafe(stat.size);
      let done = 0;
      while (done < bytes.length) {
        const count = fs.readSync(fd, bytes, done, bytes.length - done, done);
        if (count === 0) break;
        done += count;
      }
      return { bytes: bytes.subarray(0, done), stat };
    } finally {
      fs.closeSync(fd);
    }
  } catch (error) {
    throw unreadable(path, error);
  }
}

function look(fs: FileSystem, path: string): FileStat | null {
  try {
    return fs.statSync(path);
  } catch (error) {
    throw unreadable(path, error);
  }
}

/** What a replacement works with. */
export interface Replacement<T> {
  readonly ports: Ports;
  readonly lockWaitMs: number;
  /** Canonical path of the document. */
  readonly path: string;
  /** The new text for a content, and what there is to say of it. Called again if that changes. */
  readonly plan: (content: FileContent) => { readonly text: string; readonly result: T };
}

/**
 * Replaces the document by what is planned for it, as it is under the lock.
 * @throws BranchlogError what `plan` throws; `ERR_LOCK_TIMEOUT`; `ERR_LOG_CHANGED` if other
 * programs keep changing it; `ERR_APPEND_FAILED`. The document is then what it was. Only with
 * `ERR_DURABILITY_UNKNOWN` it is the new one, whose name may not outlive a loss of power.
 */
export function* replaceDocument<T>(replacement: Replacement<T>): Steps<T> {
  const { ports, path } = replacement;
  let waits = 0;
  for (let attempt = 0; attempt < appendAttemptsMax;) {
    const held = yield* lockOf(replacement);
    try {
      yield portStep("read");
      const planned = plannedNow(replacement);
      if (planned === "half written") waits += 1;
      else {
        attempt += 1;
        yield portStep("write");
        const bytes = Buffer.from(planned.text);
        const next = { bytes, mayPlace: () => held.isOursSync() };
        if (placed(ports, path, planned.content, next)) return planned.result;
      }
    } finally {
      held.releaseSync();
    }
    if (waits > replaceWaitsMax) break;
    if (waits > 0) yield { kind: "wait", ms: readPauseMs };
  }
  throw changing(path);
}

function* lockOf({ ports, path, lockWaitMs }: Replacement<unknown>): Steps<HeldLock> {
  try {
    return yield* acquireLock(path, ports, lockWaitMs);
  } catch (error) {
    throw error instanceof BranchlogError ? error : notWritten(path, error);
  }
}

/** What to write for the document as it is; nothing while somebody may be writing it. */
function plannedNow<T>({
  ports,
  path,
  plan,
}: Replacement<T>):
  | { readonly content: FileContent; readonly text: string; readonly result: T }
  | "half written" {
  const { fs, clock } = ports;
  try {
    const content = readContent(fs, path);
    if (mayBeHalfWritten(content.stat, clock.now(), settledAfterMs)) {
      return "half written";
    }
    return { content, ...plan(content) };
  } catch (error) {
    if (mayHeal(error, changedMs(fs, path), clock.now())) return "half written";
    throw error;
  }
}

interface NewContent {
  readonly bytes: Buffer;
  /** Whether the lock is still ours. */
  readonly mayPlace: () => boolean;
}

/** Puts new bytes in the place of a content; false if there is another one by now. */
function placed(ports: Ports, path: string, content: FileContent, next: NewContent): boolean {
  const { fs } = ports;
  const temporary = temporaryPath(ports, path);
  let isPlaced = false;
  let isMade = false;
  try {
    const fd = fs.openSync(temporary, "create");
    isMade = true;
    const made = written(fs, fd, next.bytes, content.stat.mode);
    if (!isStill(fs, path, content) || !next.mayPlace()) return false;
    rename(fs, temporary, path, made);
    isPlaced = true;
  } catch (error) {
    throw error instanceof BranchlogError ? error : notWritten(path, error);
  } finally {
    if (isMade && !isPlaced) removeQuietly(fs, temporary);
  }
  syncName(fs, path);
  return true;
}

/** Fills and closes a new file; what it is then. */
function written(fs: FileSystem, fd: number, bytes: Buffer, mode: number): FileStat {
  try {
    writeFully(fs, fd, bytes);
    fs.setModeSync(fd, mode);
    fs.fdatasyncSync(fd);
    return fs.fstatSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

/** Renames; one that fails may have had its effect all the same. */
function rename(fs: FileSystem, from: string, to: string, file: FileStat): void {
  try {
    fs.renameSync(from, to);
  } catch (error) {
    const there = fs.statSync(to);
    if (there === null || !isSameFile(there, file)) throw error;
  }
}

/** Whether the file has the bytes that were read, and is the one they were read from. */
function isStill(fs: FileSystem, path: string, { bytes, stat }: FileContent): boolean {
  const now = readBytes(fs, path);
  return isSameFile(now.stat, stat) && now.bytes.equals(bytes);
}

function syncName(fs: FileSystem, path: string): void {
  try {
    fs.syncDirectorySync(dirname(path));
  } catch (cause) {
    const message =
      `${path} was written and is whole, but its directory could not be synced, so that a loss ` +
      "of power may bring back the document as it was before. Do not append the same turn again.";
    throw new BranchlogError("ERR_DURABILITY_UNKNOWN", message, { path, cause });
  }
}

function removeQuietly(fs: FileSystem, path: string): void {
  try {
    fs.unlinkSync(path);
  } catch {
    // It stays; its name says what it is, and nothing reads it.
  }
}

function tooLong(path: string): BranchlogError {
  const message =
    `${path} is longer than ${documentBytesMax} bytes, which is more than a document of turns is ` +
    "read from. It was left as it is.";
  return new BranchlogError("ERR_DOCUMENT_REFUSED", message, { path });
}

function unreadable(path: string, cause: unknown): BranchlogError {
  if (cause instanceof BranchlogError) return cause;
  const message = `${path} cannot be read (${reasonOf(cause)}). Check its permissions.`;
  return new BranchlogError("ERR_LOG_UNREADABLE", message, { path, cause });
}

function notWritten(path: string, cause: unknown): BranchlogError {
  const message =
    `Nothing was appended to ${path} (${reasonOf(cause)}); it is what it was. Fix the cause, ` +
    "then append again.";
  return new BranchlogError("ERR_APPEND_FAILED", message, { path, cause });
}

function changing(path: string): BranchlogError {
  const message =
    `Other programs kept changing ${path}; nothing was appended. Close them, then ` +
    "append again.";
  return new BranchlogError("ERR_LOG_CHANGED", message, { path });
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
