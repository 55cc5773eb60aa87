/** The line and the record that the file readers yield, and the decoding of one into the other. */
import { type DecodedLine, decodeLine } from "./decode-line.ts";
import type { LineRest, LineSink } from "./line-framer.ts";
import type { LongLine } from "./long-line.ts";

/** One line of a file, read forwards or backwards. */
export interface AnyFileLine {
  /** The line without "\n", a trailing "\r" still in it; a copy. null: see `long`. */
  readonly bytes: Buffer | null;
  /** Set instead of `bytes` if the line has more than `lineBytesMax` bytes. */
  readonly long: LongLine | null;
  /** File position of its first byte. */
  readonly offset: number;
  /** Bytes without "\n". */
  readonly length: number;
  /** false only for the last line of a file that does not end in "\n". */
  readonly terminated: boolean;
}

/** One line of a file read forwards. */
export interface FileLine extends AnyFileLine {
  /** 1-based, counted from where the read began. */
  readonly lineNumber: number;
}

/** A line and its record, or why it is not a record. */
export type FileRecord = FileLine & DecodedLine;

/** Decodes a line. Blank and over-long lines yield a reason, as any bad line. */
export function toRecord(line: FileLine): FileRecord {
  // Written out: a spread would take half as long as parsing.
  const { bytes, long, offset, length, lineNumber, terminated } = line;
  const decoded = bytes ? decodeLine(bytes) : tooLong(length);
  if (decoded.ok) {
    const { value } = decoded;
    return { bytes, long, offset, length, lineNumber, terminated, ok: true, value };
  }
  const { reason, message } = decoded;
  return { bytes, long, offset, length, lineNumber, terminated, ok: false, reason, message };
}

function tooLong(length: number): DecodedLine {
  const message = `the line has ${length} bytes, more than lineBytesMax; read inside it`;
  return { ok: false, reason: "too-long", message };
}

/** The unterminated rest of a file as its last line. */
export function lastLine(rest: LineRest): FileLine {
  const { bytes, long, offset, length, lineNumber } = rest;
  return { bytes, long, offset, length, lineNumber, terminated: false };
}

/** A sink that keeps lines, each as a copy of its own. */
export class LineCopies implements LineSink {
  /** In file order. */
  readonly lines: FileLine[] = [];

  line(source: Buffer, start: number, end: number, offset: number, lineNumber: number): void {
    const length = end - start;
    const bytes = Buffer.allocUnsafe(length);
    source.copy(bytes, 0, start, end);
    this.lines.push({ bytes, long: null, offset, length, lineNumber, terminated: true });
  }

  longLine(long: LongLine, lineNumber: number): void {
    const { offset, length } = long;
    this.lines.push({ bytes: null, long, offset, length, lineNumber, terminated: true });
  }
}
