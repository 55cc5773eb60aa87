/**
 * Reading is written once, as a generator that yields its reads and its results; pass-driver.ts
 * performs the reads, synchronously or not. A pass does no I/O: what it reads and finds follows
 * from the bytes alone.
 */

import { requireWhole } from "./read-sizes.ts";

/**
 * Requests up to `length` bytes from `position`; the pass resumes with their number, 0 at the end.
 */
export interface ReadStep {
  readonly target: Buffer;
  /** Where in `target` they go. */
  readonly offset: number;
  readonly length: number;
  readonly position: number;
}

/**
 * Results. If they are built lazily from the bytes read last, the next read needs another target,
 * since it may be in flight by then.
 */
export interface FoundStep<T> {
  readonly found: Iterable<T>;
}

/** A reading generator that returns a result. */
export type Reads<R> = Generator<ReadStep, R, number>;

/** A reading generator that yields results. */
export type Pass<T> = Generator<ReadStep | FoundStep<T>, void, number>;

/** Fills `target` from `position` on. Returns fewer bytes if the source ends. */
export function* fill(target: Buffer, position: number): Reads<Buffer> {
  let done = 0;
  while (done < target.length) {
    const length = target.length - done;
    const bytesRead = yield { target, offset: done, length, position: position + done };
    if (bytesRead === 0) return target.subarray(0, done);
    done += bytesRead;
  }
  return target;
}

/** The bytes [from, to), in pieces of at most `chunkBytes`. */
export interface ChunkRange {
  readonly from: number;
  readonly to: number;
  readonly chunkBytes: number;
}

/**
 * Finds the chunks of a range in order, until the source ends. Each is read into the buffer that
 * `targetOf` returns for its length.
 */
export function* chunkPass(range: ChunkRange, targetOf: (bytes: number) => Buffer): Pass<Buffer> {
  requireWhole("chunkBytes", range.chunkBytes, 1);
  for (let position = range.from; position < range.to;) {
    const target = targetOf(Math.min(range.chunkBytes, range.to - position));
    const chunk = yield* fill(target, position);
    if (chunk.length > 0) yield { found: [chunk] };
    if (chunk.length < target.length) return;
    position += chunk.length;
  }
}

/** The same reads with transformed results; `transform` may be lazy. */
export function* mapPass<T, U>(
  pass: Pass<T>,
  transform: (found: Iterable<T>) => Iterable<U>,
): Pass<U> {
  let step = pass.next(0);
  while (step.done !== true) {
    const { value } = step;
    step = pass.next("found" in value ? yield { found: transform(value.found) } : yield value);
  }
}

/**
 * Targets for reads: `count` buffers used in rotation, allocated and grown as needed. A target
 * longer than `bytesMax` gets a buffer of its own, so that no large buffer is kept.
 */
export function reusedBuffers(
  count: number,
  bytesMax: number = Infinity,
): (bytes: number) => Buffer {
  const buffers: Buffer[] = [];
  let current = 0;
  return (bytes) => {
    if (bytes > bytesMax) return Buffer.allocUnsafeSlow(bytes);
    current = (current + 1) % count;
    let buffer = buffers[current];
    if (buffer === undefined || buffer.length < bytes) {
      buffer = Buffer.allocUnsafe(bytes);
      buffers[current] = buffer;
    }
    return buffer.subarray(0, bytes);
  };
}
