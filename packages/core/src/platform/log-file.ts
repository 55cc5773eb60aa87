/**
 * One log as a file. Reads stay with the file that was adopted, even if another one takes its name;
 * appends go to the file that has the name. Reading fails with `ERR_LOG_UNREADABLE`, or
 * `ERR_LOG_GONE` once the adopted file has lost its name; appending fails as the file system does.
 */
import { dirname, join, basename } from "node:path";
import { readCounter } from "@branchlog/streaming";
import type { ByteSource } from "@branchlog/streaming";
import { BranchlogError } from "../errors.ts";
import { descriptorPoolOf, retainedBy } from "./descriptor-pool.ts";
import type { PoolMode } from "./descriptor-pool.ts";
import { errorCodeOf, isSameFile, quietly } from "./ports.ts";
import type { FileIdentity, FileSystem, FileStat } from "./ports.ts";

const chunkBytes = 1024 * 1024;

/** Its path is canonical, so that two names of a log share a lock. */
export class LogFile implements ByteSource {
  readonly path: string;
  readonly #fs: FileSystem;
  #adopted: FileIdentity | undefined;

  constructor(fs: FileSystem, path: string, adopted?: FileStat) {
    this.#fs = fs;
    this.path = adopted === undefined ? canonicalPath(fs, path) : path;
    if (adopted !== undefined) this.adopt(adopted);
  }

  adopted(stat: FileStat): LogFile {
    return new LogFile(this.#fs, this.path, stat);
  }

  statSync(): FileStat | null {
    try {
      return this.#fs.statSync(this.path);
    } catch (error) {
      throw unreadable(this.path, error);
    }
  }

  adopt({ dev, ino }: FileStat): void {
    this.#adopted = { dev, ino };
  }

  /** Until the returned function is called, or `owner` is collected. */
  retain(owner: object): () => void {
    return retainedBy(owner, this.#fs, this.path);
  }

  /** Keeps the log open during `work`, so that reads succeed even after it loses its name. */
  async whileRetained<T>(work: () => Promise<T>): Promise<T> {
    const release = this.retain(this);
    try {
      return await work();
    } finally {
      release();
    }
  }

  isAt(file: FileIdentity): boolean {
    return this.#adopted !== undefined && isSameFile(file, this.#adopted);
  }

  readSync(target: Buffer, offset: number, length: number, position: number): number {
    try {
      const bytesRead = this.#useSync("read", (fd) =>
        this.#fs.readSync(fd, target, offset, length, position),
      );
      readCounter.bytes += bytesRead;
      return bytesRead;
    } catch (error) {
      throw unreadable(this.path, error);
    }
  }

  async read(target: Buffer, offset: number, length: number, position: number): Promise<number> {
    try {
      const bytesRead = await this.#use("read", (fd) =>
        this.#fs.read(fd, target, offset, length, position),
      );
      readCounter.bytes += bytesRead;
      return bytesRead;
    } catch (error) {
      throw unreadable(this.path, error);
    }
  }

  /** Appends bytes with one write; returns how many the system took, possibly fewer. */
  appendSync(bytes: Buffer): number {
    return this.#useSync("append", (fd) => this.#fs.writeSync(fd, bytes, 0, bytes.length));
  }

  /** Even after the file has lost its name. Throws `ERR_LOG_GONE` if it is no longer open. */
  *openBytes(): Generator<Buffer> {
    const mode = (["read", "append"] as const).find((one) => this.#isOpen(one));
    if (mode === undefined) throw closed(this.path);
    for (let position = 0; ;) {
      const chunk = Buffer.allocUnsafe(chunkBytes);
      const from = position;
      const count = this.#useSync(mode, (fd) =>
        this.#fs.readSync(fd, chunk, 0, chunk.length, from),
      );
      if (count === 0) return;
      position += count;
      yield chunk.subarray(0, count);
    }
  }

  /** Its length, also after it has lost its name; undefined if it is no longer open. */
  openSizeSync(): number | undefined {
    return (this.#openStat("read") ?? this.#openStat("append"))?.size;
  }

  /** Where its name is lost and it was closed, reads continue under another name of it. */
  reopen(otherName: string): void {
    if (this.openSizeSync() !== undefined) return;
    descriptorPoolOf(this.#fs).reopen(this.path, otherName);
  }

  #isOpen(mode: PoolMode): boolean {
    return this.#openStat(mode) !== undefined;
  }

  #openStat(mode: PoolMode): FileStat | undefined {
    try {
      const open = this.#useSync(mode, (fd) => this.#fs.fstatSync(fd));
      return this.#adopted !== undefined && isSameFile(open, this.#adopted) ? open : undefined;
    } catch {
      return undefined;
    }
  }

  syncSync(): void {
    this.#useSync("append", (fd) => this.#fs.fdatasyncSync(fd));
  }

  sync(): Promise<void> {
    return this.#use("append", (fd) => this.#fs.fdatasync(fd));
  }

  /** Keeps the descriptor for appending open until the work is done. */
  keepOpen<T>(work: () => Promise<T>): Promise<T> {
    return this.#use("append", work);
  }

  #useSync<T>(mode: PoolMode, action: (fd: number) => T): T {
    return descriptorPoolOf(this.#fs).useSync(this.path, mode, this.#adopted, action);
  }

  #use<T>(mode: PoolMode, action: (fd: number) => Promise<T>): Promise<T> {
    return descriptorPoolOf(this.#fs).use(this.path, mode, this.#adopted, action);
  }
}

function closed(path: string): BranchlogError {
  const message =
    `${path} no longer exists, and this process has no descriptor of it: it cannot be ` +
    "written back. Restore it from a copy, or open another session.";
  return new BranchlogError("ERR_LOG_GONE", message, { path });
}

function unreadable(path: string, cause: unknown): unknown {
  if (cause instanceof BranchlogError) return cause;
  // Its stat succeeded before: it has lost its name since.
  if (errorCodeOf(cause) === "ENOENT") return gone(path, cause);
  const message = `${path} cannot be read (${String(cause)}). Check its permissions.`;
  return new BranchlogError("ERR_LOG_UNREADABLE", message, { path, cause });
}

function gone(path: string, cause: unknown): BranchlogError {
  const message = `${path} no longer exists: it was deleted or moved during a read.`;
  return new BranchlogError("ERR_LOG_GONE", message, { path, cause });
}

/** Symlinks resolved; of a file that does not exist yet, those of its directory. */
function canonicalPath(fs: FileSystem, path: string): string {
  try {
    return fs.realpathSync(path);
  } catch {
    const directory = quietly(() => fs.realpathSync(dirname(path)));
    // Opening it gives the system's own error for the path as given.
    return directory === null ? path : join(directory, basename(path));
  }
}
