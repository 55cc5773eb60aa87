/**
 * The directory tree of the memory file system: inodes, names and times. Pure data; every change
 * moves an internal clock by one millisecond, so that no two states of a file share their times.
 */
import { resolve, sep } from "node:path";
import { fileError } from "./memory-errors.ts";
import { emptyDirectory, emptyFile } from "./memory-inode.ts";
import type { Inode, InodeFacts, MemoryDirectory, MemoryFile } from "./memory-inode.ts";

/** A name in a directory, which may or may not be taken. */
export interface Place {
  readonly parent: MemoryDirectory;
  readonly name: string;
  readonly inode: Inode | undefined;
}

/** Inodes under one root. Paths are resolved as Node does; there are no symbolic links. */
export class MemoryTree {
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
   * @param syscall Named by the error where a file stands for a directory; null: nothing is there.
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
