/**
 * Keeps files open between uses, so that a log needs no `close` and a read costs no `open`. One
 * pool serves the process; beyond its size the descriptors least recently used are closed, never
 * one in use. Files are told apart by path and inode, so a replaced file is opened anew.
 */
import { BranchlogError } from "../errors.ts";
import { descriptorsMax } from "../limits.ts";
import { nodeFileSystem } from "./node-file-system.ts";
import type { FileSystem } from "./ports.ts";

/** How a pooled file is open; see `OpenMode`. */
export type PoolMode = "read" | "append";

interface Descriptor {
  readonly path: string;
  readonly mode: PoolMode;
  readonly ino: number;
  readonly fd: number;
  users: number;
  lastUse: number;
}

/** Open files of one file system. Finding one costs a scan of the pool, without system calls. */
export class DescriptorPool {
  readonly #fs: FileSystem;
  readonly #max: number;
  #descriptors: Descriptor[] = [];
  #uses = 0;

  /** @param max Descriptors kept open; more only while more are in use at once. */
  constructor(fs: FileSystem, max: number = descriptorsMax) {
    this.#fs = fs;
    this.#max = max;
  }

  /** Descriptors open now. */
  get openCount(): number {
    return this.#descriptors.length;
  }

  /**
   * Runs `action` with a descriptor of the file at `path` and returns its result. `expectedIno`
   * is the inode the caller means; without it, the path is looked at first. A file to append to
   * is whatever has the name if no descriptor of that inode is open: check after writing.
   * @throws What opening throws; `ERR_LOG_GONE` if the inode to read is not at the path any more.
   */
  useSync<T>(
    path: string,
    mode: PoolMode,
    expectedIno: number | undefined,
    action: (fd: number) => T,
  ): T {
    const descriptor = this.#take(path, mode, expectedIno);
    try {
      return action(descriptor.fd);
    } finally {
      this.#giveBack(descriptor);
    }
  }

  /** As {@link DescriptorPool.useSync}; the descriptor stays open until the promise settles. */
  async use<T>(
    path: string,
    mode: PoolMode,
    expectedIno: number | undefined,
    action: (fd: number) => Promise<T>,
  ): Promise<T> {
    const descriptor = this.#take(path, mode, expectedIno);
    try {
      return await action(descriptor.fd);
    } finally {
      this.#giveBack(descriptor);
    }
  }

  /** Closes what is open of a path and not in use, e.g. before its file is removed for good. */
  closePath(path: string): void {
    this.#close((descriptor) => descriptor.path === path);
  }

  /** Closes everything that is not in use. */
  closeIdle(): void {
    this.#close(() => true);
  }

  #take(path: string, mode: PoolMode, expectedIno: number | undefined): Descriptor {
    const ino = expectedIno ?? this.#fs.statSync(path)?.ino;
    const descriptor = this.#find(path, mode, ino) ?? this.#open(path, mode, expectedIno);
    this.#uses += 1;
    descriptor.lastUse = this.#uses;
    descriptor.users += 1;
    return descriptor;
  }

  #giveBack(descriptor: Descriptor): void {
    descriptor.users -= 1;
    if (this.#descriptors.length > this.#max) this.#closeLeastRecent();
  }

  #find(path: string, mode: PoolMode, ino: number | undefined): Descriptor | undefined {
    return this.#descriptors.find(
      (one) => one.ino === ino && one.mode === mode && one.path === path,
    );
  }

  #open(path: string, mode: PoolMode, expectedIno: number | undefined): Descriptor {
    if (this.#descriptors.length >= this.#max) this.#closeLeastRecent();
    const fd = this.#openFile(path, mode);
    const ino = this.#inodeOf(fd);
    if (mode === "read" && expectedIno !== undefined && ino !== expectedIno) {
      this.#fs.closeSync(fd);
      throw replaced(path);
    }
    const descriptor = { path, mode, ino, fd, users: 0, lastUse: 0 };
    this.#descriptors.push(descriptor);
    return descriptor;
  }

  #openFile(path: string, mode: PoolMode): number {
    try {
      return this.#fs.openSync(path, mode);
    } catch (error) {
      if (!isOutOfDescriptors(error) || this.#descriptors.length === 0) throw error;
      // Ours are only kept for speed; give them to whoever runs short.
      this.closeIdle();
      return this.#fs.openSync(path, mode);
    }
  }

  #inodeOf(fd: number): number {
    try {
      return this.#fs.fstatSync(fd).ino;
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
    for (const { fd } of closing) this.#fs.closeSync(fd);
  }
}

// Through the registry of symbols, so that two copies of this package in one process share the
// limit. The number changes when the methods of the class do.
const sharedKey: unique symbol = Symbol.for("branchlog.descriptor-pool.1");
const registry: Pick<typeof globalThis, "Symbol"> & { [sharedKey]?: DescriptorPool } = globalThis;
const poolsByFileSystem = new WeakMap<FileSystem, DescriptorPool>();

/** The pool of a file system: one per process for the machine's own, one for each other. */
export function descriptorPoolOf(fs: FileSystem): DescriptorPool {
  if (fs === nodeFileSystem) return (registry[sharedKey] ??= new DescriptorPool(fs));
  const known = poolsByFileSystem.get(fs);
  if (known !== undefined) return known;
  const pool = new DescriptorPool(fs);
  poolsByFileSystem.set(fs, pool);
  return pool;
}

function replaced(path: string): BranchlogError {
  const message = `The file that was read at ${path} was replaced by another; open it again.`;
  return new BranchlogError("ERR_LOG_GONE", message, { path });
}

function isOutOfDescriptors(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EMFILE";
}
