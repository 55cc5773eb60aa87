/**
 * Checksums of a log, one for each piece of 64 KiB. `verify` finds with them any bit that changed,
 * even if its line still parses.
 */
import { crc32 } from "node:zlib";
import { decodeLine, fill, pause, readOf, runSync } from "@branchlog/streaming";
import type { ByteSource, Steps } from "@branchlog/streaming";
import { headerOf } from "../dialects/log-record.ts";
import { flippedBit } from "./flipped-bit.ts";

export interface LogSums {
  readonly dev: number;
  readonly ino: number;
  /** Older versions may be migrated in place. */
  readonly logVersion: number;
  /** Whether the log was compared with the checksums adopted from an earlier checkpoint. */
  readonly isConfirmed: boolean;
  /** Of the header: bytes before it may be rewritten in place, such as omp's title. */
  readonly start: number;
  readonly end: number;
  /** Of the pieces from `start` on; the last one may be shorter. */
  readonly sums: Uint32Array;
}

export const sumPieceBytes: number = 64 * 1024;

export function sumCount({ start, end }: Pick<LogSums, "start" | "end">): number {
  return Math.ceil((end - start) / sumPieceBytes);
}

/** Bytes of a log, at least one of which changed; if one bit did, the byte that holds it. */
export interface ChangedBytes {
  readonly offset: number;
  readonly length: number;
}

export interface SumComparison {
  /** `rewritten`: the log differs as a whole, not only in some places. */
  readonly verdict: "same" | "changed" | "rewritten";
  readonly changedCount: number;
  readonly changed: readonly ChangedBytes[];
}

const newline = 10;
const piecesAtOnce = 16;
const settledVersion = 3;
const headerBytesMax = 64 * 1024;

/**
 * Reads synchronously, with a pause after each megabyte. Throws what the source throws. A piece
 * that a shortened log no longer holds counts as changed.
 * @param changedMax How many places are searched for and returned; all are counted.
 */
export function* compareSums(
  source: ByteSource,
  sums: LogSums,
  changedMax: number,
): Steps<SumComparison> {
  const { start, end } = sums;
  const chunk = Buffer.allocUnsafe(Math.min(piecesAtOnce * sumPieceBytes, end - start));
  const comparison = new Comparison(sums, changedMax);
  for (let at = start; at < end; at += chunk.length) {
    if (at > start) yield pause;
    const wanted = chunk.subarray(0, Math.min(chunk.length, end - at));
    const bytes = runSync(fill(readOf(source, wanted, at)));
    for (let from = 0; from < wanted.length; from += sumPieceBytes) {
      const to = Math.min(wanted.length, from + sumPieceBytes);
      comparison.add(bytes.subarray(from, to), to - from);
    }
  }
  return comparison.result(isMigrated(source, sums));
}

class Comparison {
  readonly #sums: LogSums;
  readonly #changedMax: number;
  readonly #changed: ChangedBytes[] = [];
  #piece = 0;
  #changedCount = 0;
  #firstChanged = 0;
  #missing = 0;
  #areBits = true;
  #endsInPlace = false;

  constructor(sums: LogSums, changedMax: number) {
    this.#sums = sums;
    this.#changedMax = changedMax;
  }

  /** @param length Of the piece when its checksum was taken. */
  add(bytes: Buffer, length: number): void {
    const piece = this.#piece;
    const difference = crc32(bytes) ^ (this.#sums.sums[piece] ?? 0);
    this.#piece += 1;
    this.#endsInPlace = bytes.length === length && bytes.at(-1) === newline;
    if (bytes.length === length && difference === 0) return;
    if (this.#changedCount === 0) this.#firstChanged = piece;
    this.#changedCount += 1;
    if (bytes.length < length) this.#missing += 1;
    const isSearched = this.#changed.length < this.#changedMax || this.#piecesChanged === 1;
    const bit = isSearched && bytes.length === length ? flippedBit(difference, length) : -1;
    this.#areBits &&= bit >= 0;
    if (this.#changed.length >= this.#changedMax) return;
    const offset = this.#sums.start + piece * sumPieceBytes;
    this.#changed.push(bit < 0 ? { offset, length } : { offset: offset + bit, length: 1 });
  }

  get #piecesChanged(): number {
    return this.#changedCount - this.#missing;
  }

  /**
   * In a rewritten log, bytes have moved: from some piece on most differ, and it no longer has the
   * end of a line where it was.
   */
  result(isRewritten: boolean): SumComparison {
    const changedCount = this.#changedCount;
    if (changedCount === 0) return { verdict: "same", changedCount, changed: [] };
    const seen = this.#piece - this.#missing - this.#firstChanged;
    const isMost = this.#piecesChanged * 2 > seen;
    const isMoved = isMost && !this.#endsInPlace && !this.#areBits && this.#piecesChanged > 0;
    const verdict = isMoved || isRewritten ? "rewritten" : "changed";
    return { verdict, changedCount, changed: this.#changed };
  }
}

/** A newer version in the header means that the log was rewritten. */
function isMigrated(source: ByteSource, { start, logVersion }: LogSums): boolean {
  if (logVersion >= settledVersion) return false;
  const bytes = Buffer.alloc(headerBytesMax);
  const head = bytes.subarray(0, source.readSync(bytes, 0, bytes.length, start));
  const header = headerOf(decodeLine(head, 0, head.indexOf(newline)));
  return header !== undefined && header.version > logVersion;
}

/**
 * Continues from an earlier checkpoint. Checksums need a second read of the log, which would delay
 * opening; bytes unread at a stop are left for the next time.
 */
export class SumBuilder {
  readonly #earlier: LogSums;
  readonly #sums: number[];
  #end: number;

  constructor(earlier: LogSums) {
    this.#earlier = earlier;
    this.#sums = [...earlier.sums];
    this.#end = earlier.end;
  }

  get sums(): LogSums {
    return { ...this.#earlier, end: this.#end, sums: Uint32Array.from(this.#sums) };
  }

  /** Pauses after each megabyte. Throws what reading throws. */
  *extend(source: ByteSource, to: number): Steps<void> {
    const chunk = Buffer.allocUnsafeSlow(
      Math.max(0, Math.min(piecesAtOnce * sumPieceBytes, to - this.#end)),
    );
    while (this.#end < to) {
      const wanted = Math.min(chunk.length, to - this.#end);
      const bytes = runSync(fill(readOf(source, chunk.subarray(0, wanted), this.#end)));
      if (bytes.length === 0) return;
      this.#add(bytes);
      yield pause;
    }
  }

  #add(bytes: Buffer): void {
    for (let at = 0; at < bytes.length;) {
      const piece = Math.floor((this.#end - this.#earlier.start) / sumPieceBytes);
      const pieceEnd = this.#earlier.start + (piece + 1) * sumPieceBytes;
      const part = bytes.subarray(at, at + pieceEnd - this.#end);
      this.#sums[piece] = crc32(part, this.#sums[piece] ?? 0);
      this.#end += part.length;
      at += part.length;
    }
  }
}
