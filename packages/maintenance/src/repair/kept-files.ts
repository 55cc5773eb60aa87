/**
 * Files that a repair leaves beside a log: the original and what was set aside. None of them ever
 * takes the place of another file: a name that is taken gets a number.
 */
import { isBranchlogError } from "@branchlog/core";
import type { FileSystem, Ports } from "@branchlog/core/types";
import {
  createLog,
  errorCodeOf,
  isLinkUnsupported,
  isSameFile,
  keptPaths,
  logExists,
} from "@branchlog/core/internal";
import type { FileStat } from "@branchlog/core/internal";
import { copyBytes } from "../limits.ts";

/** The name of a kept original. */
export interface KeptOriginal {
  readonly path: string;
  /** False if an interrupted repair had kept it already. */
  readonly isNew: boolean;
}

/** Gives the file at `path` a second name that says that it is from before the repair. */
export function keepOriginal(ports: Ports, path: string, original: FileStat): KeptOriginal {
  return firstFree(path, ".before-repair", (name) => {
    const taken = ports.fs.statSync(name);
    if (taken === null) linkOrCopy(ports, path, name);
    else if (!isSameFile(taken, original)) return null;
    return { path: name, isNew: taken === null };
  });
}

function linkOrCopy(ports: Ports, path: string, name: string): void {
  try {
    ports.fs.linkSync(path, name);
  } catch (error) {
    if (errorCodeOf(error) === "EEXIST") throw logExists(name, error);
    if (!isLinkUnsupported(error)) throw error;
    createLog(ports, name, chunksOf(ports.fs, path));
  }
}

function* chunksOf(fs: FileSystem, path: string): Generator<Buffer> {
  const fd = fs.openSync(path, "read");
  try {
    for (let position = 0; ;) {
      const chunk = Buffer.allocUnsafe(copyBytes);
      const count = fs.readSync(fd, chunk, 0, chunk.length, position);
      if (count === 0) return;
      position += count;
      yield chunk.subarray(0, count);
    }
  } finally {
    fs.closeSync(fd);
  }
}

/** Creates a file of these bytes beside the log; returns its path. */
export function createSalvage(ports: Ports, path: string, chunks: () => Iterable<Buffer>): string {
  return firstFree(path, ".salvage", (name) => {
    if (ports.fs.statSync(name) !== null) return null;
    createLog(ports, name, chunks());
    return name;
  });
}

/** The first result of `take` for the names that there can be; null: the name is taken. */
function firstFree<T>(path: string, ending: string, take: (name: string) => T | null): T {
  const names = keptPaths(path, ending);
  for (;;) {
    try {
      const taken = take(names.next().value);
      if (taken !== null) return taken;
    } catch (error) {
      // Another process took the name since it was checked.
      if (!isBranchlogError(error, "ERR_LOG_EXISTS")) throw error;
    }
  }
}
