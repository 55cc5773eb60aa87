/**
 * The file system port in memory: hard links, rename over, unlink while open, append at the current
 * end, errors as Node's. Without symbolic links; permissions have no effect.
 */
import { resolve } from "node:path";
import type { FileStat, FileSystem, OpenMode } from "../platform/ports.ts";
import type { MemoryBytes } from "../platform/private-ports.ts";
import { fileError } from "./file-error.ts";
import { MemoryTree, asFile, inodeStat, memoryUserId, planRename } from "./memory-tree.ts";
import type { Inode } from "./memory-tree.ts";

/** A call about to happen; `path` is that of the descriptor for calls that take one. */
export interface FileSystemCall {
  readonly name: keyof FileSystem;
  readonly path?: string;
}

/** Sees every call before it happens: throw to fail it, `"short"` to halve a write. */
export type FileSystemHook = (call: FileSystemCall) => void | "short";

/** A file system of its own. Reads and writes copy; all costs are linear in the bytes moved. */
export class MemoryFileSystem implements FileSystem {
  /** May fail calls. */
  onCall: FileSystemHook | undefined;
  readonly #calls = new Map<keyof FileSystem, number>();
  readonly #tree = new MemoryTree();
  readonly #descriptors = new MemoryDescriptors();

  constructor(options: { readonly onCall?: FileSystemHook } = {}) {
    this.onCall = options.onCall;
  }

  /** How often a method was called, failed calls included. */
  callCount(name: keyof FileSystem): number {
    return this.#calls.get(name) ?? 0;
  }

  /** Number of open descriptors. */
  get openCount(): number {
    return this.#descriptors.count;
  }

  /** Sets the content of a file in place, as an editor that truncates and writes. */
  writeFileSync(path: string, bytes: Buffer): void {
    const inode = this.#tree.lookUp(path, "open") ?? this.#create(path);
    const file = asFile(inode, "EISDIR", { syscall: "open", path });
    file.bytes.clear();
    file.bytes.append(bytes, 0, bytes.length);
    this.#tree.touch(file);
  }

  /** A copy of the content of a file. */
  readFileSync(path: string): Buffer {
    const { bytes } = asFile(this.#existing(path, "open"), "EISDIR", { syscall: "read", path });
    const content = Buffer.alloc(bytes.length);
    bytes.copyTo(content, 0, content.length, 0);
    return content;
  }

  openSync(path: string, mode: OpenMode): number {
    this.#enter("openSync", path);
    const inode = mode === "create" ? this.#create(path) : this.#existing(path, "open");
    const isWritten = mode === "append" || mode === "update";
    if (isWritten && inode.kind === "directory") throw fileError("EISDIR", "open", path);
    return this.#descriptors.add({ path, mode, inode });
  }

  closeSync(fd: number): void {
    this.#descriptor(fd, "closeSync", "close");
    this.#descriptors.delete(fd);
  }

  readSync(...args: Parameters<FileSystem["readSync"]>): number {
    return this.#read("readSync", ...args);
  }

  async read(...args: Parameters<FileSystem["read"]>): Promise<number> {
    return this.#read("read", ...args);
  }

  writeSync(fd: number, bytes: Buffer, offset: number, length: number): number {
    const verdict = this.#enter("writeSync", this.#descriptors.pathOf(fd));
    const { inode, mode } = this.#descriptors.get(fd, "write");
    if (mode !== "append" && mode !== "create") throw fileError("EBADF", "write");
    const count = verdict === "short" ? Math.floor(length / 2) : length;
    asFile(inode, "EBADF", { syscall: "write" }).bytes.append(bytes, offset, count);
    if (count > 0) this.#tree.touch(inode);
    return count;
  }

  updateSync(fd: number, bytes: Buffer, position: number): number {
    const verdict = this.#enter("updateSync", this.#descriptors.pathOf(fd));
    const { inode, mode } = this.#descriptors.get(fd, "write");
    if (mode !== "update") throw fileError("EBADF", "write");
    const count = verdict === "short" ? Math.floor(bytes.length / 2) : bytes.length;
    const file = asFile(inode, "EBADF", { syscall: "write" });
    file.bytes.overwrite(bytes.subarray(0, count), position);
    if (count > 0) this.#tree.touch(inode);
    return count;
  }

  statSync(path: string): FileStat | null {
    this.#enter("statSync", path);
    const inode = this.#tree.lookUp(path, null);
    return inode === undefined ? null : inodeStat(inode);
  }

  fstatSync(fd: number): FileStat {
    return inodeStat(this.#descriptor(fd, "fstatSync", "fstat").inode);
  }

  fdatasyncSync(fd: number): void {
    this.#descriptor(fd, "fdatasyncSync", "fdatasync");
  }

  async fdatasync(fd: number): Promise<void> {
    this.#descriptor(fd, "fdatasync", "fdatasync");
  }

  syncDirectorySync(path: string): void {
    this.#enter("syncDirectorySync", path);
    this.#existing(path, "open");
  }

  linkSync(from: string, to: string): void {
    this.#enter("linkSync", from);
    const inode = this.#tree.lookUp(from, "link");
    if (inode === undefined) throw fileError("ENOENT", "link", from, to);
    const place = this.#tree.place(to, "link");
    if (place.inode !== undefined) throw fileError("EEXIST", "link", from, to);
    this.#tree.put(place, asFile(inode, "EPERM", { syscall: "link", path: from, dest: to }));
  }

  renameSync(from: string, to: string): void {
    this.#enter("renameSync", from);
    const plan = planRename(this.#tree, from, to);
    if (plan === null) return;
    this.#tree.remove(plan.source, plan.inode);
    this.#tree.put(plan.target, plan.inode);
  }

  unlinkSync(path: string): void {
    this.#enter("unlinkSync", path);
    const place = this.#tree.place(path, "unlink");
    if (place.inode === undefined) throw fileError("ENOENT", "unlink", path);
    this.#tree.remove(place, asFile(place.inode, "EISDIR", { syscall: "unlink", path }));
  }

  setModeSync(fd: number, mode: number): void {
    const { inode } = this.#descriptor(fd, "setModeSync", "fchmod");
    asFile(inode, "EPERM", { syscall: "fchmod" }).permissions = mode & 0o7777;
  }

  makeDirectorySync(path: string): void {
    this.#enter("makeDirectorySync", path);
    this.#tree.makeDirectory(path);
  }

  listSync(path: string): readonly string[] {
    this.#enter("listSync", path);
    const inode = this.#existing(path, "scandir");
    if (inode.kind === "file") throw fileError("ENOTDIR", "scandir", path);
    return [...inode.names.keys()];
  }

  realpathSync(path: string): string {
    this.#enter("realpathSync", path);
    this.#existing(path, "realpath");
    return resolve(path);
  }

  userId(): number {
    return memoryUserId;
  }

  #read(
    name: "read" | "readSync",
    fd: number,
    ...range: Parameters<MemoryBytes["copyTo"]>
  ): number {
    const { inode } = this.#descriptor(fd, name, "read");
    return asFile(inode, "EISDIR", { syscall: "read" }).bytes.copyTo(...range);
  }

  #enter(name: keyof FileSystem, path: string | undefined): void | "short" {
    this.#calls.set(name, this.callCount(name) + 1);
    return this.onCall?.(path === undefined ? { name } : { name, path });
  }

  #descriptor(fd: number, name: keyof FileSystem, syscall: string): MemoryDescriptor {
    this.#enter(name, this.#descriptors.pathOf(fd));
    return this.#descriptors.get(fd, syscall);
  }

  #existing(path: string, syscall: string): Inode {
    const inode = this.#tree.lookUp(path, syscall);
    if (inode === undefined) throw fileError("ENOENT", syscall, path);
    return inode;
  }

  #create(path: string): Inode {
    const place = this.#tree.place(path, "open");
    if (place.inode !== undefined) throw fileError("EEXIST", "open", path);
    const file = this.#tree.newFile();
    this.#tree.put(place, file);
    return file;
  }
}

/** `path` is the one it was opened by. */
interface MemoryDescriptor {
  readonly path: string;
  readonly mode: OpenMode;
  readonly inode: Inode;
}

// Far from the numbers of real descriptors, so that a mix-up fails at once.
const firstDescriptor = 1_000_000;

/** Numbers are never reused. A descriptor keeps its inode, whatever happens to its names. */
class MemoryDescriptors {
  readonly #open = new Map<number, MemoryDescriptor>();
  #next = firstDescriptor;

  get count(): number {
    return this.#open.size;
  }

  add(descriptor: MemoryDescriptor): number {
    const fd = this.#next;
    this.#next += 1;
    this.#open.set(fd, descriptor);
    return fd;
  }

  get(fd: number, syscall: string): MemoryDescriptor {
    const descriptor = this.#open.get(fd);
    if (descriptor === undefined) throw fileError("EBADF", syscall);
    return descriptor;
  }

  pathOf(fd: number): string | undefined {
    return this.#open.get(fd)?.path;
  }

  delete(fd: number): void {
    this.#open.delete(fd);
  }
}
