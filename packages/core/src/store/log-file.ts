/**
 * One log as a file, and the pool of descriptors that it is read and appended through. Reads stay
 * with the file that was adopted, even if another one takes its name; appends go to the file that
 * has the name. Reading fails with `ERR_LOG_UNREADABLE`, or `ERR_LOG_GONE` once the adopted file
 * has lost its name; appending fails as the file system does.
 *
 * The pool keeps files open between uses while their path is retained: a read costs no `open`, and
 * a log that is deleted meanwhile can be written back. Beyond its size the least recently used
 * descriptors are closed, never one in use. A replaced file has another inode, and is opened anew.
 */
import { BranchlogError } from "../errors.ts";
import { descriptorsMax } from "../limits.ts";
import { closeQuietly } from "./atomic-file.ts";
import { errorCodeOf, isSameFile, onePerPort, quietly } from "./ports.ts";
import type { FileIdentity, FileSystem, FileStat } from "./ports.ts";
import { nodeFileSystem } from "./node-file-system.ts";
import { dirname, join, basename } from "node:path";
import { readCounter } from "@branchlog/streaming";
import type { ByteSource } from "@branchlog/streaming";

export type PoolMode = "read" | "append";

interface Descriptor {
  readonly path: string;
  readonly mode: PoolMode;
  readonly file: FileIdentity;
  readonly fd: number;
  users: number;
  lastUse: number;
}

/** Finding a descriptor costs a scan of the pool, without system calls. */
export class DescriptorPool {
  readonly #fs: FileSystem;
  readonly #max: number;
  #descriptors: Descriptor[] = [];
  #uses = 0;
  readonly #retained = new Map<string, number>();

  constructor(fs: FileSystem, max: number = descriptorsMax) {
    this.#fs = fs;
    this.#max = max;
  }

  get openCount(): number {
    return this.#descriptors.length;
  }

  /**
   * An expected file that is still open is used even if another file has taken the name: check
   * after writing. Throws `ERR_LOG_GONE` if it is neither open nor at the path.
   */
  useSync<T>(
    path: string,
    mode: PoolMode,
    expected: FileIdentity | undefined,
    action: (fd: number) => T,
  ): T {
    const descriptor = this.#take(path, mode, expected);
    try {
      return action(descriptor.fd);
    } finally {
      this.#giveBack(descriptor);
    }
  }

  async use<T>(
    path: string,
    mode: PoolMode,
    expected: FileIdentity | undefined,
    action: (fd: number) => Promise<T>,
  ): Promise<T> {
    const descriptor = this.#take(path, mode, expected);
    try {
      return await action(descriptor.fd);
    } finally {
      this.#giveBack(descriptor);
    }
  }

  /** Keeps descriptors of a path open between uses, until as many calls of `release`. */
  retain(path: string): void {
    this.#retained.set(path, (this.#retained.get(path) ?? 0) + 1);
  }

  release(path: string): void {
    const count = (this.#retained.get(path) ?? 0) - 1;
    if (count > 0) {
      this.#retained.set(path, count);
      return;
    }
    this.#retained.delete(path);
    this.closePath(path);
  }

  /** Closes idle descriptors of a path, as before its file is removed for good. */
  closePath(path: string): void {
    this.#close((descriptor) => descriptor.path === path);
  }

  closeIdle(): void {
    this.#close(() => true);
  }

  #take(path: string, mode: PoolMode, expected: FileIdentity | undefined): Descriptor {
    const file = expected ?? this.#fs.statSync(path);
    const known = file === null ? undefined : this.#find(path, mode, file);
    const descriptor = known ?? this.#open(path, mode, expected);
    this.#uses += 1;
    descriptor.lastUse = this.#uses;
    descriptor.users += 1;
    return descriptor;
  }

  #giveBack(descriptor: Descriptor): void {
    descriptor.users -= 1;
    if (!this.#retained.has(descriptor.path)) this.closePath(descriptor.path);
    else if (this.#descriptors.length > this.#max) this.#closeLeastRecent();
  }

  #find(path: string, mode: PoolMode, file: FileIdentity): Descriptor | undefined {
    return this.#descriptors.find(
      (one) => one.mode === mode && one.path === path && isSameFile(one.file, file),
    );
  }

  #open(path: string, mode: PoolMode, expected: FileIdentity | undefined): Descriptor {
    if (this.#descriptors.length >= this.#max) this.#closeLeastRecent();
    const fd = this.#openFile(path, mode);
    const file = this.#fileOf(fd);
    if (expected !== undefined && !isSameFile(file, expected)) {
      this.#fs.closeSync(fd);
      throw replaced(path);
    }
    const descriptor = { path, mode, file, fd, users: 0, lastUse: 0 };
    this.#descriptors.push(descriptor);
    return descriptor;
  }

  #openFile(path: string, mode: PoolMode): number {
    try {
      return this.#fs.openSync(path, mode);
    } catch (error) {
      if (errorCodeOf(error) !== "EMFILE" || this.#descriptors.length === 0) throw error;
      // Idle descriptors only save time, and other code has run short.
      this.closeIdle();
      return this.#fs.openSync(path, mode);
    }
  }

  #fileOf(fd: number): FileIdentity {
    try {
      const { dev, ino } = this.#fs.fstatSync(fd);
      return { dev, ino };
    } catch (error) {
      this.#fs.closeSync(fd);
      throw error;
    }
  }

  #closeLeastRecent(): void {
    const idle = this.#descriptors.filter(({ users }) => users === 0);
    if (idle.length === 0) return;
    const oldest = idle.reduce((one, other) => (other.lastUse < one.lastUse ? other : one));
    this.#close((descriptor) => descriptor === oldest);
  }

  #close(isMeant: (descriptor: Descriptor) => boolean): void {
    const closing = this.#descriptors.filter((one) => one.users === 0 && isMeant(one));
    this.#descriptors = this.#descriptors.filter((one) => !closing.includes(one));
    // The bytes were acknowledged by their write, or their sync.
    for (const { fd } of closing) closeQuietly(this.#fs, fd);
  }
}

/** All copies of this package in one process share its limit. */
export const descriptorPoolOf: (fs: FileSystem) => DescriptorPool = onePerPort(
  nodeFileSystem,
  "branchlog.descriptor-pool.3",
  (fs) => new DescriptorPool(fs),
);

function replaced(path: string): BranchlogError {
  const message = `The file that was read at ${path} was replaced by another; open it again.`;
  return new BranchlogError("ERR_LOG_GONE", message, { path });
}

const chunkBytes = 1024 * 1024;

/** Managers have no `close`: what they retain is released with them. */
const collected = new FinalizationRegistry<() => void>((release) => release());

/** One log as a file; canonical, so that two names of a log share a lock. */
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

  /** Keeps the log open during `work`, so that reads succeed even after it loses its name. */
  async whileRetained<T>(work: () => Promise<T>): Promise<T> {
    const pool = descriptorPoolOf(this.#fs);
    pool.retain(this.path);
    try {
      return await work();
    } finally {
      pool.release(this.path);
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

  #isOpen(mode: PoolMode): boolean {
    try {
      const open = this.#useSync(mode, (fd) => this.#fs.fstatSync(fd));
      return this.#adopted !== undefined && isSameFile(open, this.#adopted);
    } catch {
      return false;
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
