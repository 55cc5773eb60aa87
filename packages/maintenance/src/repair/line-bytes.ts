/**
 * The bytes of one line, whether it is in memory or too long for that. Readers go forward through
 * pieces; going back a little is right, too, and costs one more read.
 */
import { chunkBytesDefault } from "@branchlog/streaming";
import type { ByteSource } from "@branchlog/streaming";
import { readFullySync } from "@branchlog/core/internal";

/** Bytes that stand together in a line. */
export interface LinePiece {
  readonly bytes: Buffer;
  /** Position in the line of the first one. */
  readonly start: number;
}

/** See the file comment. Positions count from the start of the line. */
export interface LineBytes {
  readonly length: number;
  /** A piece that holds `position`, which must be inside of the line. Valid until the next call. */
  piece(position: number): LinePiece;
  /** A copy of the bytes `[start, end)`, or the bytes themselves. */
  slice(start: number, end: number): Buffer;
}

/** A line in memory. */
export function bufferedLine(bytes: Buffer): LineBytes {
  const piece = { bytes, start: 0 };
  return {
    length: bytes.length,
    piece: () => piece,
    slice: (start, end) => bytes.subarray(start, end),
  };
}

/** A line in a file, of which one chunk is in memory at a time. Throws what reading throws. */
export function storedLine(source: ByteSource, offset: number, length: number): LineBytes {
  let piece: LinePiece = { bytes: Buffer.alloc(0), start: 0 };
  const read = (start: number, end: number): Buffer => {
    const bytes = Buffer.allocUnsafeSlow(end - start);
    readFullySync(source, bytes, bytes.length, offset + start);
    return bytes;
  };
  return {
    length,
    piece(position) {
      const isInside = position >= piece.start && position < piece.start + piece.bytes.length;
      if (isInside) return piece;
      const end = Math.min(length, position + chunkBytesDefault);
      piece = { bytes: read(position, end), start: position };
      return piece;
    },
    slice: read,
  };
}

/** Position of the first byte from `from` on that is no white space, or the length of the line. */
export function skipSpace(line: LineBytes, from: number): number {
  for (let at = from; at < line.length;) {
    const { bytes, start } = line.piece(at);
    for (let i = at - start; i < bytes.length; i += 1) {
      if (!isSpace(bytes[i])) return start + i;
    }
    at = start + bytes.length;
  }
  return line.length;
}

/** The byte at a position; undefined outside of the line. */
export function byteAt(line: LineBytes, position: number): number | undefined {
  if (position < 0 || position >= line.length) return undefined;
  const { bytes, start } = line.piece(position);
  return bytes[position - start];
}

/** White space as JSON has it. */
export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
