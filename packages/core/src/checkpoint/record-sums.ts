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
import { grownCapacity, grown } from "../index-table/row-table.ts";
import type { LineMap, RowTable } from "../index-table/row-table.ts";
import { isSameFile } from "../store/ports.ts";
import type { FileStat } from "../store/ports.ts";
import { sumsFrame } from "./checkpoint-format.ts";
import type { FrameContent, FrameSchema } from "./checkpoint-format.ts";
import { SavedFields, malformed } from "./saved-facts.ts";

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
  /** Where the header is: what is before it may be rewritten in place, as omp's title is. */
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
const sumChunkBytes: number = 1024 * 1024;

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
interface Pieces {
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
 * one piece, and what was cut off is missing at the end. Rewriting the file moves lines, so that
 * pieces do not end in a newline any more, and the last is not in its place.
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

/** Whether the header has a newer version than before: then the log was rewritten. */
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

/** A log up to a newline, with what is known of its lines. */
interface SummedLog {
  readonly source: ByteSource;
  readonly rows: RowTable;
  readonly lines: LineMap;
  readonly end: number;
  /** Number of the line behind `end`. */
  readonly nextLine: number;
}

/** Pieces that are read together, from the end of those before. */
interface Batch {
  readonly lengths: number[];
  /** Those that are gaps, with the lines that each holds. */
  readonly gaps: { readonly piece: number; readonly lines: number }[];
  end: number;
  nextLine: number;
  nextRow: number;
}

/** Enough that a batch costs nothing, little enough to be lost. */
const batchBytes = 1024 * 1024;

/**
 * Takes the checksums of a log, further each time it is asked, from where an earlier checkpoint
 * ended. It reads the log once more: opening has better things to do. What was not read when it is
 * stopped is left for the next time.
 */
export class SumBuilder {
  #sums: RecordSums;
  #nextRow = -1;
  /** One for all batches: many of them would be garbage that the collector does not see coming. */
  readonly #chunk = Buffer.allocUnsafeSlow(sumChunkBytes);

  /** @param sums What is known so far; it may be of no bytes. Its columns are the builder's. */
  constructor(sums: RecordSums) {
    this.#sums = sums;
  }

  /** What there is, as views that change with the builder. */
  get sums(): RecordSums {
    return this.#sums;
  }

  /** Continues to the end of the log, pausing after each megabyte. Throws what reading throws. */
  *extend(log: SummedLog): Generator<void, void, undefined> {
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
      yield;
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
        // Newlines that went missing since are no lines any more.
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

/** As many elements as are in use: what is saved has no room behind it. */
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

/** A record with its newline, `{}`. Only gaps may be shorter, one for each record at most. */
const recordBytesMin = 3;
/** Pieces that are read also of a log that has become shorter: 64 MiB of checksums. */
const lostPiecesMax = 8 * 1024 * 1024;

/** What checksums of a log may hold; it may have grown or been cut since they were taken. */
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

/** What is written of them. */
export function sumsContent(all: RecordSums): FrameContent {
  const { lengths, sums, gaps, gapLines, ...json } = all;
  return { json, columns: [lengths, sums, gaps, gapLines] };
}

function checkPieces({
  start,
  end,
  count,
  lengths,
  gapCount,
  gaps,
  gapLines,
  ...sums
}: RecordSums): void {
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
