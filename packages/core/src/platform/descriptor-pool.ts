/**
 * Keeps files open between uses while their path is retained: a read costs no `open`, and a log
 * that is deleted meanwhile can be written back. Beyond its size the least recently used
 * descriptors are closed, never one in use. A replaced file has another inode, and is opened again.
 */
import type { ByteSource } from "@branchlog/streaming";
import { BranchlogError } from "../errors.ts";
import { descriptorsMax } from "../limits.ts";
import { nodeFileSystem } from "./node-file-system.ts";
import { errorCodeOf, isSameFile, onePerPort, quietly } from "./ports.ts";
import type { FileIdentity, FileSystem } from "./ports.ts";

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

  /** Opens a file under another name of it, for reads of this path, which is retained. */
  reopen(path: string, otherName: string): void {
    const fd = this.#openFile(otherName, "read");
    const file = this.#fileOf(fd);
    this.#descriptors.push({ path, mode: "read", file, fd, users: 0, lastUse: this.#uses });
  }

  /** Closes idle descriptors of a path, before its file is permanently removed. */
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
    for (const { fd } of closing) quietly(() => this.#fs.closeSync(fd));
  }
}

/** All copies of this package in one process share its limit. */
export const descriptorPoolOf: (fs: FileSystem) => DescriptorPool = onePerPort(
  nodeFileSystem,
  "branchlog.descriptor-pool.3",
  (fs) => new DescriptorPool(fs),
);

/** The file with this identity, also after it has lost its name while its path is retained. */
export function pooledSource(fs: FileSystem, path: string, file: FileIdentity): ByteSource {
  const pool = descriptorPoolOf(fs);
  return {
    readSync: (target, offset, length, position) =>
      pool.useSync(path, "read", file, (fd) => fs.readSync(fd, target, offset, length, position)),
    read: (target, offset, length, position) =>
      pool.use(path, "read", file, (fd) => fs.read(fd, target, offset, length, position)),
  };
}

/** Managers have no `close`: what they retain is released with them. */
const collected = new FinalizationRegistry<() => void>((release) => release());

/** Retains a path until the returned function is called, or `owner` is collected. */
export function retainedBy(owner: object, fs: FileSystem, path: string): () => void {
  const pool = descriptorPoolOf(fs);
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

function replaced(path: string): BranchlogError {
  const message = `The file at ${path} was replaced while it was read; open it again.`;
  return new BranchlogError("ERR_LOG_GONE", message, { path });
}
