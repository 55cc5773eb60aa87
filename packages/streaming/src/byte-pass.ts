/**
 * Reading is written once, as a generator that pauses where it wants bytes and where it found
 * something; pass-driver.ts answers it, synchronously or not. A pass knows no file: what it asks
 * for and what it finds follow from the bytes alone.
 */

import { requireWhole } from "./read-sizes.ts";

/** Wants up to `length` bytes from `position`; the pass goes on with their number, 0 at the end. */
export interface ReadStep {
  readonly target: Buffer;
  /** Where in `target` they go. */
  readonly offset: number;
  readonly length: number;
  readonly position: number;
}

/**
 * Found something. Where that is made only as it is taken, from the bytes read last, the read after
 * them needs another target: it may be under way by then.
 */
export interface FoundStep<T> {
  readonly found: Iterable<T>;
}

/** Reading that ends in a result. */
export type Reads<R> = Generator<ReadStep, R, number>;

/** Reading that finds things on its way. */
export type Pass<T> = Generator<ReadStep | FoundStep<T>, void, number>;

/** Fills `target` from `position` on. Fewer bytes come back where the source ends. */
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
 * Finds the chunks of a range in order, until the source ends. Each is read into what `targetOf`
 * gives for its length.
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

/** The same reads; what they find becomes something else, at once or as it is taken. */
export function* mapPass<T, U>(pass: Pass<T>, turn: (found: Iterable<T>) => Iterable<U>): Pass<U> {
  let step = pass.next(0);
  while (step.done !== true) {
    const { value } = step;
    step = pass.next("found" in value ? yield { found: turn(value.found) } : yield value);
  }
}

/**
 * Targets for reads: `count` buffers that take turns, made and grown as needed. What is longer than
 * `bytesMax` gets a buffer of its own, so that nothing large is kept.
 */
export function reusedBuffers(
  count: number,
  bytesMax: number = Infinity,
): (bytes: number) => Buffer {
  const buffers: Buffer[] = [];
  let turn = 0;
  return (bytes) => {
    if (bytes > bytesMax) return Buffer.allocUnsafeSlow(bytes);
    turn = (turn + 1) % count;
    let buffer = buffers[turn];
    if (buffer === undefined || buffer.length < bytes) {
      buffer = Buffer.allocUnsafe(bytes);
      buffers[turn] = buffer;
    }
    return buffer.subarray(0, bytes);
  };
}
