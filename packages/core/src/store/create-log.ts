/**
 * Makes a new log appear under its name in one step, whole or not at all: its bytes are written to
 * a temporary file in the same directory, which is then linked to the final name. An existing file
 * is never touched. Files are 0600, new directories 0700.
 */
import { dirname } from "node:path";
import { BranchlogError } from "../errors.ts";
import { creationFailed, errorCodeOf, logExists, nameNotDurable } from "./creation-errors.ts";
import { makeDurableDirectory } from "./durable-directory.ts";
import type { FileSystem, Ports } from "./ports.ts";
import { sidecarPath } from "./sidecar-path.ts";

/** Error codes with which file systems without hard links refuse them. */
const linkUnsupported: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

/** Whether a link failed because the file system has none. */
export function isLinkUnsupported(error: unknown): boolean {
  return linkUnsupported.has(errorCodeOf(error));
}

/**
 * Creates a log with these bytes, and its directory if that is missing. The bytes and the name are
 * on the device when it returns.
 * @throws BranchlogError `ERR_LOG_EXISTS`; `ERR_CREATE_FAILED` with the cause; what the chunks
 * throw, if it is a BranchlogError. No part of a log is left behind, though directories that were
 * made stay. Only if the name cannot be made durable, the log is there, whole, and the message
 * says so.
 */
export function createLog(ports: Ports, path: string, chunks: Iterable<Buffer>): void {
  const { fs } = ports;
  try {
    makeDurableDirectory(fs, dirname(path));
    publishNew(ports, temporaryPath(ports, path), path, chunks);
  } catch (error) {
    throw error instanceof BranchlogError ? error : creationFailed(path, error);
  }
  syncName(fs, path);
}

/** Makes the name of a new log durable. */
export function syncName(fs: FileSystem, path: string): void {
  try {
    fs.syncDirectorySync(dirname(path));
  } catch (error) {
    // Others may have opened the log by now and appended to it: it is not taken back.
    throw nameNotDurable(path, error);
  }
}

/** A name beside the log that no other program uses, and no agent lists as a session. */
export function temporaryPath(ports: Ports, path: string): string {
  return sidecarPath(path, `.${ports.ids.sessionId()}.tmp`);
}

/**
 * Writes all bytes, in as many calls as the system takes. Only for files that no other program
 * sees.
 * @throws What the file system throws; an error if it takes nothing, which would never end.
 */
export function writeFully(fs: FileSystem, fd: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length;) {
    const count = fs.writeSync(fd, bytes, done, bytes.length - done);
    if (count === 0) throw new Error("the file system took none of the bytes, and named no error");
    done += count;
  }
}

function publishNew(ports: Ports, temporary: string, path: string, chunks: Iterable<Buffer>): void {
  const { fs } = ports;
  const fd = fs.openSync(temporary, "create");
  try {
    fillAndClose(fs, fd, chunks);
    publish(ports, temporary, path);
  } finally {
    // After a rename there is nothing to remove. Where removing fails, what it is done for has
    // failed too, and that is what gets reported; or the log is there, and a second name does not
    // make its creation a failure.
    removeQuietly(fs, temporary);
  }
}

/** Writes a new file, syncs and closes it. */
function fillAndClose(fs: FileSystem, fd: number, chunks: Iterable<Buffer>): void {
  let isOpen = true;
  try {
    for (const chunk of chunks) writeFully(fs, fd, chunk);
    fs.fdatasyncSync(fd);
    isOpen = false;
    fs.closeSync(fd);
  } finally {
    if (isOpen) closeQuietly(fs, fd);
  }
}

/**
 * Gives the file at `temporary` the name `path`, too; moves it there where that is not possible.
 * @throws BranchlogError `ERR_LOG_EXISTS`; what the file system throws.
 */
export function publish(ports: Ports, temporary: string, path: string): void {
  try {
    ports.fs.linkSync(temporary, path);
  } catch (error) {
    if (errorCodeOf(error) === "EEXIST") throw logExists(path, error);
    if (!isLinkUnsupported(error)) throw error;
    replaceReserved(ports, temporary, path);
  }
}

/** Without hard links: takes the name with an empty file, which the log replaces in one step. */
function replaceReserved({ fs, lock }: Ports, temporary: string, path: string): void {
  // A writer that finds the empty file needs the lock first, and then finds the file replaced.
  const held = lock.tryAcquireSync(path);
  if (held === null) throw new Error("another process is about to write to a file of this name");
  try {
    reserve(fs, path);
    try {
      fs.renameSync(temporary, path);
    } catch (error) {
      removeQuietly(fs, path);
      throw error;
    }
  } finally {
    held.releaseSync();
  }
}

function reserve(fs: FileSystem, path: string): void {
  let fd: number;
  try {
    fd = fs.openSync(path, "create");
  } catch (error) {
    if (errorCodeOf(error) === "EEXIST") throw logExists(path, error);
    throw error;
  }
  closeQuietly(fs, fd);
}

/** Closes a file of which nothing is wanted any more. */
export function closeQuietly(fs: FileSystem, fd: number): void {
  try {
    fs.closeSync(fd);
  } catch {
    // Nothing of worth was written to it: another failure is reported, or it is empty.
  }
}

/** Removes a name that no other program knows, if it is there. */
export function removeQuietly(fs: FileSystem, path: string): void {
  try {
    fs.unlinkSync(path);
  } catch {
    // See where it is called.
  }
}
