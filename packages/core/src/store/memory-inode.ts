/** Files and directories of the memory file system, and what `stat` says of them. */
import { MemoryBytes } from "./memory-bytes.ts";
import { fileError } from "./memory-errors.ts";
import type { FileErrorCode } from "./memory-errors.ts";
import type { FileStat } from "./ports.ts";

/** What files and directories have in common. Times are those of the tree's internal clock. */
export interface InodeFacts {
  readonly ino: number;
  mtimeMs: number;
  ctimeMs: number;
}

/** A file. It lives for as long as a name or a descriptor refers to it. */
export interface MemoryFile extends InodeFacts {
  readonly kind: "file";
  readonly bytes: MemoryBytes;
  permissions: number;
}

/** A directory. */
export interface MemoryDirectory extends InodeFacts {
  readonly kind: "directory";
  readonly names: Map<string, Inode>;
}

/** What a name refers to. */
export type Inode = MemoryFile | MemoryDirectory;

/** The call that an error is about. */
export interface FailedCall {
  readonly syscall: string;
  readonly path?: string;
  readonly dest?: string;
}

/** The user of every memory file system, and the owner of all that is in it. */
export const memoryUserId = 1000;

/** A file with no content. */
export function emptyFile(facts: InodeFacts): MemoryFile {
  return { kind: "file", bytes: new MemoryBytes(), permissions: 0o600, ...facts };
}

/** A directory with no names. */
export function emptyDirectory(facts: InodeFacts): MemoryDirectory {
  return { kind: "directory", names: new Map(), ...facts };
}

/** The inode as a file; throws `code` if it is a directory. */
export function asFile(inode: Inode, code: FileErrorCode, call: FailedCall): MemoryFile {
  if (inode.kind === "file") return inode;
  throw fileError(code, call.syscall, call.path, call.dest);
}

/** What `stat` says. Every memory file system is device 1. */
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
