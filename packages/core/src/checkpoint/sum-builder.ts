/**
 * Takes the checksums of a log, further each time it is asked, from where an earlier checkpoint
 * ended. It reads the log once more: opening has better things to do. What was not read when it is
 * stopped is left for the next time.
 */
import type { ByteSource } from "@branchlog/streaming";
import { grownCapacity, grownUint32 } from "../index-table/column.ts";
import type { LineMap } from "../index-table/line-map.ts";
import type { RowTable } from "../index-table/row-table.ts";
import { pieceBytesMax, sumChunkBytes, sumPieces } from "./record-sums.ts";
import type { RecordSums } from "./record-sums.ts";

/** A log up to a newline, with what is known of its lines. */
export interface SummedLog {
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

/** See the file comment. */
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

  /** Goes on to the end of the log, pausing after each megabyte. Throws what reading throws. */
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
    needed > column.length ? grownUint32(column, grownCapacity(column.length, needed)) : column;
  roomy.set(more, count);
  return roomy;
}
