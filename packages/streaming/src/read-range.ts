/** The bytes of a range as chunks, the input of the readers of huge values. */
import { chunkPass, type Pass } from "./byte-pass.ts";
import type { ByteSource } from "./byte-source.ts";
import { chunkBytesDefault } from "./limits.ts";
import { runPass, runPassSync } from "./pass-driver.ts";

/**
 * Reads `length` bytes at `offset`, one chunk per pull. Every chunk is a buffer of its own. Yields
 * fewer bytes if the source ends early.
 */
export function readRange(
  source: ByteSource,
  offset: number,
  length: number,
  chunkBytes: number = chunkBytesDefault,
): Generator<Buffer, void, undefined> {
  return runPassSync(source, ownChunks(offset, length, chunkBytes));
}

/** The same, asynchronously; nothing is read ahead. */
export function readRangeAsync(
  source: ByteSource,
  offset: number,
  length: number,
  chunkBytes: number = chunkBytesDefault,
): AsyncGenerator<Buffer, void, undefined> {
  return runPass(source, ownChunks(offset, length, chunkBytes));
}

function ownChunks(offset: number, length: number, chunkBytes: number): Pass<Buffer> {
  const range = { from: offset, to: offset + length, chunkBytes };
  return chunkPass(range, (bytes) => Buffer.allocUnsafeSlow(bytes));
}
