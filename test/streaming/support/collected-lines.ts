/** Frames bytes the obvious way and through the framer, into comparable lists. */
import { LineFramer, type LineSink, type LongLine } from "@branchlog/streaming";

/** A line in a form that can be compared. */
export interface CollectedLine {
  readonly text: string;
  readonly offset: number;
  readonly lineNumber: number;
  readonly long: LongLine | null;
}

/** A sink that keeps everything. */
export class LineCollector implements LineSink {
  readonly lines: CollectedLine[] = [];

  line(bytes: Buffer, start: number, end: number, offset: number, lineNumber: number): void {
    this.lines.push({ text: bytes.toString("latin1", start, end), offset, lineNumber, long: null });
  }

  longLine(long: LongLine, lineNumber: number): void {
    this.lines.push({ text: "", offset: long.offset, lineNumber, long });
  }
}

/** Frames chunks and says what was delivered, what is left, and the offset of the framer. */
export function frame(chunks: readonly Buffer[], lineBytesMax?: number) {
  const framer = new LineFramer(lineBytesMax === undefined ? {} : { lineBytesMax });
  const sink = new LineCollector();
  for (const chunk of chunks) {
    // As a caller that reads into one buffer again and again would do.
    const reused = Buffer.from(chunk);
    framer.push(reused, sink);
    reused.fill(0xff);
  }
  return {
    lines: sink.lines,
    rest: framer.rest(),
    offset: framer.offset,
    committedOffset: framer.committedOffset,
    lineNumber: framer.lineNumber,
  };
}

/** The reference: splits the whole, byte by byte. */
export function splitLines(bytes: Buffer): { lines: CollectedLine[]; rest: Buffer } {
  const hasMark = bytes.subarray(0, 3).equals(Buffer.from([0xef, 0xbb, 0xbf]));
  const lines: CollectedLine[] = [];
  let start = hasMark ? 3 : 0;
  for (const [at, byte] of bytes.entries()) {
    if (byte !== 0x0a) continue;
    const text = bytes.toString("latin1", start, at);
    lines.push({ text, offset: start, lineNumber: lines.length + 1, long: null });
    start = at + 1;
  }
  return { lines, rest: bytes.subarray(start) };
}
