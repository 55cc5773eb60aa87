/** The port through which this package reads: positional reads of a file, and its Node adapter. */
import type { BigIntStats } from "node:fs";
import { closeSync, fstatSync, openSync, read, readSync, statSync } from "node:fs";

/** Something that can be read at any position. A read may be short; 0 means the end. */
export interface ByteSource {
  /** Reads up to `length` bytes at `position` into `target` at `offset`; returns how many. */
  readSync(target: Buffer, offset: number, length: number, position: number): number;
  /** The same, asynchronously. `target` is the callee's until the promise settles. */
  read(target: Buffer, offset: number, length: number, position: number): Promise<number>;
}

/** Counts the bytes read from files and logs in this process, for tests and tools. */
export const readCounter: { bytes: number } = { bytes: 0 };

/** An open file. */
export interface FileSource extends ByteSource {
  /** Closes the descriptor. No read may be in flight. */
  closeSync(): void;
  /** Size in bytes, now. */
  sizeSync(): number;
  /** The result of `fstat`, now. */
  statSync(): BigIntStats;
  /**
   * Whether the path resolves to this file (same device and inode), now. Throws what `fs.statSync`
   * throws, unless the path does not exist.
   */
  isAtSync(path: string): boolean;
}

/** Opens a regular file, to read only. Throws what `fs.openSync` throws. */
export function openByteSource(path: string): FileSource {
  const descriptor = openSync(path, "r");
  return {
    readSync: (target, offset, length, position) => {
      const bytesRead = readSync(descriptor, target, offset, length, position);
      readCounter.bytes += bytesRead;
      return bytesRead;
    },
    read: (target, offset, length, position) =>
      new Promise((resolve, reject) => {
        read(descriptor, target, offset, length, position, (error, bytesRead) => {
          if (error) {
            reject(error);
            return;
          }
          readCounter.bytes += bytesRead;
          resolve(bytesRead);
        });
      }),
    closeSync: () => {
      closeSync(descriptor);
    },
    sizeSync: () => fstatSync(descriptor).size,
    statSync: () => fstatSync(descriptor, { bigint: true }),
    isAtSync: (other) => {
      const there = statIfExists(other);
      const here = fstatSync(descriptor, { bigint: true });
      return there !== undefined && there.dev === here.dev && there.ino === here.ino;
    },
  };
}

/** {@link openByteSource}, or null if the path does not exist. */
export function openIfExists(path: string): FileSource | null {
  try {
    return openByteSource(path);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

function statIfExists(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true });
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ENOENT" || code === "ENOTDIR";
}
