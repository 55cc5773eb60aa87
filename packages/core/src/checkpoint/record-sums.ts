/**
 * Checksums of a log, one for each entry's line with its newline, and one for each gap between
 * them: the header, and lines that are no entries. They say what bytes a checkpoint saw, so that
 * `verify` finds any bit that changed since, also where the line still parses. Nothing else reads
 * them.
 */
import { crc32 } from "node:zlib";
import { decodeLine } from "@branchlog/streaming";
import type { ByteSource } from "@branchlog/streaming";
import { headerOf } from "../dialects/log-record.ts";

/**
 * What lies behind each other from `start` to `end`: pieces with their lengths and checksums. Its
 * columns may have room for more.
 */
export interface RecordSums {
  /** The file of which they are. */
  readonly dev: number;
  readonly ino: number;
  /** Version of the log: older ones may be migrated in place. */
  readonly logVersion: number;
  /** Whether the log was compared with those that were taken over from an earlier checkpoint. */
  readonly isConfirmed: boolean;
  /** Where the header stands: what is before it may be rewritten in place, as omp's title is. */
  readonly start: number;
  readonly end: number;
  /** Line at which they begin, and the one that comes next. */
  readonly firstLine: number;
  readonly nextLine: number;
  readonly count: number;
  readonly lengths: Uint32Array;
  readonly sums: Uint32Array;
  /** The pieces that are gaps, and how many lines each of them holds. */
  readonly gapCount: number;
  readonly gaps: Uint32Array;
  readonly gapLines: Uint32Array;
}

/** A piece that is not what it was. */
export interface ChangedPiece {
  readonly offset: number;
  /** Bytes, newline included. */
  readonly length: number;
  /** 1-based, as it was when the checksum was taken. */
  readonly line: number;
}

/** How a log differs from its checksums. */
export interface SumComparison {
  /** `rewritten`: it differs as a whole, so that it is not what was seen with some bits changed. */
  readonly verdict: "same" | "changed" | "rewritten";
  readonly changedCount: number;
  /** The first of them. */
  readonly changed: readonly ChangedPiece[];
}

/** Bytes that are read at once. */
export const sumChunkBytes: number = 1024 * 1024;

/** Longest piece; longer gaps are several. */
export const pieceBytesMax: number = 2 ** 30;

const newline = 10;
/** So many changed pieces, scattered as they may be, are never taken for a rewritten log. */
const scatteredMax = 3;
/** Logs of this version are never migrated. */
const settledVersion = 3;
/** Longer headers are not looked into. */
const headerBytesMax = 64 * 1024;

/** Pieces that follow each other from `start` to `end`. */
export interface Pieces {
  readonly start: number;
  readonly end: number;
  readonly count: number;
  readonly lengthOf: (piece: number) => number;
}

/**
 * Checksums of pieces, with the last byte of each. Reads blocking, into `chunk`, and pauses before
 * each chunk but the first. Throws what the source throws.
 */
export function* sumPieces(
  source: ByteSource,
  pieces: Pieces,
  onSum: (piece: number, sum: number, lastByte: number) => void,
  chunk: Buffer = Buffer.allocUnsafe(Math.min(sumChunkBytes, pieces.end - pieces.start)),
): Generator<void, void, undefined> {
  const { start, end } = pieces;
  let chunkAt = start;
  let [at, filled] = [0, 0];
  for (let piece = 0; piece < pieces.count; piece += 1) {
    let sum = 0;
    for (let left = pieces.lengthOf(piece); left > 0;) {
      if (at === filled) {
        if (filled > 0) yield;
        chunkAt += filled;
        const wanted = Math.min(chunk.length, end - chunkAt);
        filled = source.readSync(chunk, 0, wanted, chunkAt);
        at = 0;
        // What is not there any more has no checksum that was ever taken.
        if (filled === 0) return;
      }
      const length = Math.min(left, filled - at);
      sum = crc32(chunk.subarray(at, at + length), sum);
      at += length;
      left -= length;
    }
    onSum(piece, sum, chunk[at - 1] ?? 0);
  }
}

/**
 * Compares a log with its checksums; at most `changedMax` pieces are listed. A flipped bit changes
 * one piece, and what was cut off is missing at the end. Somebody who writes the file anew moves
 * lines, so that pieces do not end in a newline any more, and the last is not in its place.
 */
export function* compareSums(
  source: ByteSource,
  sums: RecordSums,
  changedMax: number,
): Generator<void, SumComparison, undefined> {
  const places = new PiecePlaces(sums);
  const changed: ChangedPiece[] = [];
  let [seen, changedCount, movedCount, isLastSame] = [0, 0, 0, false];
  const { start, end, count, lengths } = sums;
  const pieces = { start, end, count, lengthOf: (piece: number) => lengths[piece] ?? 0 };
  const note = (place: ChangedPiece): void => {
    changedCount += 1;
    if (changed.length < changedMax) changed.push(place);
  };
  yield* sumPieces(source, pieces, (piece, sum, lastByte) => {
    seen += 1;
    const place = places.next(piece);
    isLastSame = sum === sums.sums[piece];
    if (isLastSame) return;
    note(place);
    if (lastByte !== newline) movedCount += 1;
  });
  for (let piece = seen; piece < count; piece += 1) note(places.next(piece));
  if (changedCount === 0) return { verdict: "same", changedCount, changed };
  const isAligned = isLastSame || (seen > 0 && movedCount === 0);
  const isMoved = movedCount * 2 > changedCount || changedCount * 2 > count;
  const isShifted = !isAligned && isMoved && changedCount > scatteredMax;
  const isRewritten = isShifted || isMigrated(source, sums);
  return { verdict: isRewritten ? "rewritten" : "changed", changedCount, changed };
}

/** Whether the header says a newer version than it did: then somebody wrote the log anew. */
function isMigrated(source: ByteSource, { start, logVersion }: RecordSums): boolean {
  if (logVersion >= settledVersion) return false;
  const bytes = Buffer.alloc(headerBytesMax);
  const head = bytes.subarray(0, source.readSync(bytes, 0, bytes.length, start));
  const header = headerOf(decodeLine(head, 0, head.indexOf(newline)));
  return header !== undefined && header.version > logVersion;
}

/** Counts offsets and lines up from piece to piece. */
class PiecePlaces {
  readonly #sums: RecordSums;
  #offset: number;
  #line: number;
  #gap = 0;

  constructor(sums: RecordSums) {
    this.#sums = sums;
    this.#offset = sums.start;
    this.#line = sums.firstLine;
  }

  /** The place of a piece; to be asked for one after the other. */
  next(piece: number): ChangedPiece {
    const { lengths, gaps, gapLines, gapCount } = this.#sums;
    const length = lengths[piece] ?? 0;
    const place = { offset: this.#offset, length, line: this.#line };
    const isGap = this.#gap < gapCount && gaps[this.#gap] === piece;
    this.#offset += length;
    this.#line += isGap ? (gapLines[this.#gap] ?? 0) : 1;
    if (isGap) this.#gap += 1;
    return place;
  }
}
