/** The port through which this package reads: positional reads of a file, and its Node adapter. */
import type { BigIntStats } from "node:fs";
import { closeSync, fstatSync, openSync, read, readSync } from "node:fs";

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
  };
}
