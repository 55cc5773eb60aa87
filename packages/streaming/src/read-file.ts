/**
 * Reads a file line by line from the front, synchronously or asynchronously: pull, one chunk in
 * memory, the file closed however the loop ends. The size at the start is the end, so a file that
 * grows meanwhile does not keep the reader going.
 */
import { openByteSource } from "./byte-source.ts";
import { type FileLine, type FileRecord, lastLine, toRecord } from "./file-line.ts";
import { chunkBytesDefault } from "./limits.ts";
import { LineFramer, type LineSink } from "./line-framer.ts";
import type { LongLine } from "./long-line.ts";

/** What part of a file to read, and how. */
export interface ReadFileOptions {
  /** Where to start: 0 (the default) or the start of a line. */
  readonly from?: number;
  /** Where to end. Default: the size of the file. */
  readonly to?: number;
  /** Longest line that is joined. Default 16 MiB. */
  readonly lineBytesMax?: number;
  /** Bytes per read. Default 256 KiB. */
  readonly chunkBytes?: number;
  /** Ends the reading before the next line: it throws the reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The lines of a file, in order; an unterminated last one too, marked so.
 *
 * @throws What `fs` throws if the file cannot be opened or read.
 * @example
 * for await (const line of lines("session.jsonl")) console.log(line.offset, line.length);
 */
export async function* lines(
  path: string,
  options: ReadFileOptions = {},
): AsyncGenerator<FileLine, void, undefined> {
  options.signal?.throwIfAborted();
  const file = openByteSource(path);
  try {
    const pass = new LinePass(file.sizeSync(), options);
    while (!pass.isOver) {
      options.signal?.throwIfAborted();
      const { chunk, wanted, position } = pass;
      for (const line of pass.accept(await file.read(chunk, 0, wanted, position))) {
        options.signal?.throwIfAborted();
        yield line;
      }
    }
  } finally {
    file.closeSync();
  }
}

/** The same, synchronously. */
export function* linesSync(
  path: string,
  options: ReadFileOptions = {},
): Generator<FileLine, void, undefined> {
  options.signal?.throwIfAborted();
  const file = openByteSource(path);
  try {
    const pass = new LinePass(file.sizeSync(), options);
    while (!pass.isOver) {
      options.signal?.throwIfAborted();
      const { chunk, wanted, position } = pass;
      for (const line of pass.accept(file.readSync(chunk, 0, wanted, position))) {
        options.signal?.throwIfAborted();
        yield line;
      }
    }
  } finally {
    file.closeSync();
  }
}

/** The records of a file: every line decoded, or the reason why it is no record. */
export async function* records(
  path: string,
  options: ReadFileOptions = {},
): AsyncGenerator<FileRecord, void, undefined> {
  for await (const line of lines(path, options)) yield toRecord(line);
}

/** The same, synchronously. */
export function* recordsSync(
  path: string,
  options: ReadFileOptions = {},
): Generator<FileRecord, void, undefined> {
  for (const line of linesSync(path, options)) yield toRecord(line);
}

/** The pure part: says what to read next and turns it into lines. */
class LinePass implements LineSink {
  readonly chunk: Buffer;
  readonly #framer: LineFramer;
  readonly #to: number;
  #batch: FileLine[] = [];
  #isOver = false;

  constructor(size: number, options: ReadFileOptions) {
    const from = options.from ?? 0;
    this.#to = Math.min(options.to ?? size, size);
    this.#framer = new LineFramer({
      offset: from,
      ...(options.lineBytesMax === undefined ? {} : { lineBytesMax: options.lineBytesMax }),
    });
    const chunkBytes = Math.min(options.chunkBytes ?? chunkBytesDefault, this.#to - from);
    this.chunk = Buffer.allocUnsafe(Math.max(chunkBytes, 1));
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get position(): number {
    return this.#framer.offset;
  }

  get wanted(): number {
    return Math.max(0, Math.min(this.chunk.length, this.#to - this.position));
  }

  /** Takes `bytesRead` bytes that were read into `chunk` and returns the lines they complete. */
  accept(bytesRead: number): readonly FileLine[] {
    this.#batch = [];
    this.#framer.push(this.chunk.subarray(0, bytesRead), this);
    this.#isOver = bytesRead === 0 || this.position >= this.#to;
    const rest = this.#isOver ? this.#framer.rest() : null;
    if (rest) this.#batch.push(lastLine(rest));
    return this.#batch;
  }

  line(source: Buffer, start: number, end: number, offset: number, lineNumber: number): void {
    const length = end - start;
    const bytes = Buffer.allocUnsafe(length);
    source.copy(bytes, 0, start, end);
    this.#batch.push({ bytes, long: null, offset, length, lineNumber, terminated: true });
  }

  longLine(long: LongLine, lineNumber: number): void {
    const { offset, length } = long;
    this.#batch.push({ bytes: null, long, offset, length, lineNumber, terminated: true });
  }
}
