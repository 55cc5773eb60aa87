/**
 * Makes a new log appear under its name in one step, whole or not at all: its bytes are written to
 * a temporary file in the same directory, which is then linked to the final name. An existing file
 * is never touched. Files are 0600, new directories 0700.
 */
import { dirname } from "node:path";
import { BranchlogError } from "../errors.ts";
import { makeDurableDirectory } from "./durable-directory.ts";
import type { FileSystem, Ports } from "./ports.ts";

/** Error codes with which file systems without hard links refuse them. */
const linkUnsupported: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

/**
 * Creates a log with these bytes, and its directory if that is missing. The bytes and the name are
 * on the device when it returns.
 * @throws BranchlogError `ERR_LOG_EXISTS`; what the file system throws, with nothing left behind.
 */
export function createLog(ports: Ports, path: string, chunks: Iterable<Buffer>): void {
  const { fs } = ports;
  makeDurableDirectory(fs, dirname(path));
  const temporary = temporaryPath(ports, path);
  writeNew(fs, temporary, chunks);
  try {
    publish(fs, temporary, path);
  } finally {
    fs.unlinkSync(temporary);
  }
  fs.syncDirectorySync(dirname(path));
}

/** A name beside the log that nobody else uses, and that no agent lists as a session. */
export function temporaryPath(ports: Ports, path: string): string {
  return `${path}.${ports.ids.sessionId()}.tmp`;
}

/** Writes a new file and syncs it; on failure the part that was written is removed. */
function writeNew(fs: FileSystem, path: string, chunks: Iterable<Buffer>): void {
  const fd = fs.openSync(path, "create");
  try {
    for (const chunk of chunks) writeFully(fs, fd, chunk);
    fs.fdatasyncSync(fd);
  } catch (error) {
    fs.unlinkSync(path);
    throw error;
  } finally {
    fs.closeSync(fd);
  }
}

/** Writes all bytes, in as many calls as the system takes. Only for files nobody else sees. */
export function writeFully(fs: FileSystem, fd: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length;) {
    done += fs.writeSync(fd, bytes, done, bytes.length - done);
  }
}

/**
 * Gives the file at `temporary` the name `path`, too; copies it where that is not possible.
 * @throws BranchlogError `ERR_LOG_EXISTS`; what the file system throws.
 */
export function publish(fs: FileSystem, temporary: string, path: string): void {
  try {
    fs.linkSync(temporary, path);
  } catch (error) {
    const code = codeOf(error);
    if (code === "EEXIST") throw existing(path, error);
    if (!linkUnsupported.has(code)) throw error;
    copyExclusively(fs, temporary, path);
  }
}

function copyExclusively(fs: FileSystem, from: string, to: string): void {
  try {
    writeNew(fs, to, chunksOf(fs, from));
  } catch (error) {
    if (codeOf(error) === "EEXIST") throw existing(to, error);
    throw error;
  }
}

function* chunksOf(fs: FileSystem, path: string): Generator<Buffer> {
  const fd = fs.openSync(path, "read");
  try {
    for (let position = 0; ;) {
      const chunk = Buffer.allocUnsafe(1024 * 1024);
      const count = fs.readSync(fd, chunk, 0, chunk.length, position);
      if (count === 0) return;
      position += count;
      yield chunk.subarray(0, count);
    }
  } finally {
    fs.closeSync(fd);
  }
}

function existing(path: string, cause: unknown): BranchlogError {
  const message =
    `There is a file at ${path} already; it was left as it is. ` +
    "Open it, or choose another name.";
  return new BranchlogError("ERR_LOG_EXISTS", message, { path, cause });
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error) || !("code" in error)) return "";
  return typeof error.code === "string" ? error.code : "";
}
