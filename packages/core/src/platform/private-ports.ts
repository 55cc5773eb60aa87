/**
 * Ports of an in-memory log of one session: its bytes by name, without directories or permissions,
 * and a lock without contention. The bytes of a long log may be in a file that has no name, and
 * those at its start may be elsewhere until they are read.
 */
import { PartialBytes } from "./partial-bytes.ts";
import type { PartReader } from "./partial-bytes.ts";
import { systemClock } from "./ports.ts";
import { randomIds } from "./ids.ts";
import { UnnamedFile } from "./unnamed-file.ts";
import type {
  ChangeHints,
  FileLock,
  FileStat,
  FileSystem,
  HeldLock,
  OpenMode,
  Ports,
} from "./ports.ts";

export interface PrivateOptions {
  /** From which length on a file is no longer in memory. Default: none. */
  readonly memoryBytesMax?: number;
}

/** New ports that share nothing with others; `parts` replaces some of them. */
export function createPrivatePorts(
  parts: Partial<Omit<Ports, "fs">> = {},
  { memoryBytesMax = Number.POSITIVE_INFINITY }: PrivateOptions = {},
): PrivatePorts {
  const fs = new PrivateFiles(memoryBytesMax);
  return { fs, lock: noLock, hints: noHints, clock: systemClock, ids: randomIds, ...parts };
}

export interface PrivatePorts extends Ports {
  readonly fs: PrivateFiles;
}

const unshared: HeldLock = { isOursSync: () => true, releaseSync: () => undefined };

export const noLock: FileLock = { tryAcquireSync: () => unshared };

const noHints: ChangeHints = { watch: () => ({ closeSync: () => undefined }) };

interface PrivateFile {
  readonly ino: number;
  readonly bytes: PrivateBytes | PartialFile;
  changedMs: number;
  permissions: number;
}

export class PrivateFiles implements FileSystem {
  readonly #files = new Map<string, PrivateFile>();
  readonly #open = new Map<number, PrivateFile>();
  /** Counts files, descriptors and changes, so that no two states of a file share their time. */
  #count = 0;
  readonly #memoryBytesMax: number;

  constructor(memoryBytesMax: number) {
    this.#memoryBytesMax = memoryBytesMax;
  }

  /**
   * Makes a file of `length` bytes that are read when they are needed, in the place of another.
   * Throws errors of the file system.
   */
  addPartial(path: string, length: number, reader: PartReader): void {
    const bytes = new PartialFile(
      new PartialBytes(length, reader),
      new PrivateBytes(this.#memoryBytesMax),
    );
    this.#files.set(path, { ...this.#newFile(), bytes });
  }

  openSync(path: string, mode: OpenMode): number {
    if (mode === "create" && this.#files.has(path)) throw failure("EEXIST", path);
    if (mode === "create") this.#files.set(path, this.#newFile());
    const fd = (this.#count += 1);
    this.#open.set(fd, this.#at(path));
    return fd;
  }

  closeSync(fd: number): void {
    this.#open.delete(fd);
  }

  readSync(fd: number, target: Buffer, offset: number, length: number, position: number): number {
    return this.#opened(fd).bytes.copyTo(target, offset, length, position);
  }

  async read(
    fd: number,
    target: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<number> {
    const { bytes } = this.#opened(fd);
    return bytes instanceof PartialFile
      ? bytes.copyLater(target, offset, length, position)
      : bytes.copyTo(target, offset, length, position);
  }

  writeSync(fd: number, bytes: Buffer, offset: number, length: number): number {
    const file = this.#opened(fd);
    file.bytes.append(bytes, offset, length);
    file.changedMs = this.#count += 1;
    return length;
  }

  updateSync(fd: number, bytes: Buffer, position: number): number {
    const file = this.#opened(fd);
    file.bytes.overwrite(bytes, position);
    file.changedMs = this.#count += 1;
    return bytes.length;
  }

  statSync(path: string): FileStat | null {
    const file = this.#files.get(path);
    return file === undefined ? null : statOf(file);
  }

  fstatSync(fd: number): FileStat {
    return statOf(this.#opened(fd));
  }

  linkSync(from: string, to: string): void {
    if (this.#files.has(to)) throw failure("EEXIST", to);
    this.#files.set(to, this.#at(from));
  }

  renameSync(from: string, to: string): void {
    this.#files.set(to, this.#at(from));
    this.unlinkSync(from);
  }

  unlinkSync(path: string): void {
    if (!this.#files.delete(path)) throw failure("ENOENT", path);
  }

  setModeSync(fd: number, mode: number): void {
    this.#opened(fd).permissions = mode & 0o7777;
  }

  listSync(): readonly string[] {
    return [];
  }

  realpathSync(path: string): string {
    return path;
  }

  userId(): undefined {
    return undefined;
  }

  fdatasyncSync(): void {}

  async fdatasync(): Promise<void> {}

  syncDirectorySync(): void {}

  makeDirectorySync(): void {}

  #newFile(): PrivateFile {
    this.#count += 1;
    const bytes = new PrivateBytes(this.#memoryBytesMax);
    return { ino: this.#count, bytes, changedMs: this.#count, permissions: 0o600 };
  }

  #at(path: string): PrivateFile {
    const file = this.#files.get(path);
    if (file === undefined) throw failure("ENOENT", path);
    return file;
  }

  #opened(fd: number): PrivateFile {
    const file = this.#open.get(fd);
    if (file === undefined) throw failure("EBADF", String(fd));
    return file;
  }
}

function failure(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code, path });
}

function statOf({ ino, bytes, changedMs, permissions }: PrivateFile): FileStat {
  return {
    dev: 1,
    ino,
    size: bytes.length,
    mtimeMs: changedMs,
    ctimeMs: changedMs,
    isFile: true,
    isDirectory: false,
    mode: 0o100000 | permissions,
    uid: 0,
  };
}

/** In memory; from a certain length on in a file that has no name, if one can be made. */
class PrivateBytes {
  #memoryBytesMax: number;
  #bytes: MemoryBytes | UnnamedFile = new MemoryBytes();

  constructor(memoryBytesMax: number) {
    this.#memoryBytesMax = memoryBytesMax;
  }

  get length(): number {
    return this.#bytes.length;
  }

  append(source: Buffer, offset: number, length: number): void {
    if (this.length + length > this.#memoryBytesMax && this.#bytes instanceof MemoryBytes) {
      this.#moveTo(() => new UnnamedFile());
    }
    this.#change((bytes) => bytes.append(source, offset, length));
  }

  copyTo(target: Buffer, offset: number, length: number, position: number): number {
    return this.#bytes.copyTo(target, offset, length, position);
  }

  overwrite(source: Buffer, position: number): void {
    this.#change((bytes) => bytes.overwrite(source, position));
  }

  /** On a full disk, what follows is in memory. */
  #change(change: (bytes: MemoryBytes | UnnamedFile) => void): void {
    const before = this.#bytes;
    try {
      change(before);
    } catch (error) {
      if (before instanceof MemoryBytes) throw error;
      this.#memoryBytesMax = Number.POSITIVE_INFINITY;
      if (!this.#moveTo(() => new MemoryBytes())) throw error;
      change(this.#bytes);
    }
  }

  #moveTo(make: () => MemoryBytes | UnnamedFile): boolean {
    const before = this.#bytes;
    const piece = Buffer.allocUnsafe(Math.min(before.length, moveBytes));
    try {
      const after = make();
      while (after.length < before.length) {
        after.append(piece, 0, before.copyTo(piece, 0, piece.length, after.length));
      }
      this.#bytes = after;
      return true;
    } catch {
      this.#memoryBytesMax = Number.POSITIVE_INFINITY;
      return false;
    }
  }
}

/** What was there when it was made is read from elsewhere; what was appended since is here. */
class PartialFile {
  readonly #start: PartialBytes;
  readonly #rest: PrivateBytes;

  constructor(start: PartialBytes, rest: PrivateBytes) {
    this.#start = start;
    this.#rest = rest;
  }

  get length(): number {
    return this.#start.length + this.#rest.length;
  }

  append(source: Buffer, offset: number, length: number): void {
    this.#rest.append(source, offset, length);
  }

  copyTo(target: Buffer, offset: number, length: number, position: number): number {
    const count = this.#inStart(length, position);
    if (count > 0) this.#start.readSync(target.subarray(offset, offset + count), position);
    return count + this.#copyRest(target, offset + count, length - count, position + count);
  }

  async copyLater(
    target: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<number> {
    const count = this.#inStart(length, position);
    if (count > 0) await this.#start.read(target.subarray(offset, offset + count), position);
    return count + this.#copyRest(target, offset + count, length - count, position + count);
  }

  overwrite(source: Buffer, position: number): void {
    const at = position - this.#start.length;
    if (at < 0) throw new RangeError("bytes of a store are not changed here");
    this.#rest.overwrite(source, at);
  }

  #inStart(length: number, position: number): number {
    return Math.max(0, Math.min(length, this.#start.length - position));
  }

  #copyRest(target: Buffer, offset: number, length: number, position: number): number {
    if (length === 0) return 0;
    return this.#rest.copyTo(target, offset, length, position - this.#start.length);
  }
}

const moveBytes = 1024 * 1024;
const chunkBytes = 64 * 1024;
const firstChunkBytes = 256;

/** The bytes of one file. Appending n bytes is amortised O(n): each is copied at most once more. */
export class MemoryBytes {
  readonly #chunks: Buffer[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(source: Buffer, offset: number, length: number): void {
    let done = 0;
    while (done < length) {
      const start = this.#length % chunkBytes;
      const chunk = this.#chunkWithRoom(Math.min(start + length - done, chunkBytes));
      const count = Math.min(length - done, chunk.length - start);
      source.copy(chunk, start, offset + done, offset + done + count);
      this.#length += count;
      done += count;
    }
  }

  copyTo(target: Buffer, offset: number, length: number, position: number): number {
    const total = Math.max(0, Math.min(length, this.#length - position));
    let done = 0;
    while (done < total) {
      const start = (position + done) % chunkBytes;
      const chunk = this.#chunks[Math.floor((position + done) / chunkBytes)];
      if (chunk === undefined) break;
      const end = Math.min(start + total - done, chunkBytes);
      done += chunk.copy(target, offset + done, start, end);
    }
    return total;
  }

  overwrite(source: Buffer, position: number): void {
    if (position > this.#length) throw new RangeError("a gap in a file");
    let done = 0;
    while (done < source.length && position + done < this.#length) {
      const start = (position + done) % chunkBytes;
      const chunk = this.#chunks[Math.floor((position + done) / chunkBytes)];
      if (chunk === undefined) break;
      const end = Math.min(chunk.length, start + this.#length - position - done);
      done += source.copy(chunk, start, done, done + end - start);
    }
    this.append(source, done, source.length - done);
  }

  clear(): void {
    this.#chunks.length = 0;
    this.#length = 0;
  }

  /** The chunk for the next byte, at least `size` bytes long. Only the first one grows. */
  #chunkWithRoom(size: number): Buffer {
    const index = Math.floor(this.#length / chunkBytes);
    const old = this.#chunks[index];
    if (old !== undefined && old.length >= size) return old;
    const doubled = Math.max(firstChunkBytes, (old?.length ?? 0) * 2, size);
    const chunk = Buffer.alloc(index === 0 ? Math.min(doubled, chunkBytes) : chunkBytes);
    old?.copy(chunk);
    this.#chunks[index] = chunk;
    return chunk;
  }
}
