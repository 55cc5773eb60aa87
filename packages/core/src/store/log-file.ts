/**
 * One log as a file: reads from it, appends to it, says what it is now. Descriptors come from the
 * pool, so it has nothing to close. Reads stay with the file that was adopted, even if another one
 * takes its name meanwhile; appends always go to the file that has the name.
 */
import { dirname, join, basename } from "node:path";
import { readCounter } from "@branchlog/streaming";
import type { ByteSource } from "@branchlog/streaming";
import { descriptorPoolOf } from "./descriptor-pool.ts";
import type { FileStat, FileSystem } from "./ports.ts";

/** See the file comment. */
export class LogFile implements ByteSource {
  /** Canonical: symlinks resolved, so that two names of a log share a lock. */
  readonly path: string;
  readonly #fs: FileSystem;
  #ino: number | undefined;

  constructor(fs: FileSystem, path: string) {
    this.#fs = fs;
    this.path = canonicalPath(fs, path);
  }

  /** What the log's name leads to now; null if nothing. */
  statSync(): FileStat | null {
    return this.#fs.statSync(this.path);
  }

  /** Makes the file with that inode the one that is read from here on. */
  adopt(stat: FileStat): void {
    this.#ino = stat.ino;
  }

  readSync(target: Buffer, offset: number, length: number, position: number): number {
    const bytesRead = descriptorPoolOf(this.#fs).useSync(this.path, "read", this.#ino, (fd) =>
      this.#fs.readSync(fd, target, offset, length, position),
    );
    readCounter.bytes += bytesRead;
    return bytesRead;
  }

  async read(target: Buffer, offset: number, length: number, position: number): Promise<number> {
    const bytesRead = await descriptorPoolOf(this.#fs).use(this.path, "read", this.#ino, (fd) =>
      this.#fs.read(fd, target, offset, length, position),
    );
    readCounter.bytes += bytesRead;
    return bytesRead;
  }

  /** Appends bytes with one write; returns how many the system took, maybe fewer. */
  appendSync(bytes: Buffer): number {
    return descriptorPoolOf(this.#fs).useSync(this.path, "append", this.#ino, (fd) =>
      this.#fs.writeSync(fd, bytes, 0, bytes.length),
    );
  }
}

/** The path with symlinks resolved; of a file that does not exist yet, its directory's. */
export function canonicalPath(fs: FileSystem, path: string): string {
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
    // Nothing there to resolve: whoever opens it gets the system's own error for the path as given.
    return path;
  }
}
