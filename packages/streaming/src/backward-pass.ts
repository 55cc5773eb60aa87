/**
 * Finds the lines of a file from its end, without doing the reading: it asks for bytes and gets
 * them. A line that spans windows is asked for once more, as a whole, so the bytes asked for are at
 * most twice those of the file.
 */
import type { AnyFileLine } from "./file-line.ts";
import { chunkBytesDefault, lineBytesMaxDefault } from "./limits.ts";
import { LineFramer, type LineSink } from "./line-framer.ts";
import type { ReadFileOptions } from "./read-file.ts";

/** Wants bytes, which the next call brings, or has a line. A shorter answer ends the pass. */
export type BackwardStep =
  | { readonly position: number; readonly length: number }
  | { readonly line: AnyFileLine };

/** One pass; what the first call brings is not looked at. */
export type BackwardPass = Generator<BackwardStep, void, Buffer>;

/**
 * Walks from "\n" to "\n" through windows of a file of `size` bytes, from the last to the first.
 */
export function* backwardPass(size: number, options: ReadFileOptions): BackwardPass {
  const chunkBytes = options.chunkBytes ?? chunkBytesDefault;
  const from = options.from ?? 0;
  let end = Math.min(options.to ?? size, size);
  let terminated = false;
  let window: Buffer = Buffer.alloc(0);
  let windowStart = end;
  for (;;) {
    const newline = lastNewline(window, end - windowStart);
    if (newline !== -1) {
      const start = windowStart + newline + 1;
      if (terminated || end > start) {
        yield* lineOf({ start, end, terminated, window, windowStart }, options);
      }
      end = start - 1;
      terminated = true;
    } else if (windowStart > from) {
      const length = Math.min(chunkBytes, windowStart - from);
      window = yield { position: windowStart - length, length };
      if (window.length < length) return;
      windowStart -= length;
    } else {
      if (terminated || end > from) {
        yield* lineOf({ start: from, end, terminated, window, windowStart }, options);
      }
      return;
    }
  }
}

interface LinePlace {
  readonly start: number;
  readonly end: number;
  readonly terminated: boolean;
  readonly window: Buffer;
  readonly windowStart: number;
}

function* lineOf(place: LinePlace, options: ReadFileOptions): BackwardPass {
  const { start, end, terminated, window, windowStart } = place;
  const lineBytesMax = options.lineBytesMax ?? lineBytesMaxDefault;
  const isInWindow = end <= windowStart + window.length;
  if (isInWindow && start > 0 && end - start <= lineBytesMax) {
    const bytes = Buffer.from(window.subarray(start - windowStart, end - windowStart));
    yield { line: { bytes, long: null, offset: start, length: end - start, terminated } };
    return;
  }
  const framer = new LineFramer({ offset: start, lineBytesMax });
  if (isInWindow) framer.push(window.subarray(start - windowStart, end - windowStart), noLines);
  const chunkBytes = options.chunkBytes ?? chunkBytesDefault;
  while (framer.offset < end) {
    const length = Math.min(chunkBytes, end - framer.offset);
    const chunk = yield { position: framer.offset, length };
    if (chunk.length < length) return;
    framer.push(chunk, noLines);
  }
  const rest = framer.rest();
  if (rest) {
    const long = rest.long && { ...rest.long, terminated };
    yield {
      line: { bytes: rest.bytes, long, offset: rest.offset, length: rest.length, terminated },
    };
  } else if (terminated) {
    // An empty line; if there was a byte-order mark alone, the framer took it off.
    yield { line: { bytes: Buffer.alloc(0), long: null, offset: end, length: 0, terminated } };
  }
}

/** There is no "\n" in what is pushed, unless somebody rewrites the file at this moment. */
const noLines: LineSink = {
  line: () => undefined,
  longLine: () => undefined,
};

/** Position of the last "\n" before `end`, or -1. */
function lastNewline(window: Buffer, end: number): number {
  // A negative start would count from the end of the buffer.
  return end > 0 ? window.lastIndexOf(10, end - 1) : -1;
}
