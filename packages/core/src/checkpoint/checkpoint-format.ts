/**
 * The bytes of a frame, of which a checkpoint has two: a mark, a JSON text, the columns that it
 * names, a checksum of it all. What is damaged anywhere, cut, of another version or another byte
 * order is no frame. The one says nothing of the other.
 */
import { endianness } from "node:os";
import { crc32 } from "node:zlib";
import type { Reads } from "@branchlog/streaming";
import { readWhole } from "../bodies/whole-read.ts";
import { attachColumns, columnBytes, detachColumns, newColumn } from "./columns.ts";
import type { Column, ColumnPlace } from "./columns.ts";

/** Which frame it is. */
export interface FrameKind {
  /** Six letters. */
  readonly mark: string;
  /** Raised whenever what is saved means something else. */
  readonly version: number;
}

/** The first frame: what was indexed. */
export const indexFrame: FrameKind = { mark: "BLCKPT", version: 3 };
/** The second: checksums of records, which opening does not read. */
export const sumsFrame: FrameKind = { mark: "BLSUMS", version: 1 };

/** Mark, length of the text, version, length of the frame. */
const headBytes = 24;
const checksumBytes = 8;
/** Columns begin at multiples of this. */
const alignment = 8;
/** Room for what comes, so that the first entry after reading does not copy every column. */
const spareShare = 1 / 16;

/**
 * The bytes of a frame, in pieces of at most `pieceBytes`, to be taken one right after the other: a
 * column that changes between two pieces is saved as it is at each of them.
 */
export function* framePieces(
  kind: FrameKind,
  value: object,
  pieceBytes: number,
): Generator<Buffer> {
  const { json, columns } = detachColumns(value);
  const places = JSON.stringify(columns.map(({ place }) => place));
  const text = Buffer.from(`{"columns":${places},"value":${json}}`);
  const parts = [text, ...columns.map(({ column }) => bytesOf(column))];
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

/** A frame of which the columns are still to be filled. */
export interface FrameInParts {
  /** Where its bytes are to be read to, one piece behind the other. */
  readonly pieces: readonly FramePiece[];
  /** Of all before the first piece. */
  readonly checksum: number;
  /** Where the pieces end. */
  readonly end: number;
  /** The value, once its columns are filled. */
  readonly value: () => unknown;
}

/** A piece of a column and where it stands in the file. */
export interface FramePiece {
  readonly target: Buffer;
  readonly position: number;
}

/**
 * The value of the frame that begins at `start` in a file of that size; undefined if there is none.
 * Columns have room for more.
 */
export function* readFrame(kind: FrameKind, start: number, size: number): Reads<unknown> {
  const frame = yield* openFrame(kind, start, size, size);
  if (frame === undefined) return undefined;
  let { checksum } = frame;
  for (const { target, position } of frame.pieces) {
    checksum = crc32(yield* readWhole(target, position), checksum);
  }
  return yield* closeFrame(frame, checksum);
}

/** What is to be read of a frame, in any order, in pieces of at most `pieceBytes`. */
export function* openFrame(
  kind: FrameKind,
  start: number,
  size: number,
  pieceBytes: number,
): Reads<FrameInParts | undefined> {
  const text = yield* readText(kind, start, size);
  if (text === undefined) return undefined;
  const columns: { readonly place: ColumnPlace; readonly column: Column }[] = [];
  const pieces: FramePiece[] = [];
  let { position } = text;
  for (const place of text.columns) {
    const { column, bytes } = roomFor(place);
    columns.push({ place, column });
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      pieces.push({ target: bytes.subarray(at, at + pieceBytes), position: position + at });
    }
    position += bytes.length;
  }
  const value = (): unknown => {
    for (const { place, column } of columns) {
      // What was read to align the next is no part of this one.
      column.fill(0, place.length, place.length + alignment);
    }
    attachColumns(text.value, columns);
    return text.value;
  };
  return { pieces, checksum: text.checksum, end: position, value };
}

/** The value of a frame of which all is read, if its bytes have that checksum. */
export function* closeFrame({ end, value }: FrameInParts, checksum: number): Reads<unknown> {
  const found = yield* readWhole(Buffer.alloc(checksumBytes), end);
  return found.equals(endOf(checksum)) ? value() : undefined;
}

/** Where the frame behind the first begins; as far as its head is right. */
export function* secondFrameStart(): Reads<number> {
  const head = yield* readWhole(Buffer.alloc(headBytes), 0);
  return head.readUIntLE(16, 6);
}

/** What stands before the columns; not yet known to be undamaged, but for its lengths. */
interface FrameText {
  readonly value: unknown;
  readonly columns: readonly ColumnPlace[];
  readonly checksum: number;
  /** Where the columns begin. */
  readonly position: number;
}

function* readText(kind: FrameKind, start: number, size: number): Reads<FrameText | undefined> {
  if (size < start + headBytes + checksumBytes) return undefined;
  const head = yield* readWhole(Buffer.alloc(headBytes), start);
  const textBytes = head.readUInt32LE(8);
  const frameBytes = head.readUIntLE(16, 6);
  const isMarked = head.subarray(0, 8).equals(markOf(kind));
  const isOurs = isMarked && head.readUInt32LE(12) === kind.version;
  const isWhole = headBytes + textBytes + checksumBytes <= frameBytes && start + frameBytes <= size;
  if (!isOurs || !isWhole) return undefined;
  const text = yield* readWhole(Buffer.alloc(alignedUp(textBytes)), start + headBytes);
  const { value, columns } = parsed(text.toString("utf8", 0, textBytes));
  // Nothing large is made before the lengths agree with each other.
  const bytes = columns.reduce((sum, one) => sum + alignedUp(columnBytes(one)), 0);
  if (headBytes + text.length + bytes + checksumBytes !== frameBytes) return undefined;
  const position = start + headBytes + text.length;
  return { value, columns, checksum: crc32(text, crc32(head)), position };
}

function markOf({ mark }: FrameKind): Buffer {
  return Buffer.from(`${mark}${endianness()}`, "latin1");
}

function endOf(checksum: number): Buffer {
  const end = Buffer.alloc(checksumBytes);
  end.writeUInt32LE(checksum);
  return end;
}

function parsed(json: string): { readonly value: unknown; readonly columns: ColumnPlace[] } {
  try {
    // Decoding boundary: what is damaged will not have the length of the file, or its checksum.
    return JSON.parse(json) as { value: unknown; columns: ColumnPlace[] };
  } catch {
    return { value: undefined, columns: [] };
  }
}

/** A column with room for more, and the bytes of it that are read, the padding included. */
function roomFor(place: ColumnPlace): { column: Column; bytes: Buffer } {
  const { kind, length } = place;
  const column = newColumn(kind, length + Math.ceil(length * spareShare) + alignment);
  const { buffer, byteOffset } = column;
  return { column, bytes: Buffer.from(buffer, byteOffset, alignedUp(columnBytes(place))) };
}

function* padded(part: Buffer, pieceBytes: number): Generator<Buffer> {
  for (let at = 0; at < part.length; at += pieceBytes) yield part.subarray(at, at + pieceBytes);
  const missing = alignedUp(part.length) - part.length;
  if (missing > 0) yield Buffer.alloc(missing);
}

function bytesOf({ buffer, byteOffset, byteLength }: Column): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function alignedUp(bytes: number): number {
  return Math.ceil(bytes / alignment) * alignment;
}
