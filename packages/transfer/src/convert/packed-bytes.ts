/** Bytes that are copied, or put in between, through one buffer that is used again and again. */
import type { ByteSource } from "@branchlog/streaming";
import { readFullySync } from "@branchlog/core/internal";

/** The bytes [from, to) of a source. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

const chunkBytes = 1024 * 1024;

/**
 * The pieces one behind the other, in large chunks. Each chunk is to be used up before the next is
 * asked for. What the source no longer holds is zero.
 */
export function* packedBytes(
  source: ByteSource,
  pieces: Iterable<Buffer | ByteRange>,
): Generator<Buffer> {
  const chunk = Buffer.allocUnsafeSlow(chunkBytes);
  let filled = 0;
  for (const piece of pieces) {
    const length = Buffer.isBuffer(piece) ? piece.length : piece.to - piece.from;
    for (let at = 0; at < length;) {
      const count = Math.min(length - at, chunk.length - filled);
      if (Buffer.isBuffer(piece)) piece.copy(chunk, filled, at, at + count);
      else readFullySync(source, chunk.subarray(filled), count, piece.from + at);
      filled += count;
      at += count;
      if (filled < chunk.length) continue;
      yield chunk;
      filled = 0;
    }
  }
  if (filled > 0) yield chunk.subarray(0, filled);
}
