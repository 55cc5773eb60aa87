/**
 * Reads a file line by line from its start, synchronously or asynchronously: by pull, with one
 * chunk in memory; the file is closed however the loop ends. It reads up to the size at the start,
 * so a file that grows meanwhile does not extend the iteration.
 */
import { chunkPass, mapPass, type Pass, reusedBuffers } from "./byte-pass.ts";
import { type FileLine, type FileRecord, lastLine, LineCopies, toRecord } from "./file-line.ts";
import { filePass, filePassSync } from "./file-pass.ts";
import { LineFramer } from "./line-framer.ts";
import { type OptionNames, requireKnown } from "./option-names.ts";
import { readSizes, requireWhole } from "./read-sizes.ts";

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

/** The names of {@link ReadFileOptions} without a signal. */
export const readStreamNames: OptionNames<Omit<ReadFileOptions, "signal">> = {
  from: true,
  to: true,
  lineBytesMax: true,
  chunkBytes: true,
};

/** The names of {@link ReadFileOptions}. */
export const readFileNames: OptionNames<ReadFileOptions> = { ...readStreamNames, signal: true };

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
  return filePass(path, (size) => linePass(size, options), { signal, readsAhead: true });
}

/** The same, synchronously; nothing is read ahead. */
export function linesSync(
  path: string,
  options: ReadFileOptions = {},
): Generator<FileLine, void, undefined> {
  return filePassSync(
    path,
    (size) => linePass(size, options),
    requireKnown(options, readFileNames).signal,
  );
}

/** The records of a file: every line decoded, or the reason why it is not a record. */
export function records(
  path: string,
  options: ReadFileOptions = {},
): AsyncGenerator<FileRecord, void, undefined> {
  const { signal } = requireKnown(options, readFileNames);
  return filePass(path, (size) => recordPass(size, options), { signal, readsAhead: true });
}

/** The same, synchronously; nothing is read ahead. */
export function recordsSync(
  path: string,
  options: ReadFileOptions = {},
): Generator<FileRecord, void, undefined> {
  return filePassSync(
    path,
    (size) => recordPass(size, options),
    requireKnown(options, readFileNames).signal,
  );
}

/** Finds the lines of a file of `size` bytes. */
function* linePass(size: number, options: ReadFileOptions): Pass<FileLine> {
  const { from = 0, to = size } = options;
  const { lineBytesMax, chunkBytes } = readSizes(options);
  requireWhole("from", from, 0);
  const framer = new LineFramer({ offset: from, lineBytesMax });
  // One target is enough: lines are copied out of a chunk at once.
  const chunks = chunkPass({ from, to: Math.min(to, size), chunkBytes }, reusedBuffers(1));
  yield* mapPass(chunks, (found) => linesIn(found, framer));
  const rest = framer.rest();
  if (rest) yield { found: [lastLine(rest)] };
}

function linesIn(chunks: Iterable<Buffer>, framer: LineFramer): FileLine[] {
  const copies = new LineCopies();
  for (const chunk of chunks) framer.push(chunk, copies);
  return copies.lines;
}

/** Finds the records of a file of `size` bytes. */
function recordPass(size: number, options: ReadFileOptions): Pass<FileRecord> {
  return mapPass(linePass(size, options), recordsIn);
}

/** Decodes lazily, so that few records are alive at a time. */
function* recordsIn(found: Iterable<FileLine>): Generator<FileRecord> {
  for (const line of found) yield toRecord(line);
}
