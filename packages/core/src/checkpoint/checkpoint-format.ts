/**
 * A checkpoint has two independent frames: a mark, a JSON text, the columns that its schema names,
 * a checksum of it all. Its schema checks the text before building anything from it, and the
 * columns before they are used.
 */
import { endianness } from "node:os";
import { crc32 } from "node:zlib";
import { fill, readFully, readOf } from "@branchlog/streaming";
import type { ByteSource, ReadStep, Steps } from "@branchlog/streaming";
import { checkpointReadBytes } from "../limits.ts";

export interface FrameKind {
  readonly mark: string;
  /** Raised whenever the meaning of saved values changes. */
  readonly version: number;
  readonly textBytesMax: number;
}

export interface FrameSchema<T> {
  readonly kind: FrameKind;
  /**
   * Checks the text, and allocates its columns in their order. The returned function checks the
   * filled columns, and returns the value. Both throw for invalid values.
   */
  readonly begin: (text: unknown, columns: ColumnRoom) => () => T;
}

export interface FrameContent {
  readonly json: object;
  readonly columns: readonly Column[];
}

/** Its text holds at most two megabytes of findings; any JSON of that length takes 250 MB. */
export const indexFrame: FrameKind = {
  mark: "BLCKPT",
  version: 5,
  textBytesMax: 4 * 1024 * 1024,
};
/** The second: checksums of records, which opening does not read. Its text is a few numbers. */
export const sumsFrame: FrameKind = { mark: "BLSUMS", version: 2, textBytesMax: 4096 };

/** Mark, length of the text, version, length of the frame. */
const headBytes = 24;
const checksumBytes = 8;

/**
 * To be taken without pause: a column that changes between two pieces is saved as it is at each of
 * them. Throws `RangeError` if the text is too long to be read again.
 */
export function* framePieces(
  kind: FrameKind,
  { json, columns }: FrameContent,
  pieceBytes: number,
): Generator<Buffer> {
  const text = Buffer.from(JSON.stringify(json));
  if (text.length > kind.textBytesMax) throw new RangeError("the text of a frame is too long");
  const parts = [text, ...columns.map((column) => bytesOf(column))];
  const bytes = parts.reduce((sum, { length }) => sum + alignedUp(length), 0);
  const head = Buffer.alloc(headBytes);
  markOf(kind).copy(head);
  head.writeUInt32LE(text.length, 8);
  head.writeUInt32LE(kind.version, 12);
  head.writeUIntLE(headBytes + bytes + checksumBytes, 16, 6);
  let checksum = 0;
  for (const part of [head, ...parts]) {
    for (const piece of padded(part, pieceBytes)) {
      checksum = crc32(piece, checksum);
      yield piece;
    }
  }
  yield endOf(checksum);
}

interface FrameInParts<T> {
  readonly pieces: readonly ReadStep[];
  readonly checksum: number;
  readonly end: number;
  readonly value: () => T;
}

const readsMax = 4;

/**
 * Undefined without a valid frame at `start`. Throws what the schema throws. Pieces are read ahead
 * while one is checked, so that other threads touch new memory, the main cost of reading.
 */
export function* readFrame<T>(
  source: ByteSource,
  schema: FrameSchema<T>,
  start: number,
  size: number,
): Steps<T | undefined> {
  const frame = yield* openFrame(source, schema, start, size);
  if (frame === undefined) return undefined;
  const { pieces, end, value } = frame;
  let { checksum } = frame;
  for (const [at, piece] of pieces.entries()) {
    const ahead = pieces.slice(at === 0 ? 0 : at + readsMax - 1, at + readsMax);
    for (const read of ahead) yield { kind: "ahead", read };
    checksum = crc32(yield* fill(piece), checksum);
  }
  const found = yield* readFully(source, Buffer.alloc(checksumBytes), end);
  return found.equals(endOf(checksum)) ? value() : undefined;
}

function* openFrame<T>(
  source: ByteSource,
  { kind, begin }: FrameSchema<T>,
  start: number,
  size: number,
): Steps<FrameInParts<T> | undefined> {
  const head = yield* readHead(source, kind, start, size);
  if (head === undefined) return undefined;
  const textBytes = Buffer.alloc(alignedUp(head.textBytes));
  const text = yield* readFully(source, textBytes, start + headBytes);
  const columns = new ColumnRoom(head.frameBytes - headBytes - text.length - checksumBytes);
  const finish = begin(JSON.parse(text.toString("utf8", 0, head.textBytes)), columns);
  if (columns.bytesLeft !== 0) return undefined;
  const pieces: ReadStep[] = [];
  let position = start + headBytes + text.length;
  for (const { bytes } of columns.made) {
    for (let at = 0; at < bytes.length; at += checkpointReadBytes) {
      const target = bytes.subarray(at, at + checkpointReadBytes);
      pieces.push(readOf(source, target, position + at));
    }
    position += bytes.length;
  }
  const value = (): T => {
    // Clears the alignment bytes that were read behind the column.
    for (const { column, length } of columns.made) column.fill(0, length, length + alignment);
    return finish();
  };
  return { pieces, checksum: crc32(text, crc32(head.bytes)), end: position, value };
}

/** Correct only if the first frame's head is. */
export function* secondFrameStart(source: ByteSource): Steps<number> {
  const head = yield* readFully(source, Buffer.alloc(headBytes), 0);
  return head.readUIntLE(16, 6);
}

interface FrameHead {
  readonly bytes: Buffer;
  readonly textBytes: number;
  readonly frameBytes: number;
}

function* readHead(
  source: ByteSource,
  kind: FrameKind,
  start: number,
  size: number,
): Steps<FrameHead | undefined> {
  if (size < start + headBytes + checksumBytes) return undefined;
  const bytes = yield* readFully(source, Buffer.alloc(headBytes), start);
  const textBytes = bytes.readUInt32LE(8);
  const frameBytes = bytes.readUIntLE(16, 6);
  const isMarked = bytes.subarray(0, 8).equals(markOf(kind));
  const isOurs = isMarked && bytes.readUInt32LE(12) === kind.version;
  const isShort = textBytes <= kind.textBytesMax;
  const leastBytes = headBytes + alignedUp(textBytes) + checksumBytes;
  const isWhole = leastBytes <= frameBytes && start + frameBytes <= size;
  return isOurs && isShort && isWhole ? { bytes, textBytes, frameBytes } : undefined;
}

function markOf({ mark }: FrameKind): Buffer {
  return Buffer.from(`${mark}${endianness()}`, "latin1");
}

function endOf(checksum: number): Buffer {
  const end = Buffer.alloc(checksumBytes);
  end.writeUInt32LE(checksum);
  return end;
}

function* padded(part: Buffer, pieceBytes: number): Generator<Buffer> {
  for (let at = 0; at < part.length; at += pieceBytes) yield part.subarray(at, at + pieceBytes);
  const missing = alignedUp(part.length) - part.length;
  if (missing > 0) yield Buffer.alloc(missing);
}

export type Column = Float64Array | Int32Array | Uint32Array | Uint8Array;

const alignment = 8;
/** Room for appends, so that the first entry after reading does not copy every column. */
const spareShare = 1 / 16;

interface EmptyColumn {
  readonly column: Column;
  readonly length: number;
  readonly bytes: Buffer;
}

/**
 * Only the schema determines the columns, never the file. Together they are no larger than the
 * frame, except for the spare room.
 */
export class ColumnRoom {
  readonly made: EmptyColumn[] = [];
  #bytesLeft: number;

  constructor(bytes: number) {
    this.#bytesLeft = bytes;
  }

  get bytesLeft(): number {
    return this.#bytesLeft;
  }

  float64(length: number): Float64Array {
    return this.#make(length, Float64Array.BYTES_PER_ELEMENT, (room) => new Float64Array(room));
  }

  int32(length: number): Int32Array {
    return this.#make(length, Int32Array.BYTES_PER_ELEMENT, (room) => new Int32Array(room));
  }

  uint32(length: number): Uint32Array {
    return this.#make(length, Uint32Array.BYTES_PER_ELEMENT, (room) => new Uint32Array(room));
  }

  uint8(length: number): Uint8Array {
    return this.#make(length, Uint8Array.BYTES_PER_ELEMENT, (room) => new Uint8Array(room));
  }

  #make<C extends Column>(length: number, elementBytes: number, make: (room: number) => C): C {
    const needed = alignedUp(length * elementBytes);
    if (!(needed <= this.#bytesLeft)) throw new RangeError("the frame holds fewer columns");
    this.#bytesLeft -= needed;
    const column = make(length + Math.ceil(length * spareShare) + alignment);
    const bytes = Buffer.from(column.buffer, column.byteOffset, needed);
    this.made.push({ column, length, bytes });
    return column;
  }
}

export function bytesOf({ buffer, byteOffset, byteLength }: Column): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function alignedUp(bytes: number): number {
  return Math.ceil(bytes / alignment) * alignment;
}
