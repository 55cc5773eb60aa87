/**
 * A file that appears under its name in one step, whole or not at all: it is written under a
 * temporary name in the same directory, and then takes its name, either only if that is free, or in
 * the place of another file. A crash leaves a temporary file at most. Files are 0600, new
 * directories 0700.
 */
import { dirname } from "node:path";
import { errorCodeOf, logExists } from "./creation-errors.ts";
import { isSameFile } from "./ports.ts";
import type { FileSystem, Ports } from "./ports.ts";
import { sidecarPath } from "./sidecar-path.ts";

/** See the file comment. To be discarded in the end, whatever has become of it. */
export class AtomicFile {
  /** The name that it takes. */
  readonly path: string;
  readonly temporary: string;
  /** For appending; valid until it is closed, also under the new name. */
  readonly fd: number;
  readonly #ports: Ports;
  #isOpen = true;
  #isTemporary = true;

  /** Creates it, empty. Throws what the file system throws. */
  constructor(ports: Ports, path: string, temporary: string = temporaryPath(ports, path)) {
    this.path = path;
    this.temporary = temporary;
    this.#ports = ports;
    this.fd = ports.fs.openSync(temporary, "create");
  }

  /** Adds bytes. Throws what the file system throws, as all that follow do. */
  add(bytes: Buffer): void {
    writeFully(this.#ports.fs, this.fd, bytes);
  }

  /** Brings its bytes to the device, blocking. */
  syncSync(): void {
    this.#ports.fs.fdatasyncSync(this.fd);
  }

  /** Brings its bytes to the device. */
  sync(): Promise<void> {
    return this.#ports.fs.fdatasync(this.fd);
  }

  close(): void {
    this.#isOpen = false;
    this.#ports.fs.closeSync(this.fd);
  }

  /** Takes the place of the file at its path, if there is one. */
  replace(): void {
    this.#ports.fs.renameSync(this.temporary, this.path);
    this.#isTemporary = false;
  }

  /**
   * Takes its name if that is free.
   * @throws BranchlogError `ERR_LOG_EXISTS`; what the file system throws.
   */
  publish(): void {
    try {
      this.#ports.fs.linkSync(this.temporary, this.path);
    } catch (error) {
      if (errorCodeOf(error) === "EEXIST") throw logExists(this.path, error);
      if (!isLinkUnsupported(error)) throw error;
      this.#replaceReserved();
    }
  }

  /** Makes its name durable. */
  syncName(): void {
    this.#ports.fs.syncDirectorySync(dirname(this.path));
  }

  /**
   * Whether it has its name, as a call that failed may have had its effect; undefined if that
   * cannot be found out. It must be open.
   */
  hasName(): boolean | undefined {
    const { fs } = this.#ports;
    try {
      const there = fs.statSync(this.path);
      return there !== null && isSameFile(there, fs.fstatSync(this.fd));
    } catch {
      return undefined;
    }
  }

  /**
   * Closes it, and removes its temporary name. Where that fails, what it is done for has failed
   * too, and that is what gets reported; or the file has its name, and a second one is no failure.
   */
  discard(): void {
    const { fs } = this.#ports;
    if (this.#isOpen) closeQuietly(fs, this.fd);
    if (this.#isTemporary) removeQuietly(fs, this.temporary);
    this.#isOpen = false;
    this.#isTemporary = false;
  }

  /** Without hard links: takes the name with an empty file, which this one replaces in one step. */
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

/** Error codes with which file systems without hard links refuse them. */
const linkUnsupported: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

/** Whether a link failed because the file system has none. */
export function isLinkUnsupported(error: unknown): boolean {
  return linkUnsupported.has(errorCodeOf(error));
}

/** A name beside the file that no other program uses, and no agent lists as a session. */
export function temporaryPath(ports: Ports, path: string): string {
  return sidecarPath(path, `.${ports.ids.sessionId()}.tmp`);
}

/**
 * Makes a directory of mode 0700 and its missing parents. Their names are on the device then: a
 * file is no more durable than the directory that holds it. Existing ones are left alone.
 */
export function makeDurableDirectory(fs: FileSystem, path: string): void {
  const missing: string[] = [];
  for (let at = path; fs.statSync(at) === null && at !== dirname(at); at = dirname(at)) {
    missing.push(at);
  }
  fs.makeDirectorySync(path);
  for (const made of missing) fs.syncDirectorySync(dirname(made));
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

/** Closes a file of which nothing is wanted any more: another failure is reported, or none. */
export function closeQuietly(fs: FileSystem, fd: number): void {
  try {
    fs.closeSync(fd);
  } catch {
    // See above.
  }
}

/** Removes a name that no other program knows, if it is there; nothing reads what stays. */
export function removeQuietly(fs: FileSystem, path: string): void {
  try {
    fs.unlinkSync(path);
  } catch {
    // See above.
  }
}
