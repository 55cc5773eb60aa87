/**
 * Splits bytes into lines at 0x0A, which in UTF-8 JSON can only be a line end. Offsets and lengths
 * are exact, any chunking gives the same lines, and the work is linear in the bytes. It does no I/O
 * and never interprets a line; lines above `lineBytesMax` are described, not joined.
 */
import { lineBytesMaxDefault } from "./limits.ts";
import { type LongLine, LongLineMeter } from "./long-line.ts";

/** Receives the lines of a {@link LineFramer}, in file order, one by one. */
export interface LineSink extends SinkBase {
  /**
   * One terminated line: `bytes[start, end)`, without "\n", a trailing "\r" still in it. Blank
   * lines are delivered too. The bytes are valid during the call only.
   * @param offset File position of `bytes[start]`.
   * @param lineNumber 1-based; every physical line counts.
   */
  line(bytes: Buffer, start: number, end: number, offset: number, lineNumber: number): void;
}

/** Receives them as they are adjacent in the bytes. */
export interface LinesSink extends SinkBase {
  /**
   * One or more terminated lines: `bytes[start, end)`, separated by newlines, that of the last one
   * left out; otherwise as in {@link LineSink}. Returns how many there are. It must not throw for
   * anything that lines say: after an exception all of them count as not delivered.
   */
  addLines(bytes: Buffer, start: number, end: number, offset: number, lineNumber: number): number;
}

type Sink = LineSink | LinesSink;

interface SinkBase {
  /** One terminated line of more than `lineBytesMax` bytes. */
  longLine(line: LongLine, lineNumber: number): void;
  /** The lines of one push have been delivered; for sinks that do part of their work in batches. */
  batchEnd?(): void;
}

/** The unterminated bytes after the last "\n". Exactly one of `bytes` and `long` is set. */
export interface LineRest {
  /** File position of its first byte. */
  readonly offset: number;
  /** The number it will have as a line. */
  readonly lineNumber: number;
  /** A copy of the bytes; null if there are more than `lineBytesMax`. */
  readonly bytes: Buffer | null;
  readonly long: LongLine | null;
  /** Bytes so far. */
  readonly length: number;
}

/** Where a {@link LineFramer} starts and what it joins. */
export interface LineFramerOptions {
  /** File position of the first byte pushed: 0, or the start of a line. Default 0. */
  readonly offset?: number;
  /** Number of the first line. Default 1. */
  readonly lineNumber?: number;
  /** Longest line that is joined, in bytes without "\n". Default `lineBytesMaxDefault`. */
  readonly lineBytesMax?: number;
}

const bom = [0xef, 0xbb, 0xbf] as const;
const heldBytesKept = 1024 * 1024;

/**
 * The framer of one pass over a file. A byte-order mark at file offset 0 is skipped: the first line
 * then starts at offset 3. After an exception from a sink its offset is the start of the line that
 * was not accepted, so a caller that continues reads that line again.
 */
export class LineFramer {
  readonly #lineBytesMax: number;
  #offset: number;
  #lineStart: number;
  #lineNumber: number;
  #held: Buffer = Buffer.alloc(0);
  #heldLength = 0;
  #meter: LongLineMeter | null = null;

  constructor(options: LineFramerOptions = {}) {
    this.#lineBytesMax = options.lineBytesMax ?? lineBytesMaxDefault;
    this.#offset = options.offset ?? 0;
    this.#lineStart = this.#offset;
    this.#lineNumber = options.lineNumber ?? 1;
  }

  /** File position after the last byte pushed. */
  get offset(): number {
    return this.#offset;
  }

  /** File position after the last "\n" pushed, or where the framer started. */
  get committedOffset(): number {
    return this.#lineStart;
  }

  /** Number of the next line. */
  get lineNumber(): number {
    return this.#lineNumber;
  }

  /**
   * Takes the next bytes of the file and delivers the lines that end in them. Keeps no reference.
   */
  push(bytes: Buffer, sink: Sink): void {
    const base = this.#offset;
    const max = this.#lineBytesMax;
    let start = 0;
    try {
      let end = bytes.indexOf(10);
      if (end !== -1 && base > this.#lineStart) {
        this.#endHeldLine(bytes, end, sink);
        start = end + 1;
        end = bytes.indexOf(10, start);
      }
      while (end !== -1) {
        const offset = base + start;
        if (end - start > max || offset === 0) this.#deliver(bytes, start, end, offset, sink);
        else {
          // Where none of them can be too long, all lines of a chunk continue at once.
          if ("addLines" in sink && bytes.length - start <= max) end = lastNewline(bytes);
          this.#give(bytes, start, end, offset, sink);
        }
        start = end + 1;
        end = start === bytes.length ? -1 : bytes.indexOf(10, start);
      }
    } catch (error) {
      this.#rewindTo(start > 0 ? base + start : this.#lineStart);
      sink.batchEnd?.();
      throw error;
    }
    this.#offset = base + bytes.length;
    if (start > 0) this.#lineStart = base + start;
    if (start < bytes.length) this.#hold(bytes, start);
    sink.batchEnd?.();
  }

  /** Whether there is an unterminated tail. */
  get hasRest(): boolean {
    if (this.#meter !== null) return true;
    return this.#heldLength > bomLength(this.#held, 0, this.#heldLength, this.#lineStart);
  }

  /** The unterminated tail, or null if there is none. The framer stays usable. */
  rest(): LineRest | null {
    const lineNumber = this.#lineNumber;
    if (this.#meter) {
      const long = this.#meter.finish(false);
      return { offset: long.offset, lineNumber, bytes: null, long, length: long.length };
    }
    const skipped = bomLength(this.#held, 0, this.#heldLength, this.#lineStart);
    const offset = this.#lineStart + skipped;
    const length = this.#heldLength - skipped;
    if (length === 0) return null;
    if (length > this.#lineBytesMax) {
      const long = measure(this.#held, skipped, this.#heldLength, offset).finish(false);
      return { offset, lineNumber, bytes: null, long, length };
    }
    const bytes = Buffer.from(this.#held.subarray(skipped, this.#heldLength));
    return { offset, lineNumber, bytes, long: null, length };
  }

  /** Frees memory that only further chunks would need. */
  release(): void {
    if (this.#held.length > this.#heldLength) {
      this.#held = Buffer.from(this.#held.subarray(0, this.#heldLength));
    }
  }

  /** Rewinds to the start of the next line. */
  #rewindTo(offset: number): void {
    this.#offset = offset;
    this.#lineStart = offset;
    this.#heldLength = 0;
    this.#meter = null;
  }

  /** The line that started in earlier chunks ends at `bytes[end]`. */
  #endHeldLine(bytes: Buffer, end: number, sink: Sink): void {
    if (end > 0) this.#hold(bytes.subarray(0, end), 0);
    if (this.#meter) {
      sink.longLine(this.#meter.finish(true), this.#lineNumber);
      this.#lineNumber += 1;
      this.#meter = null;
      return;
    }
    const held = this.#held.subarray(0, this.#heldLength);
    this.#heldLength = 0;
    this.#deliver(held, 0, held.length, this.#lineStart, sink);
    if (this.#held.length > heldBytesKept) this.#held = Buffer.alloc(0);
  }

  #deliver(bytes: Buffer, start: number, end: number, offset: number, sink: Sink): void {
    const skipped = bomLength(bytes, start, end, offset);
    const from = start + skipped;
    if (end - from <= this.#lineBytesMax) {
      this.#give(bytes, from, end, offset + skipped, sink);
      return;
    }
    const long = measure(bytes, from, end, offset + skipped).finish(true);
    sink.longLine(long, this.#lineNumber);
    this.#lineNumber += 1;
  }

  #give(bytes: Buffer, start: number, end: number, offset: number, sink: Sink): void {
    if ("addLines" in sink) {
      this.#lineNumber += sink.addLines(bytes, start, end, offset, this.#lineNumber);
    } else {
      sink.line(bytes, start, end, offset, this.#lineNumber);
      this.#lineNumber += 1;
    }
  }

  /** Keeps a copy of `bytes[start…]`, or its measure once the line is certain to be too long. */
  #hold(bytes: Buffer, start: number): void {
    if (this.#meter) {
      this.#meter.push(bytes, start, bytes.length);
      return;
    }
    const length = this.#heldLength + bytes.length - start;
    if (length <= this.#lineBytesMax + bom.length) {
      this.#reserve(length);
      bytes.copy(this.#held, this.#heldLength, start);
      this.#heldLength = length;
      return;
    }
    this.#startMeter(bytes, start);
  }

  #startMeter(bytes: Buffer, start: number): void {
    // The mark may be split between the held bytes and the new ones.
    const opening = [...this.#held.subarray(0, Math.min(this.#heldLength, bom.length))];
    opening.push(...bytes.subarray(start, start + bom.length - opening.length));
    const skipped = bomLength(opening, 0, opening.length, this.#lineStart);
    const meter = new LongLineMeter(this.#lineStart + skipped);
    meter.push(this.#held, skipped, this.#heldLength);
    meter.push(bytes, start + Math.max(0, skipped - this.#heldLength), bytes.length);
    this.#meter = meter;
    this.#heldLength = 0;
    if (this.#held.length > heldBytesKept) this.#held = Buffer.alloc(0);
  }

  /** Makes room by doubling, so that a line costs linear time however small its chunks are. */
  #reserve(length: number): void {
    if (length <= this.#held.length) return;
    const doubled = Math.max(this.#held.length * 2, 4096);
    const capacity = Math.max(length, Math.min(doubled, this.#lineBytesMax + bom.length));
    const grown = Buffer.allocUnsafeSlow(capacity);
    this.#held.copy(grown, 0, 0, this.#heldLength);
    this.#held = grown;
  }
}

/** Most chunks that are added by appends end in one. */
function lastNewline(bytes: Buffer): number {
  return bytes[bytes.length - 1] === 10 ? bytes.length - 1 : bytes.lastIndexOf(10);
}

function bomLength(bytes: ArrayLike<number>, start: number, end: number, offset: number): number {
  if (offset !== 0 || end - start < bom.length) return 0;
  return bom.every((byte, i) => bytes[start + i] === byte) ? bom.length : 0;
}

function measure(bytes: Buffer, start: number, end: number, offset: number): LongLineMeter {
  const meter = new LongLineMeter(offset);
  meter.push(bytes, start, end);
  return meter;
}
