/**
 * The pieces of a file in little space, to be sent: neighbours in a column are alike, so that each
 * element is written as its difference from the one before, the first bytes of all together, then
 * the second ones, and all that is compressed. A checksum of the whole ends it.
 */
import { crc32, deflateRawSync, inflateRawSync } from "node:zlib";
import { malformed } from "../entries/saved-fields.ts";
import type { FilePiece } from "./page-file.ts";

/** Bytes of an element, of the piece, and of the piece when it is packed. */
const headBytes = 12;
const sumBytes = 4;
const gatheredBytes = 1024 * 1024;
/** A page, or a footer: its text, and four bytes for each page of 64 KiB. */
const pieceBytesMax = 64 * 1024 * 1024;
/** More compression gains little: most bytes are random. */
const compression = { level: 1 };

/** A buffer for about a megabyte, whose pieces are taken when the buffer is asked for. */
export function* packed(pieces: Iterable<FilePiece>): Generator<Buffer> {
  let gathered: Buffer[] = [];
  let bytes = 0;
  let sum = 0;
  for (const piece of pieces) {
    // Of no bytes, the checksum would restart.
    if (piece.bytes.length === 0) continue;
    sum = crc32(piece.bytes, sum);
    gathered.push(...packedPiece(piece));
    bytes += piece.bytes.length;
    if (bytes < gatheredBytes) continue;
    yield Buffer.concat(gathered);
    [gathered, bytes] = [[], 0];
  }
  const end = Buffer.alloc(headBytes + sumBytes);
  end.writeUInt32LE(sum, headBytes);
  yield Buffer.concat([...gathered, end]);
}

function packedPiece({ bytes, elementBytes }: FilePiece): readonly [Buffer, Buffer] {
  const body = deflateRawSync(inPlanes(bytes, elementBytes), compression);
  const head = Buffer.alloc(headBytes);
  head.writeUInt32LE(elementBytes, 0);
  head.writeUInt32LE(bytes.length, 4);
  head.writeUInt32LE(body.length, 8);
  return [head, body];
}

/** Takes packed buffers, and gives the bytes that were packed. Throws for anything else. */
export class Unpacker {
  #sum = 0;
  #isOver = false;

  *add(buffer: Buffer): Generator<Buffer> {
    for (let at = 0; at < buffer.length;) {
      if (this.#isOver) throw malformed("no bytes after its end");
      const elementBytes = buffer.readUInt32LE(at);
      if (elementBytes === 0) {
        if (buffer.readUInt32LE(at + headBytes) !== this.#sum) throw malformed("other bytes");
        this.#isOver = true;
        at += headBytes + sumBytes;
        continue;
      }
      const length = buffer.readUInt32LE(at + 4);
      const body = buffer.subarray(at + headBytes, at + headBytes + buffer.readUInt32LE(at + 8));
      if (length === 0 || length > pieceBytesMax) throw malformed("a shorter piece");
      const planes = inflateRawSync(body, { maxOutputLength: length });
      if (planes.length !== length) throw malformed("a complete piece");
      const bytes = fromPlanes(planes, elementBytes);
      this.#sum = crc32(bytes, this.#sum);
      yield bytes;
      at += headBytes + body.length;
    }
  }

  /** Whether all that was packed was given. */
  get isOver(): boolean {
    return this.#isOver;
  }
}

const wordBytes = 4;
const pairBytes = 8;

function inPlanes(bytes: Buffer, elementBytes: number): Buffer {
  if (!isInWords(bytes, elementBytes)) return bytes;
  const words = wordsOf(bytes);
  const count = bytes.length / elementBytes;
  const step = elementBytes / wordBytes;
  const planes = Buffer.allocUnsafe(bytes.length);
  let [beforeLow, beforeHigh] = [0, 0];
  for (let at = 0; at < count; at += 1) {
    const low = words[at * step] ?? 0;
    write(planes, at, count, (low - beforeLow) | 0);
    if (step === 2) {
      const high = words[at * step + 1] ?? 0;
      const borrow = low < beforeLow ? 1 : 0;
      write(planes, at + count * wordBytes, count, (high - beforeHigh - borrow) | 0);
      beforeHigh = high;
    }
    beforeLow = low;
  }
  return planes;
}

function fromPlanes(planes: Buffer, elementBytes: number): Buffer {
  if (!isInWords(planes, elementBytes)) return planes;
  const words = new Uint32Array(planes.length / wordBytes);
  const count = planes.length / elementBytes;
  const step = elementBytes / wordBytes;
  let [low, high] = [0, 0];
  for (let at = 0; at < count; at += 1) {
    const before = low;
    low = (low + read(planes, at, count)) >>> 0;
    words[at * step] = low;
    if (step === 2) {
      const carry = low < before ? 1 : 0;
      high = (high + read(planes, at + count * wordBytes, count) + carry) >>> 0;
      words[at * step + 1] = high;
    }
  }
  return Buffer.from(words.buffer);
}

function isInWords({ length }: Buffer, elementBytes: number): boolean {
  const isWords = elementBytes === wordBytes || elementBytes === pairBytes;
  return isWords && length % elementBytes === 0;
}

/** Aligned. The order of their bytes is that of this machine, which the file names in its mark. */
function wordsOf(bytes: Buffer): Uint32Array {
  const words = new Uint32Array(bytes.length / wordBytes);
  bytes.copy(Buffer.from(words.buffer));
  return words;
}

function write(planes: Buffer, at: number, count: number, word: number): void {
  planes[at] = word;
  planes[at + count] = word >>> 8;
  planes[at + 2 * count] = word >>> 16;
  planes[at + 3 * count] = word >>> 24;
}

function read(planes: Buffer, at: number, count: number): number {
  const [first = 0, second = 0] = [planes[at], planes[at + count]];
  const [third = 0, fourth = 0] = [planes[at + 2 * count], planes[at + 3 * count]];
  return first | (second << 8) | (third << 16) | (fourth << 24);
}
