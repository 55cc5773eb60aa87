/**
 * Checksums of a log, one for each entry's line with its newline, and one for each gap between
 * them. `verify` finds with them any bit that changed, even if the line still parses.
 */
import { crc32 } from "node:zlib";
import { decodeLine, pause } from "@branchlog/streaming";
import type { ByteSource, Steps } from "@branchlog/streaming";
import { headerOf } from "../dialects/log-record.ts";
import { SavedFields, malformed } from "../entries/saved-fields.ts";
import { grownCapacity, grown } from "../index-table/row-table.ts";
import type { LineMap, RowTable } from "../index-table/row-table.ts";
import { isSameFile } from "../store/ports.ts";
import type { FileStat } from "../store/ports.ts";
import { sumsFrame } from "./checkpoint-format.ts";
import type { FrameContent, FrameSchema } from "./checkpoint-format.ts";

/** Adjacent pieces from `start` to `end`. The columns may have spare room. */
export interface RecordSums {
  readonly dev: number;
  readonly ino: number;
  /** Older versions may be migrated in place. */
  readonly logVersion: number;
  /** Whether the log was compared with the checksums adopted from an earlier checkpoint. */
  readonly isConfirmed: boolean;
  /** Of the header: bytes before it may be rewritten in place, such as omp's title. */
  readonly start: number;
  readonly end: number;
  readonly firstLine: number;
  readonly nextLine: number;
  readonly count: number;
  readonly lengths: Uint32Array;
  readonly sums: Uint32Array;
  readonly gapCount: number;
  readonly gaps: Uint32Array;
  readonly gapLines: Uint32Array;
}

export interface ChangedPiece {
  readonly offset: number;
  readonly length: number;
  readonly line: number;
}

export interface SumComparison {
  /** `rewritten`: the log differs as a whole, not only in some bits. */
  readonly verdict: "same" | "changed" | "rewritten";
  readonly changedCount: number;
  readonly changed: readonly ChangedPiece[];
}

const sumChunkBytes: number = 1024 * 1024;

export const pieceBytesMax: number = 2 ** 30;

const newline = 10;
/** So few scattered changes are never taken for a rewritten log. */
const scatteredMax = 3;
const settledVersion = 3;
const headerBytesMax = 64 * 1024;

interface Pieces {
  readonly start: number;
  readonly end: number;
  readonly count: number;
  readonly lengthOf: (piece: number) => number;
}

/** Reads synchronously; pauses before each chunk but the first. Throws what the source throws. */
export function* sumPieces(
  source: ByteSource,
  pieces: Pieces,
  onSum: (piece: number, sum: number, lastByte: number) => void,
  chunk: Buffer = Buffer.allocUnsafe(Math.min(sumChunkBytes, pieces.end - pieces.start)),
): Steps<void> {
  const { start, end } = pieces;
  let chunkAt = start;
  let [at, filled] = [0, 0];
  for (let piece = 0; piece < pieces.count; piece += 1) {
    let sum = 0;
    for (let left = pieces.lengthOf(piece); left > 0;) {
      if (at === filled) {
        if (filled > 0) yield pause;
        chunkAt += filled;
        const wanted = Math.min(chunk.length, end - chunkAt);
        filled = source.readSync(chunk, 0, wanted, chunkAt);
        at = 0;
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
 * A flipped bit changes one piece, and truncated pieces are missing at the end. A rewrite moves
 * lines, so that pieces no longer end in a newline, and the last is not in its place.
 */
export function* compareSums(
  source: ByteSource,
  sums: RecordSums,
  changedMax: number,
): Steps<SumComparison> {
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

/** A newer version in the header means that the log was rewritten. */
function isMigrated(source: ByteSource, { start, logVersion }: RecordSums): boolean {
  if (logVersion >= settledVersion) return false;
  const bytes = Buffer.alloc(headerBytesMax);
  const head = bytes.subarray(0, source.readSync(bytes, 0, bytes.length, start));
  const header = headerOf(decodeLine(head, 0, head.indexOf(newline)));
  return header !== undefined && header.version > logVersion;
}

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

interface SummedLog {
  readonly source: ByteSource;
  readonly rows: RowTable;
  readonly lines: LineMap;
  readonly end: number;
  readonly nextLine: number;
}

interface Batch {
  readonly lengths: number[];
  readonly gaps: { readonly piece: number; readonly lines: number }[];
  end: number;
  nextLine: number;
  nextRow: number;
}

const batchBytes = 1024 * 1024;

/**
 * Continues from an earlier checkpoint. Checksums need a second read of the log, which would delay
 * opening; bytes unread at a stop are left for the next time.
 */
export class SumBuilder {
  #sums: RecordSums;
  #nextRow = -1;
  /** One for all batches: the collector does not account for many large buffers in time. */
  readonly #chunk = Buffer.allocUnsafeSlow(sumChunkBytes);

  constructor(sums: RecordSums) {
    this.#sums = sums;
  }

  get sums(): RecordSums {
    return this.#sums;
  }

  /** Pauses after each megabyte. Throws what reading throws. */
  *extend(log: SummedLog): Steps<void> {
    if (this.#nextRow < 0) this.#nextRow = log.rows.firstFrom(this.#sums.end);
    while (this.#sums.end < log.end) {
      const batch = this.#plan(log);
      const { lengths, end } = batch;
      const { length: count } = lengths;
      const sums: number[] = [];
      const lengthOf = (piece: number): number => lengths[piece] ?? 0;
      const pieces = { start: this.#sums.end, end, count, lengthOf };
      yield* sumPieces(log.source, pieces, (_, sum) => sums.push(sum), this.#chunk);
      if (sums.length < lengths.length) return;
      this.#add(batch, sums);
      yield pause;
    }
  }

  #plan({ rows, lines, end, nextLine }: SummedLog): Batch {
    const { end: start, nextLine: line } = this.#sums;
    const batch: Batch = { lengths: [], gaps: [], end: start, nextLine: line, nextRow: 0 };
    batch.nextRow = this.#nextRow;
    while (batch.end < end) {
      const row = batch.nextRow;
      const isLast = row >= rows.count;
      const gap = (isLast ? end : rows.offset(row)) - batch.end;
      const length = gap > 0 ? Math.min(gap, pieceBytesMax) : rows.length(row) + 1;
      if (batch.end > start && batch.end + length - start > batchBytes) break;
      batch.lengths.push(length);
      batch.end += length;
      if (gap > 0) {
        const lineBehind = isLast ? nextLine : lines.lineOfRow(row);
        // Newlines that vanished since are no longer lines.
        const linesIn = gap === length ? Math.max(0, lineBehind - batch.nextLine) : 0;
        batch.gaps.push({ piece: batch.lengths.length - 1, lines: linesIn });
        batch.nextLine += linesIn;
      } else {
        batch.nextLine += 1;
        batch.nextRow += 1;
      }
    }
    return batch;
  }

  #add({ lengths, gaps, end, nextLine, nextRow }: Batch, added: readonly number[]): void {
    const { count, gapCount } = this.#sums;
    const moreGaps = gapCount + gaps.length;
    this.#sums = {
      ...this.#sums,
      end,
      nextLine,
      count: count + lengths.length,
      lengths: extended(this.#sums.lengths, count, lengths),
      sums: extended(this.#sums.sums, count, added),
      gapCount: moreGaps,
      gaps: extended(
        this.#sums.gaps,
        gapCount,
        gaps.map(({ piece }) => count + piece),
      ),
      gapLines: extended(
        this.#sums.gapLines,
        gapCount,
        gaps.map(({ lines }) => lines),
      ),
    };
    this.#nextRow = nextRow;
  }
}

export function trimmed(sums: RecordSums): RecordSums {
  const { count, gapCount } = sums;
  return {
    ...sums,
    lengths: sums.lengths.subarray(0, count),
    sums: sums.sums.subarray(0, count),
    gaps: sums.gaps.subarray(0, gapCount),
    gapLines: sums.gapLines.subarray(0, gapCount),
  };
}

function extended(column: Uint32Array, count: number, more: readonly number[]): Uint32Array {
  const needed = count + more.length;
  const roomy =
    needed > column.length
      ? grown(Uint32Array, column, grownCapacity(column.length, needed))
      : column;
  roomy.set(more, count);
  return roomy;
}

/** A record with its newline, `{}`. Only gaps may be shorter, at most one for each record. */
const recordBytesMin = 3;
/** Pieces that are read even of a log that was shortened: 64 MiB of checksums. */
const lostPiecesMax = 8 * 1024 * 1024;

export function sumsSchema(log: FileStat): FrameSchema<RecordSums> {
  return {
    kind: sumsFrame,
    begin: (text, room) => {
      const fields = new SavedFields(text);
      const [dev, ino] = [fields.finite("dev"), fields.finite("ino")];
      if (!isSameFile({ dev, ino }, log)) throw malformed("checksums of this log");
      const start = fields.whole("start", 0, Number.MAX_SAFE_INTEGER);
      const end = fields.whole("end", start, Number.MAX_SAFE_INTEGER);
      const piecesMax = Math.max(lostPiecesMax, (log.size * 2) / recordBytesMin);
      const count = fields.whole("count", 0, Math.min(piecesMax, end - start));
      const gapCount = fields.whole("gapCount", 0, count);
      const firstLine = fields.whole("firstLine", 1, end + 1);
      const sums: RecordSums = {
        dev,
        ino,
        logVersion: fields.whole("logVersion", 0, Number.MAX_SAFE_INTEGER),
        isConfirmed: fields.flag("isConfirmed"),
        start,
        end,
        firstLine,
        nextLine: fields.whole("nextLine", firstLine, end + 1),
        count,
        lengths: room.uint32(count),
        sums: room.uint32(count),
        gapCount,
        gaps: room.uint32(gapCount),
        gapLines: room.uint32(gapCount),
      };
      return () => {
        checkPieces(sums);
        return sums;
      };
    },
  };
}

export function sumsContent(all: RecordSums): FrameContent {
  const { lengths, sums, gaps, gapLines, ...json } = all;
  return { json, columns: [lengths, sums, gaps, gapLines] };
}

function checkPieces(sums: RecordSums): void {
  const { start, end, count, lengths, gapCount, gaps, gapLines } = sums;
  let at = start;
  for (let piece = 0; piece < count; piece += 1) {
    const length = lengths[piece] ?? 0;
    if (length === 0 || length > pieceBytesMax) throw malformed("lengths of lines");
    at += length;
  }
  let [last, lines] = [-1, 0];
  for (let gap = 0; gap < gapCount; gap += 1) {
    const piece = gaps[gap] ?? -1;
    if (piece <= last || piece >= count) throw malformed("gaps between lines");
    last = piece;
    lines += gapLines[gap] ?? 0;
  }
  const isWhole = at === end && sums.firstLine + lines + count - gapCount === sums.nextLine;
  if (!isWhole) throw malformed("lines up to their end");
}
