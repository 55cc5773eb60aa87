/**
 * The file system port in memory: inodes, hard links, rename over, unlink while open, append at the
 * current end, errors as Node's. Counts every call and lets a hook fail any of them. Holds no
 * symbolic links, and permissions have no effect; nothing of it reaches a disk.
 */
import { constants } from "node:os";
import { resolve, sep } from "node:path";
import type { FileStat, FileSystem, OpenMode } from "../store/ports.ts";
import { MemoryBytes } from "../store/private-ports.ts";

/** A call about to happen; `path` is that of the descriptor for calls that take one. */
export interface FileSystemCall {
  readonly name: keyof FileSystem;
  readonly path?: string;
}

/** Sees every call before it happens: throw to fail it, `"short"` to halve a write. */
export type FileSystemHook = (call: FileSystemCall) => void | "short";

/** A file system of its own. Reads and writes copy; all costs are linear in the bytes moved. */
export class MemoryFileSystem implements FileSystem {
  /** The hook that may fail calls. */
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

  /** How many descriptors are open. */
  get openCount(): number {
    return this.#descriptors.count;
  }

  /** Sets the content of a file in place, as an editor does that truncates and writes. */
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

  readSync(fd: number, target: Buffer, offset: number, length: number, position: number): number {
    const { inode } = this.#descriptor(fd, "readSync", "read");
    return asFile(inode, "EISDIR", { syscall: "read" }).bytes.copyTo(
      target,
      offset,
      length,
      position,
    );
  }

  async read(
    fd: number,
    target: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<number> {
    const { inode } = this.#descriptor(fd, "read", "read");
    return asFile(inode, "EISDIR", { syscall: "read" }).bytes.copyTo(
      target,
      offset,
      length,
      position,
    );
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

// Open files. A descriptor keeps its inode, whatever happens to its names.

/** An open file or directory; `path` is the one it was opened by. */
interface MemoryDescriptor {
  readonly path: string;
  readonly mode: OpenMode;
  readonly inode: Inode;
}

// Far from the numbers of real descriptors, so that a mix-up fails at once.
const firstDescriptor = 1_000_000;

/** Descriptors by number. A number is never used twice. */
class MemoryDescriptors {
  readonly #open = new Map<number, MemoryDescriptor>();
  #next = firstDescriptor;

  /** How many are open. */
  get count(): number {
    return this.#open.size;
  }

  /** Adds an open file and returns its number. */
  add(descriptor: MemoryDescriptor): number {
    const fd = this.#next;
    this.#next += 1;
    this.#open.set(fd, descriptor);
    return fd;
  }

  /** The open file; throws `EBADF` if there is none of that number. */
  get(fd: number, syscall: string): MemoryDescriptor {
    const descriptor = this.#open.get(fd);
    if (descriptor === undefined) throw fileError("EBADF", syscall);
    return descriptor;
  }

  /** The path that a descriptor was opened by; undefined if it is not open. */
  pathOf(fd: number): string | undefined {
    return this.#open.get(fd)?.path;
  }

  /** Forgets an open file. */
  delete(fd: number): void {
    this.#open.delete(fd);
  }
}

// The rules of rename(2): what may replace what. Decides; changes nothing.

/** A rename that is allowed. */
interface RenamePlan {
  readonly source: Place;
  readonly target: Place;
  readonly inode: Inode;
}

/** Null: both names refer to one inode already, so nothing is to do. Throws as rename(2) fails. */
function planRename(tree: MemoryTree, from: string, to: string): RenamePlan | null {
  const source = tree.place(from, "rename");
  const target = tree.place(to, "rename");
  const { inode } = source;
  if (inode === undefined) throw fileError("ENOENT", "rename", from, to);
  if (target.inode === inode) return null;
  if (isInside(target.parent, inode)) throw fileError("EINVAL", "rename", from, to);
  if (target.inode !== undefined) assertReplaceable(inode, target.inode, from, to);
  return { source, target, inode };
}

function assertReplaceable(inode: Inode, old: Inode, from: string, to: string): void {
  if (old.kind === "file") {
    if (inode.kind === "directory") throw fileError("ENOTDIR", "rename", from, to);
    return;
  }
  if (inode.kind === "file") throw fileError("EISDIR", "rename", from, to);
  if (old.names.size > 0) throw fileError("ENOTEMPTY", "rename", from, to);
}

/** Whether a directory is `ancestor` or below it. */
function isInside(directory: Inode, ancestor: Inode): boolean {
  const pending: Inode[] = [ancestor];
  for (let inode = pending.pop(); inode !== undefined; inode = pending.pop()) {
    if (inode === directory) return true;
    if (inode.kind === "directory") for (const child of inode.names.values()) pending.push(child);
  }
  return false;
}

// The directory tree of the memory file system: inodes, names and times. Pure data; every change
// moves an internal clock by one millisecond, so that no two states of a file share their times.

/** A name in a directory, which may or may not be taken. */
interface Place {
  readonly parent: MemoryDirectory;
  readonly name: string;
  readonly inode: Inode | undefined;
}

/** Inodes under one root. Paths are resolved as Node does; there are no symbolic links. */
class MemoryTree {
  #lastIno = 1;
  #nowMs = 1;
  readonly #root: MemoryDirectory = this.newDirectory();

  /** A file with no name and no content. */
  newFile(): MemoryFile {
    return emptyFile(this.#birth());
  }

  /** A directory with no name. */
  newDirectory(): MemoryDirectory {
    return emptyDirectory(this.#birth());
  }

  /** Records a change of content (mtime and ctime). */
  touch(inode: Inode): void {
    this.#nowMs += 1;
    inode.mtimeMs = this.#nowMs;
    inode.ctimeMs = this.#nowMs;
  }

  /** Makes `place` refer to `inode`, replacing what was there. */
  put(place: Place, inode: Inode): void {
    place.parent.names.set(place.name, inode);
    this.#changed(place, inode);
  }

  /** Removes the name of `inode` from `place`. */
  remove(place: Place, inode: Inode): void {
    place.parent.names.delete(place.name);
    this.#changed(place, inode);
  }

  /**
   * What `path` refers to; undefined if its last part, or a directory before it, is missing.
   * @param syscall Named by the error where a file is in place of a directory; null: nothing is
   * there.
   */
  lookUp(path: string, syscall: string | null): Inode | undefined {
    let inode: Inode = this.#root;
    for (const name of segments(path)) {
      if (inode.kind === "file") {
        if (syscall === null) return undefined;
        throw fileError("ENOTDIR", syscall, path);
      }
      const next = inode.names.get(name);
      if (next === undefined) return undefined;
      inode = next;
    }
    return inode;
  }

  /** The place that `path` names; throws `ENOENT` or `ENOTDIR` if its directory is none. */
  place(path: string, syscall: string): Place {
    const name = segments(path).at(-1);
    if (name === undefined) throw fileError("EPERM", syscall, path);
    const parent = this.lookUp(resolve(path, ".."), syscall);
    if (parent === undefined) throw fileError("ENOENT", syscall, path);
    if (parent.kind === "file") throw fileError("ENOTDIR", syscall, path);
    return { parent, name, inode: parent.names.get(name) };
  }

  /** Creates the directories of `path` that are missing. */
  makeDirectory(path: string): void {
    let directory = this.#root;
    const names = segments(path);
    for (const [index, name] of names.entries()) {
      const inode = directory.names.get(name) ?? this.newDirectory();
      if (inode.kind === "file") {
        throw fileError(index === names.length - 1 ? "EEXIST" : "ENOTDIR", "mkdir", path);
      }
      if (!directory.names.has(name)) this.put({ parent: directory, name, inode }, inode);
      directory = inode;
    }
  }

  #birth(): InodeFacts {
    this.#lastIno += 1;
    this.#nowMs += 1;
    return { ino: this.#lastIno, mtimeMs: this.#nowMs, ctimeMs: this.#nowMs };
  }

  #changed({ parent }: Place, inode: Inode): void {
    this.touch(parent);
    inode.ctimeMs = this.#nowMs;
  }
}

function segments(path: string): string[] {
  return resolve(path)
    .split(sep)
    .filter((name) => name !== "");
}

// Inodes, and what `stat` returns for them.

/** What files and directories have in common. Times are those of the tree's internal clock. */
interface InodeFacts {
  readonly ino: number;
  mtimeMs: number;
  ctimeMs: number;
}

/** A file. It lives for as long as a name or a descriptor refers to it. */
interface MemoryFile extends InodeFacts {
  readonly kind: "file";
  readonly bytes: MemoryBytes;
  permissions: number;
}

/** A directory. */
interface MemoryDirectory extends InodeFacts {
  readonly kind: "directory";
  readonly names: Map<string, Inode>;
}

/** What a name refers to. */
type Inode = MemoryFile | MemoryDirectory;

/** The call that an error is about. */
interface FailedCall {
  readonly syscall: string;
  readonly path?: string;
  readonly dest?: string;
}

/** The user of every memory file system, and the owner of all that is in it. */
const memoryUserId = 1000;

/** A file with no content. */
function emptyFile(facts: InodeFacts): MemoryFile {
  return { kind: "file", bytes: new MemoryBytes(), permissions: 0o600, ...facts };
}

/** A directory with no names. */
function emptyDirectory(facts: InodeFacts): MemoryDirectory {
  return { kind: "directory", names: new Map(), ...facts };
}

/** The inode as a file; throws `code` if it is a directory. */
function asFile(inode: Inode, code: FileErrorCode, call: FailedCall): MemoryFile {
  if (inode.kind === "file") return inode;
  throw fileError(code, call.syscall, call.path, call.dest);
}

/** What `stat` says. Every memory file system is device 1. */
function inodeStat(inode: Inode): FileStat {
  const isFile = inode.kind === "file";
  return {
    dev: 1,
    ino: inode.ino,
    size: isFile ? inode.bytes.length : 0,
    mtimeMs: inode.mtimeMs,
    ctimeMs: inode.ctimeMs,
    isFile,
    isDirectory: !isFile,
    uid: memoryUserId,
    mode: isFile ? 0o100000 | inode.permissions : 0o040700,
  };
}

// Errors that look like those of `node:fs`, for the memory file system and for injected faults.

/** Codes that a file system answers with. */
export type FileErrorCode =
  | "EACCES"
  | "EAGAIN"
  | "EBADF"
  | "EEXIST"
  | "EINVAL"
  | "EIO"
  | "EISDIR"
  | "EMFILE"
  | "ENOENT"
  | "ENOSPC"
  | "ENOTDIR"
  | "ENOTEMPTY"
  | "EPERM"
  | "EROFS";

const texts: Readonly<Record<FileErrorCode, string>> = {
  EACCES: "permission denied",
  EAGAIN: "resource temporarily unavailable",
  EBADF: "bad file descriptor",
  EEXIST: "file already exists",
  EINVAL: "invalid argument",
  EIO: "i/o error",
  EISDIR: "illegal operation on a directory",
  EMFILE: "too many open files",
  ENOENT: "no such file or directory",
  ENOSPC: "no space left on device",
  ENOTDIR: "not a directory",
  ENOTEMPTY: "directory not empty",
  EPERM: "operation not permitted",
  EROFS: "read-only file system",
};

/** An error with `code`, `errno`, `syscall` and, if given, `path` and `dest`, as Node's have. */
export function fileError(
  code: FileErrorCode,
  syscall: string,
  path?: string,
  dest?: string,
): NodeJS.ErrnoException {
  const of = path === undefined ? "" : ` '${path}'`;
  const to = dest === undefined ? "" : ` -> '${dest}'`;
  const error = new Error(`${code}: ${texts[code]}, ${syscall}${of}${to}`);
  const facts = { code, errno: -constants.errno[code], syscall };
  const paths = { ...(path !== undefined && { path }), ...(dest !== undefined && { dest }) };
  return Object.assign(error, facts, paths);
}
