/**
 * Reads a file line by line, synchronously or asynchronously: by pull, with two chunks in memory;
 * the file is closed however the loop ends. It reads up to the size at the start, so a file that
 * grows meanwhile does not extend the iteration.
 */
import { openByteSource } from "./byte-source.ts";
import { type DecodedLine, decodeLine } from "./decode-line.ts";
import { LineFramer, type LineSink } from "./line-framer.ts";
import type { LongLine } from "./long-line.ts";
import { type OptionNames, requireKnown } from "./option-names.ts";
import { readSizes, requireWhole } from "./read-sizes.ts";
import { chunks, reusedBuffers } from "./reads.ts";
import { type FindingSteps, items, itemsSync } from "./steps.ts";

/** One line of a file. */
export interface FileLine {
  /** The line without "\n", a trailing "\r" still in it; a copy. null: see `long`. */
  readonly bytes: Buffer | null;
  /** Set instead of `bytes` if the line has more than `lineBytesMax` bytes. */
  readonly long: LongLine | null;
  /** File position of its first byte. */
  readonly offset: number;
  /** Bytes without "\n". */
  readonly length: number;
  /** 1-based, counted from where the read began. */
  readonly lineNumber: number;
  /** false only for the last line of a file that does not end in "\n". */
  readonly terminated: boolean;
}

/** A line and its record, or why it is not a record. */
export type FileRecord = FileLine & DecodedLine;

/** The part of a file to read, and how. */
export interface ReadFileOptions {
  /** Where to start: 0 (the default) or the start of a line. */
  readonly from?: number;
  /** Where to end. Default: the size of the file. */
  readonly to?: number;
  /** Longest line that is joined. Default 16 MiB. */
  readonly lineBytesMax?: number;
  /** Bytes per read. Default 256 KiB. */
  readonly chunkBytes?: number;
  /** Ends the iteration before the next line: it throws the reason. */
  readonly signal?: AbortSignal | undefined;
}

const readFileNames: OptionNames<ReadFileOptions> = {
  from: true,
  to: true,
  lineBytesMax: true,
  chunkBytes: true,
  signal: true,
};

/**
 * The lines of a file, in order; an unterminated last one too, with `terminated: false`. The next
 * chunk is read while the lines of one are consumed.
 *
 * @throws What `fs` throws if the file cannot be opened or read.
 * @example
 * for await (const line of lines("session.jsonl")) console.log(line.offset, line.length);
 */
export function lines(
  path: string,
  options: ReadFileOptions = {},
): AsyncGenerator<FileLine, void, undefined> {
  const { signal } = requireKnown(options, readFileNames);
  return items(
    fileSteps(path, options, (found) => found),
    signal,
  );
}

/** The records of a file: every line decoded, or the reason why it is not a record. */
export function records(
  path: string,
  options: ReadFileOptions = {},
): AsyncGenerator<FileRecord, void, undefined> {
  const { signal } = requireKnown(options, readFileNames);
  return items(fileSteps(path, options, recordsIn), signal);
}

/** The same, synchronously; nothing is read ahead. */
export function recordsSync(
  path: string,
  options: ReadFileOptions = {},
): Generator<FileRecord, void, undefined> {
  const { signal } = requireKnown(options, readFileNames);
  return itemsSync(fileSteps(path, options, recordsIn), signal);
}

function* fileSteps<T>(
  path: string,
  options: ReadFileOptions,
  resultsOf: (found: readonly FileLine[]) => Iterable<T>,
): FindingSteps<T> {
  const file = openByteSource(path);
  try {
    const size = file.sizeSync();
    const { from = 0, to = size } = options;
    const { lineBytesMax, chunkBytes } = readSizes(options);
    requireWhole("from", from, 0);
    const framer = new LineFramer({ offset: from, lineBytesMax });
    const range = { from, to: Math.min(to, size), chunkBytes, readsAhead: true };
    yield* chunks(file, range, reusedBuffers(2), (chunk) => ({
      kind: "found",
      found: resultsOf(linesIn(chunk, framer)),
    }));
    const rest = framer.rest();
    if (rest) yield { kind: "found", found: resultsOf([{ ...rest, terminated: false }]) };
  } finally {
    file.closeSync();
  }
}

function linesIn(chunk: Buffer, framer: LineFramer): readonly FileLine[] {
  const found: FileLine[] = [];
  const sink: LineSink = {
    line: (source, start, end, offset, lineNumber) => {
      const length = end - start;
      const bytes = Buffer.allocUnsafe(length);
      source.copy(bytes, 0, start, end);
      found.push({ bytes, long: null, offset, length, lineNumber, terminated: true });
    },
    longLine: (long, lineNumber) => {
      const { offset, length } = long;
      found.push({ bytes: null, long, offset, length, lineNumber, terminated: true });
    },
  };
  framer.push(chunk, sink);
  return found;
}

/** Decodes lazily, so that few records are alive at a time. */
function* recordsIn(found: Iterable<FileLine>): Generator<FileRecord> {
  for (const line of found) yield toRecord(line);
}

function toRecord(line: FileLine): FileRecord {
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
