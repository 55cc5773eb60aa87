/**
 * Finds the lines of a file from its end. A line that spans windows is read once more, as a whole,
 * so at most twice the bytes of the file are read.
 */
import { fill, type Pass, type Reads, reusedBuffers } from "./byte-pass.ts";
import type { AnyFileLine } from "./file-line.ts";
import { LineFramer, type LineSink } from "./line-framer.ts";
import type { ReadFileOptions } from "./read-file.ts";
import { readSizes, requireWhole } from "./read-sizes.ts";

/**
 * Walks from "\n" to "\n" through windows of a file of `size` bytes, from the last to the first. It
 * ends when a read is shorter than the size promised.
 */
export function* backwardPass(size: number, options: ReadFileOptions): Pass<AnyFileLine> {
  const { from = 0, to = size } = options;
  const { chunkBytes } = readSizes(options);
  requireWhole("from", from, 0);
  const windows = reusedBuffers(1);
  let end = Math.min(to, size);
  let terminated = false;
  let window: Buffer = windows(0);
  let windowStart = end;
  let found: AnyFileLine[] = [];
  for (let isOver = false; !isOver;) {
    const newline = lastNewline(window, end - windowStart);
    if (newline === -1 && windowStart > from) {
      if (found.length > 0) yield { found };
      found = [];
      const length = Math.min(chunkBytes, windowStart - from);
      windowStart -= length;
      window = yield* fill(windows(length), windowStart);
      if (window.length < length) return;
      continue;
    }
    isOver = newline === -1;
    const start = isOver ? from : windowStart + newline + 1;
    if (terminated || end > start) {
      const place = { start, end, terminated, window, windowStart };
      const line = lineInWindow(place, options) ?? (yield* lineReadAnew(place, options));
      if (line !== undefined) found.push(line);
    }
    end = start - 1;
    terminated = true;
  }
  if (found.length > 0) yield { found };
}

interface LinePlace {
  readonly start: number;
  readonly end: number;
  readonly terminated: boolean;
  readonly window: Buffer;
  readonly windowStart: number;
}

/** A copy of an ordinary line; undefined for one that crosses the window, or needs the framer. */
function lineInWindow(place: LinePlace, options: ReadFileOptions): AnyFileLine | undefined {
  const { start, end, terminated, window, windowStart } = place;
  const { lineBytesMax } = readSizes(options);
  const length = end - start;
  const isWhole = end <= windowStart + window.length;
  if (!isWhole || start === 0 || length > lineBytesMax) return undefined;
  const bytes = Buffer.from(window.subarray(start - windowStart, end - windowStart));
  return { bytes, long: null, offset: start, length, terminated };
}

/** Any line, read from its start to its end; undefined if the file no longer holds it. */
function* lineReadAnew(
  { start, end, terminated }: LinePlace,
  options: ReadFileOptions,
): Reads<AnyFileLine | undefined> {
  const { lineBytesMax, chunkBytes } = readSizes(options);
  const framer = new LineFramer({ offset: start, lineBytesMax });
  const chunks = reusedBuffers(1);
  while (framer.offset < end) {
    const length = Math.min(chunkBytes, end - framer.offset);
    const chunk = yield* fill(chunks(length), framer.offset);
    if (chunk.length < length) return undefined;
    framer.push(chunk, noLines);
  }
  const rest = framer.rest();
  if (rest) {
    const { bytes, offset, length } = rest;
    return { bytes, long: rest.long && { ...rest.long, terminated }, offset, length, terminated };
  }
  // An empty line, or one of a byte-order mark alone, which the framer skipped.
  const empty = { bytes: Buffer.alloc(0), long: null, offset: end, length: 0, terminated };
  return terminated ? empty : undefined;
}

/** The bytes pushed hold no "\n", unless another process rewrites the file during the read. */
const noLines: LineSink = {
  line: () => undefined,
  longLine: () => undefined,
};

/** Position of the last "\n" before `end`, or -1. */
function lastNewline(window: Buffer, end: number): number {
  // A negative start would count from the end of the buffer.
  return end > 0 ? window.lastIndexOf(10, end - 1) : -1;
}
