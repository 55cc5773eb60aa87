/** The bytes of a range as chunks: what the readers of huge values are fed with. */
import type { ByteSource } from "./byte-source.ts";
import { chunkBytesDefault } from "./limits.ts";

/**
 * Reads `length` bytes at `offset`, one chunk per pull. Every chunk is a buffer of its own. Fewer
 * bytes come if the source ends early.
 */
export function* readRange(
  source: ByteSource,
  offset: number,
  length: number,
  chunkBytes: number = chunkBytesDefault,
): Generator<Buffer, void, undefined> {
  const end = offset + length;
  for (let position = offset; position < end;) {
    const chunk = Buffer.allocUnsafeSlow(Math.min(chunkBytes, end - position));
    const bytesRead = source.readSync(chunk, 0, chunk.length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield chunk.subarray(0, bytesRead);
  }
}

/** The same, asynchronously; nothing is read ahead. */
export async function* readRangeAsync(
  source: ByteSource,
  offset: number,
  length: number,
  chunkBytes: number = chunkBytesDefault,
): AsyncGenerator<Buffer, void, undefined> {
  const end = offset + length;
  for (let position = offset; position < end;) {
    const chunk = Buffer.allocUnsafeSlow(Math.min(chunkBytes, end - position));
    const bytesRead = await source.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield chunk.subarray(0, bytesRead);
  }
}
