/**
 * Files that appear under their name completely or not at all. They are written under a temporary
 * name in the same directory, which is then linked, if the name is free, or renamed over another
 * file. A crash leaves at most a temporary file. Files are 0600, new directories 0700.
 */
import { dirname } from "node:path";
import { setImmediate as nextIteration } from "node:timers/promises";
import { BranchlogError } from "../errors.ts";
import { requireNoAddress } from "./address.ts";
import { descriptorPoolOf } from "./descriptor-pool.ts";
import { requireOwnPlace } from "./foreign-places.ts";
import { errorCodeOf, isSameFile, quietly, reasonOf } from "./ports.ts";
import type { FileSystem, Ports } from "./ports.ts";
import { sidecarPath } from "./sidecar.ts";

/** Always discard it in the end. */
export class AtomicFile {
  readonly path: string;
  readonly temporary: string;
  /** For appending; valid until it is closed, also under the final name. */
  readonly fd: number;
  readonly #ports: Ports;
  #isOpen = true;
  #isTemporary = true;

  /** Creates an empty file. Throws errors of the file system, as all other methods do. */
  constructor(ports: Ports, path: string, temporary: string = temporaryPath(ports, path)) {
    this.path = path;
    this.temporary = temporary;
    this.#ports = ports;
    this.fd = ports.fs.openSync(temporary, "create");
  }

  add(bytes: Buffer): void {
    writeFully(this.#ports.fs, this.fd, bytes);
  }

  syncSync(): void {
    this.#ports.fs.fdatasyncSync(this.fd);
  }

  sync(): Promise<void> {
    return this.#ports.fs.fdatasync(this.fd);
  }

  close(): void {
    this.#isOpen = false;
    this.#ports.fs.closeSync(this.fd);
  }

  replace(): void {
    const { fs } = this.#ports;
    try {
      fs.renameSync(this.temporary, this.path);
    } catch (error) {
      // Windows replaces no file that is open, and this process keeps logs open.
      if (!heldOpen.has(errorCodeOf(error))) throw error;
      descriptorPoolOf(fs).closePath(this.path);
      fs.renameSync(this.temporary, this.path);
    }
    this.#isTemporary = false;
  }

  /** Throws `ERR_LOG_EXISTS` if its name is taken, and errors of the file system. */
  publish(): void {
    try {
      this.#ports.fs.linkSync(this.temporary, this.path);
    } catch (error) {
      if (errorCodeOf(error) === "EEXIST") throw logExists(this.path, error);
      if (!isLinkUnsupported(error)) throw error;
      this.#replaceReserved();
    }
  }

  syncName(): void {
    this.#ports.fs.syncDirectorySync(dirname(this.path));
  }

  /** Undefined if unknown. Call it before it is closed, also after a failed call. */
  hasName(): boolean | undefined {
    const { fs } = this.#ports;
    try {
      const there = fs.statSync(this.path);
      return there !== null && isSameFile(there, fs.fstatSync(this.fd));
    } catch {
      return undefined;
    }
  }

  /** Closes it, and removes its temporary name. Never throws. */
  discard(): void {
    const { fs } = this.#ports;
    if (this.#isOpen) closeQuietly(fs, this.fd);
    if (this.#isTemporary) removeQuietly(fs, this.temporary);
    this.#isOpen = false;
    this.#isTemporary = false;
  }

  /** Without hard links: takes the name with an empty file, then renames over it. */
  #replaceReserved(): void {
    const { fs, lock } = this.#ports;
    // A writer that finds the empty file needs the lock first, and then finds the file replaced.
    const held = lock.tryAcquireSync(this.path);
    if (held === null) throw new Error("another process is about to write to a file of this name");
    try {
      reserve(fs, this.path);
      try {
        this.replace();
      } catch (error) {
        removeQuietly(fs, this.path);
        throw error;
      }
    } finally {
      held.releaseSync();
    }
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

const heldOpen: ReadonlySet<string> = new Set(["EPERM", "EACCES", "EBUSY"]);

const linkUnsupported: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

export function isLinkUnsupported(error: unknown): boolean {
  return linkUnsupported.has(errorCodeOf(error));
}

/**
 * Gives a log a second name and returns true; where the file system has no links, makes a copy and
 * returns false. Throws `ERR_LOG_EXISTS` if the name is taken; errors of the file system.
 */
export function linkOrCopy(
  ports: Ports,
  { path, name }: { readonly path: string; readonly name: string },
  bytes: () => Iterable<Buffer>,
): boolean {
  try {
    ports.fs.linkSync(path, name);
    return true;
  } catch (error) {
    if (errorCodeOf(error) === "EEXIST") throw logExists(name, error);
    if (!isLinkUnsupported(error)) throw error;
    createLog(ports, name, bytes());
    return false;
  }
}

/** A name that no other program uses, and no agent lists as a session. */
export function temporaryPath(ports: Ports, path: string): string {
  return sidecarPath(path, `.${ports.ids.sessionId()}.tmp`);
}

/** Syncs the names of new directories: a file is no more durable than the directory of its name. */
export function makeDurableDirectory(fs: FileSystem, path: string): void {
  const missing: string[] = [];
  for (let at = path; fs.statSync(at) === null && at !== dirname(at); at = dirname(at)) {
    missing.push(at);
  }
  fs.makeDirectorySync(path);
  for (const made of missing) fs.syncDirectorySync(dirname(made));
}

/** May take several writes: only for files that no other program sees. */
export function writeFully(fs: FileSystem, fd: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length;) {
    const count = fs.writeSync(fd, bytes, done, bytes.length - done);
    if (count === 0) throw new Error("the file system wrote no bytes, and returned no error");
    done += count;
  }
}

/** Closes a file whose failure has no consequence. */
export function closeQuietly(fs: FileSystem, fd: number): void {
  quietly(() => fs.closeSync(fd));
}

export function removeQuietly(fs: FileSystem, path: string): void {
  quietly(() => fs.unlinkSync(path));
}

/**
 * Durably, with missing directories. After an error no part of a log is left, though directories
 * stay; only if the name cannot be made durable, the log stays, complete, and the message reports
 * it. Throws `ERR_LOG_EXISTS`; `ERR_CREATE_FAILED`; BranchlogErrors of the chunks.
 */
export function createLog(ports: Ports, path: string, chunks: Iterable<Buffer>): void {
  const file = creating(path, () => begun(ports, path));
  try {
    creating(path, () => {
      for (const chunk of chunks) file.add(chunk);
      file.syncSync();
      file.close();
      file.publish();
    });
  } finally {
    file.discard();
  }
  syncName(file);
}

/** As {@link createLog}, without blocking for long; errors of the chunks pass unchanged. */
export async function createStreamedLog(
  ports: Ports,
  path: string,
  chunks: AsyncIterable<Buffer>,
): Promise<void> {
  const file = creating(path, () => begun(ports, path));
  try {
    for await (const chunk of chunks) creating(path, () => file.add(chunk));
    await file.sync().catch((error: unknown) => {
      throw creationFailed(path, error);
    });
    creating(path, () => {
      file.close();
      file.publish();
    });
  } finally {
    file.discard();
  }
  syncName(file);
}

export function requireFree({ fs }: Ports, path: string): void {
  requireNoAddress(path);
  if (creating(path, () => fs.statSync(path)) !== null) throw logExists(path, undefined);
}

export async function* inBatches(
  chunks: Iterable<Buffer>,
  signal?: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  for (const chunk of chunks) {
    yield chunk;
    await nextIteration();
    signal?.throwIfAborted();
  }
}

function begun(ports: Ports, path: string): AtomicFile {
  requireOwnPlace(ports.fs, path);
  makeDurableDirectory(ports.fs, dirname(path));
  return new AtomicFile(ports, path);
}

function syncName(file: AtomicFile): void {
  try {
    file.syncName();
  } catch (error) {
    // Others may have opened the log since and appended to it: it is not removed.
    throw nameNotDurable(file.path, error);
  }
}

/** Throws what `step` throws, as an error that says that the file was not created. */
export function creating<T>(path: string, step: () => T): T {
  try {
    return step();
  } catch (error) {
    throw error instanceof BranchlogError ? error : creationFailed(path, error);
  }
}

const remedies: Readonly<Record<string, string>> = {
  EACCES: "Check the permissions of its directory, or choose another place.",
  EDQUOT: "Free some of your quota, then create it again.",
  EEXIST: "A part of its path is a file, not a directory: choose another path.",
  EISDIR: "Give the path of a file, not of a directory.",
  ERR_INVALID_ARG_VALUE: "A path cannot contain a null character: choose another one.",
  ELOOP: "Its path contains a loop of symbolic links: choose another path.",
  EMFILE: "Too many files are open in this process: close some, then create it again.",
  ENAMETOOLONG: "Choose a shorter path: names have 255 bytes at most.",
  ENFILE: "Too many files are open on this machine: close some, then create it again.",
  ENOENT: "Its directory does not exist, or the name is empty: choose another path.",
  ENOSPC: "Free space on the disk, then create it again.",
  ENOTDIR: "A part of its path is a file, not a directory: choose another path.",
  EPERM: "Check the permissions of its directory, or choose another place.",
  EROFS: "The file system is read-only: choose another place.",
};

export function logExists(path: string, cause: unknown): BranchlogError {
  const message = `${path} already exists; it was not changed. Open it, or choose another name.`;
  return new BranchlogError("ERR_LOG_EXISTS", message, { path, cause });
}

export function creationFailed(path: string, cause: unknown): BranchlogError {
  const message = `The session file ${path} was not created (${reasonOf(cause)}). `;
  return new BranchlogError("ERR_CREATE_FAILED", message + remedyFor(cause), { path, cause });
}

export function directoryFailed(path: string, cause: unknown): BranchlogError {
  const message = `The directory ${path} for sessions was not created (${reasonOf(cause)}). `;
  return new BranchlogError("ERR_CREATE_FAILED", message + remedyFor(cause), { path, cause });
}

function remedyFor(cause: unknown): string {
  return remedies[errorCodeOf(cause)] ?? "Fix the cause, then create it again.";
}

function nameNotDurable(path: string, cause: unknown): BranchlogError {
  const message =
    `The session file ${path} was created and is complete, but its directory could not be synced ` +
    `(${reasonOf(cause)}), so a power failure may lose it. Open it to continue.`;
  return new BranchlogError("ERR_CREATE_FAILED", message, { path, cause });
}

const gatheredBytes = 1024 * 1024;

/** Gathers pieces into few large chunks: each costs a write. Large pieces are not copied. */
class LargeChunks {
  #pieces: Buffer[] = [];
  #bytes = 0;

  add(piece: Buffer): readonly Buffer[] {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    return this.#bytes < gatheredBytes ? [] : this.#take(piece.length >= gatheredBytes);
  }

  rest(): readonly Buffer[] {
    return this.#bytes === 0 ? [] : this.#take(false);
  }

  #take(asTheyAre: boolean): readonly Buffer[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#bytes = 0;
    return asTheyAre ? pieces : [Buffer.concat(pieces)];
  }
}

export function* inLargeChunks(pieces: Iterable<Buffer>): Generator<Buffer> {
  const chunks = new LargeChunks();
  for (const piece of pieces) yield* chunks.add(piece);
  yield* chunks.rest();
}

export async function* inLargeChunksAsync(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const chunks = new LargeChunks();
  for await (const piece of pieces) yield* chunks.add(piece);
  yield* chunks.rest();
}
