/** Reads and replaces a document as a whole, under the lock of a log. */
import { portStep } from "@branchlog/streaming";
import type { Steps } from "@branchlog/streaming";
import { BranchlogError, isBranchlogError } from "@branchlog/core";
import type { FileSystem, Ports, FileStat, HeldLock } from "@branchlog/core/types";
import { AtomicFile, acquireLock, isSameFile } from "@branchlog/core/files";
import { requireFile } from "@branchlog/core/engine";
import {
  appendAttemptsMax,
  documentBytesMax,
  readAttemptsMax,
  readPauseMs,
  readQuietMs,
  replaceWaitsMax,
  settledAfterMs,
} from "./limits.ts";

interface FileContent {
  readonly bytes: Buffer;
  readonly text: string;
  readonly stat: FileStat;
}

/**
 * Reads and parses a document. While it is being written, it is read again, for a limited time.
 * @throws BranchlogError `ERR_LOG_MISSING`, `ERR_LOG_UNREADABLE`, `ERR_DOCUMENT_REFUSED`; what
 * `parse` throws.
 */
export async function readFileAs<T>(
  ports: Ports,
  path: string,
  parse: (text: string) => T,
): Promise<T> {
  for (let attempt = 1; attempt < readAttemptsMax; attempt += 1) {
    const read = parsedIfWhole(ports, path, readQuietMs, parse);
    if (read !== undefined) return read.parsed;
    await ports.clock.sleep(readPauseMs);
  }
  return parse(readContent(ports.fs, path).text);
}

/** Undefined while it may be half written. */
function parsedIfWhole<T>(
  { fs, clock }: Ports,
  path: string,
  quietMs: number,
  parse: (text: string) => T,
): { readonly content: FileContent; readonly parsed: T } | undefined {
  try {
    const content = readContent(fs, path);
    const { mtimeMs, ctimeMs } = content.stat;
    // The tool writes in place and without a lock, and a prefix of a document often is a document.
    // One that was renamed was whole then: its name is younger than its bytes.
    const isInPlace = ctimeMs <= mtimeMs;
    if (isInPlace && Math.abs(clock.now() - mtimeMs) <= quietMs) return undefined;
    return { content, parsed: parse(content.text) };
  } catch (error) {
    if (isBranchlogError(error, "ERR_DOCUMENT_DAMAGED")) {
      if (Math.abs(clock.now() - changedMs(fs, path)) <= settledAfterMs) return undefined;
    }
    throw error;
  }
}

function changedMs(fs: FileSystem, path: string): number {
  try {
    return fs.statSync(path)?.mtimeMs ?? Number.NaN;
  } catch {
    return Number.NaN;
  }
}

function readContent(fs: FileSystem, path: string): FileContent {
  const { bytes, stat } = readBytes(fs, path);
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return { bytes, text, stat };
  } catch (cause) {
    const message = `${path} is not UTF-8, or partly written. It was not changed.`;
    throw new BranchlogError("ERR_DOCUMENT_DAMAGED", message, { path, cause });
  }
}

function readBytes(fs: FileSystem, path: string): { bytes: Buffer; stat: FileStat } {
  try {
    requireFile(path, fs.statSync(path));
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
  } catch (cause) {
    if (cause instanceof BranchlogError) throw cause;
    const message = `${path} cannot be read (${reasonOf(cause)}). Check its permissions.`;
    throw new BranchlogError("ERR_LOG_UNREADABLE", message, { path, cause });
  }
}

function tooLong(path: string): BranchlogError {
  const message =
    `${path} is longer than ${documentBytesMax} bytes, which is more than a document of turns is ` +
    "read from. It was not changed.";
  return new BranchlogError("ERR_DOCUMENT_REFUSED", message, { path });
}

export interface Replacement<T> {
  readonly ports: Ports;
  readonly lockWaitMs: number;
  readonly path: string;
  /** Called again if the text changes. */
  readonly plan: (text: string) => T;
}

/**
 * Replaces the document, in its state under the lock, by the planned one.
 * @throws BranchlogError what `plan` throws; `ERR_LOCK_TIMEOUT`; `ERR_LOG_CHANGED` if other
 * programs keep changing it; `ERR_APPEND_FAILED`; the document is unchanged then.
 * `ERR_DURABILITY_UNKNOWN`: it was replaced, but not synced.
 */
export function* replaceDocument<T extends { readonly text: string }>({
  ports,
  lockWaitMs,
  path,
  plan,
}: Replacement<T>): Steps<T> {
  let waits = 0;
  for (let attempt = 0; attempt < appendAttemptsMax && waits <= replaceWaitsMax;) {
    if (waits > 0) yield { kind: "wait", clock: ports.clock, ms: readPauseMs };
    let held: HeldLock;
    try {
      held = yield* acquireLock(path, ports, lockWaitMs);
    } catch (error) {
      throw notWritten(path, error);
    }
    try {
      yield portStep("read");
      const planned = parsedIfWhole(ports, path, settledAfterMs, plan);
      if (planned === undefined) waits += 1;
      else {
        attempt += 1;
        yield portStep("write");
        const { content, parsed } = planned;
        if (isPlaced(ports, path, content, Buffer.from(parsed.text), held)) return parsed;
      }
    } finally {
      held.releaseSync();
    }
  }
  const message =
    `Other programs kept changing ${path}; nothing was appended. Close them, then ` +
    "append again.";
  throw new BranchlogError("ERR_LOG_CHANGED", message, { path });
}

function isPlaced(
  ports: Ports,
  path: string,
  content: FileContent,
  bytes: Buffer,
  held: HeldLock,
): boolean {
  let file: AtomicFile | undefined;
  try {
    file = new AtomicFile(ports, path);
    file.add(bytes);
    ports.fs.setModeSync(file.fd, content.stat.mode);
    file.syncSync();
    const now = readBytes(ports.fs, path);
    const isStill = isSameFile(now.stat, content.stat) && now.bytes.equals(content.bytes);
    if (!isStill || !held.isOursSync()) return false;
    replace(file);
  } catch (error) {
    throw notWritten(path, error);
  } finally {
    file?.discard();
  }
  syncName(file);
  return true;
}

/** A failed rename may have had its effect. */
function replace(file: AtomicFile): void {
  try {
    file.replace();
  } catch (error) {
    if (file.hasName() !== true) throw error;
  }
}

function syncName(file: AtomicFile): void {
  const { path } = file;
  try {
    file.syncName();
  } catch (cause) {
    const message =
      `${path} was written and is whole, but its directory could not be synced, so that a loss ` +
      "of power may bring back the document as it was before. Do not append the same turn again.";
    throw new BranchlogError("ERR_DURABILITY_UNKNOWN", message, { path, cause });
  }
}

function notWritten(path: string, cause: unknown): BranchlogError {
  if (cause instanceof BranchlogError) return cause;
  const message =
    `Nothing was appended to ${path} (${reasonOf(cause)}); it is what it was. Fix the cause, ` +
    "then append again.";
  return new BranchlogError("ERR_APPEND_FAILED", message, { path, cause });
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
