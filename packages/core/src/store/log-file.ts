/**
 * One log as a file, through pooled descriptors. Reads stay with the file that was adopted, even if
 * another one takes its name; appends go to the file that has the name. Reading fails with
 * `ERR_LOG_UNREADABLE`, or `ERR_LOG_GONE` once the adopted file has lost its name; appending fails
 * as the file system does.
 */
import { dirname, join, basename } from "node:path";
import { readCounter } from "@branchlog/streaming";
import type { ByteSource } from "@branchlog/streaming";
import { BranchlogError } from "../errors.ts";
import { descriptorPoolOf } from "./descriptor-pool.ts";
import { errorCodeOf, isSameFile } from "./ports.ts";
import type { FileIdentity, FileStat, FileSystem } from "./ports.ts";

const chunkBytes = 1024 * 1024;

/** Managers have no `close`: what they retain is released with them. */
const collected = new FinalizationRegistry<() => void>((release) => release());

/** One log as a file; canonical, so that two names of a log share a lock. */
export class LogFile implements ByteSource {
  readonly path: string;
  readonly #fs: FileSystem;
  #adopted: FileIdentity | undefined;

  /** @param adopted The file that is read, if it is known; `path` is canonical then. */
  constructor(fs: FileSystem, path: string, adopted?: FileStat) {
    this.#fs = fs;
    this.path = adopted === undefined ? canonicalPath(fs, path) : path;
    if (adopted !== undefined) this.adopt(adopted);
  }

  /** The same name, with reads of the file of that stat; this one keeps reading its own. */
  adopted(stat: FileStat): LogFile {
    return new LogFile(this.#fs, this.path, stat);
  }

  /** The stat of the file that has the name now; null if it is free. */
  statSync(): FileStat | null {
    try {
      return this.#fs.statSync(this.path);
    } catch (error) {
      throw unreadable(this.path, error);
    }
  }

  /** Reads go to the file with that stat from here on. */
  adopt({ dev, ino }: FileStat): void {
    this.#adopted = { dev, ino };
  }

  /** Keeps the log open between uses until the result is called, or `owner` is collected. */
  retain(owner: object): () => void {
    const pool = descriptorPoolOf(this.#fs);
    const { path } = this;
    pool.retain(path);
    const token = {};
    let isReleased = false;
    const release = (): void => {
      if (!isReleased) pool.release(path);
      isReleased = true;
      collected.unregister(token);
    };
    collected.register(owner, release, token);
    return release;
  }

  /** Keeps the log open during `work`, so that reads succeed although it loses its name. */
  async whileRetained<T>(work: () => Promise<T>): Promise<T> {
    const pool = descriptorPoolOf(this.#fs);
    pool.retain(this.path);
    try {
      return await work();
    } finally {
      pool.release(this.path);
    }
  }

  /** Whether that file is the adopted one. */
  isAt(file: FileIdentity): boolean {
    return this.#adopted !== undefined && isSameFile(file, this.#adopted);
  }

  readSync(target: Buffer, offset: number, length: number, position: number): number {
    try {
      const bytesRead = descriptorPoolOf(this.#fs).useSync(this.path, "read", this.#adopted, (fd) =>
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
      const bytesRead = await descriptorPoolOf(this.#fs).use(
        this.path,
        "read",
        this.#adopted,
        (fd) => this.#fs.read(fd, target, offset, length, position),
      );
      readCounter.bytes += bytesRead;
      return bytesRead;
    } catch (error) {
      throw unreadable(this.path, error);
    }
  }

  /** Appends bytes with one write; returns how many the system took, maybe fewer. */
  appendSync(bytes: Buffer): number {
    return descriptorPoolOf(this.#fs).useSync(this.path, "append", this.#adopted, (fd) =>
      this.#fs.writeSync(fd, bytes, 0, bytes.length),
    );
  }

  /**
   * All bytes of the file that was adopted, piece by piece, also after it has lost its name.
   * @throws BranchlogError `ERR_LOG_GONE` if it is not open any more.
   */
  *openBytes(): Generator<Buffer> {
    const mode = (["read", "append"] as const).find((one) => this.#isOpen(one));
    if (mode === undefined) throw closed(this.path);
    for (let position = 0; ;) {
      const chunk = Buffer.allocUnsafe(chunkBytes);
      const from = position;
      const count = descriptorPoolOf(this.#fs).useSync(this.path, mode, this.#adopted, (fd) =>
        this.#fs.readSync(fd, chunk, 0, chunk.length, from),
      );
      if (count === 0) return;
      position += count;
      yield chunk.subarray(0, count);
    }
  }

  /** Whether a descriptor of the adopted file is open, whatever has its name now. */
  #isOpen(mode: "read" | "append"): boolean {
    try {
      const open = descriptorPoolOf(this.#fs).useSync(this.path, mode, this.#adopted, (fd) =>
        this.#fs.fstatSync(fd),
      );
      return this.#adopted !== undefined && isSameFile(open, this.#adopted);
    } catch {
      return false;
    }
  }

  syncSync(): void {
    descriptorPoolOf(this.#fs).useSync(this.path, "append", this.#adopted, (fd) =>
      this.#fs.fdatasyncSync(fd),
    );
  }

  sync(): Promise<void> {
    return descriptorPoolOf(this.#fs).use(this.path, "append", this.#adopted, (fd) =>
      this.#fs.fdatasync(fd),
    );
  }

  /** Keeps the descriptor that is appended to open until the work is done. */
  keepOpen<T>(work: () => Promise<T>): Promise<T> {
    return descriptorPoolOf(this.#fs).use(this.path, "append", this.#adopted, work);
  }
}

function closed(path: string): BranchlogError {
  const message =
    `${path} is gone, and this process has no descriptor of it open any more: it cannot be ` +
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
  const message = `${path} is gone: it was deleted or moved while it was read. Open it again.`;
  return new BranchlogError("ERR_LOG_GONE", message, { path, cause });
}

/** The path with symlinks resolved; of a file that does not exist yet, its directory's. */
function canonicalPath(fs: FileSystem, path: string): string {
  try {
    return fs.realpathSync(path);
  } catch {
    return canonicalNewPath(fs, path);
  }
}

function canonicalNewPath(fs: FileSystem, path: string): string {
  try {
    return join(fs.realpathSync(dirname(path)), basename(path));
  } catch {
    // Nothing there to resolve: opening it gives the system's own error for the path as given.
    return path;
  }
}
