/** Inodes, names and times of the memory file system, and the rules of rename(2). */
import { resolve, sep } from "node:path";
import type { FileStat } from "../platform/ports.ts";
import { MemoryBytes } from "../platform/private-ports.ts";
import { fileError } from "./file-error.ts";
import type { FileErrorCode } from "./file-error.ts";

interface RenamePlan {
  readonly source: Place;
  readonly target: Place;
  readonly inode: Inode;
}

/** The rules of rename(2). Null: both names refer to one inode already. */
export function planRename(tree: MemoryTree, from: string, to: string): RenamePlan | null {
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

function isInside(directory: Inode, ancestor: Inode): boolean {
  const pending: Inode[] = [ancestor];
  for (let inode = pending.pop(); inode !== undefined; inode = pending.pop()) {
    if (inode === directory) return true;
    if (inode.kind === "directory") for (const child of inode.names.values()) pending.push(child);
  }
  return false;
}

interface Place {
  readonly parent: MemoryDirectory;
  readonly name: string;
  readonly inode: Inode | undefined;
}

/**
 * Paths are resolved as Node does. Every change moves an internal clock by one millisecond, so that
 * no two states of a file share their times.
 */
export class MemoryTree {
  #lastIno = 1;
  #nowMs = 1;
  readonly #root: MemoryDirectory = this.newDirectory();

  newFile(): MemoryFile {
    return { kind: "file", bytes: new MemoryBytes(), permissions: 0o600, ...this.#birth() };
  }

  newDirectory(): MemoryDirectory {
    return { kind: "directory", names: new Map(), ...this.#birth() };
  }

  /** A change of content. */
  touch(inode: Inode): void {
    this.#nowMs += 1;
    inode.mtimeMs = this.#nowMs;
    inode.ctimeMs = this.#nowMs;
  }

  put(place: Place, inode: Inode): void {
    place.parent.names.set(place.name, inode);
    this.#changed(place, inode);
  }

  remove(place: Place, inode: Inode): void {
    place.parent.names.delete(place.name);
    this.#changed(place, inode);
  }

  /**
   * Undefined if the last part, or a directory before it, is missing.
   * @param syscall Named by the error if a file is in place of a directory; null: undefined
   * instead.
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

  /** Throws `ENOENT` or `ENOTDIR` if its directory is missing or a file. */
  place(path: string, syscall: string): Place {
    const name = segments(path).at(-1);
    if (name === undefined) throw fileError("EPERM", syscall, path);
    const parent = this.lookUp(resolve(path, ".."), syscall);
    if (parent === undefined) throw fileError("ENOENT", syscall, path);
    if (parent.kind === "file") throw fileError("ENOTDIR", syscall, path);
    return { parent, name, inode: parent.names.get(name) };
  }

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

/** Times are those of the tree's internal clock. */
interface InodeFacts {
  readonly ino: number;
  mtimeMs: number;
  ctimeMs: number;
}

/** Lives as long as a name or a descriptor refers to it. */
interface MemoryFile extends InodeFacts {
  readonly kind: "file";
  readonly bytes: MemoryBytes;
  permissions: number;
}

interface MemoryDirectory extends InodeFacts {
  readonly kind: "directory";
  readonly names: Map<string, Inode>;
}

export type Inode = MemoryFile | MemoryDirectory;

interface FailedCall {
  readonly syscall: string;
  readonly path?: string;
  readonly dest?: string;
}

/** Owns all files. */
export const memoryUserId = 1000;

/** Throws `code` if it is a directory. */
export function asFile(inode: Inode, code: FileErrorCode, call: FailedCall): MemoryFile {
  if (inode.kind === "file") return inode;
  throw fileError(code, call.syscall, call.path, call.dest);
}

/** Every memory file system is device 1. */
export function inodeStat(inode: Inode): FileStat {
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
