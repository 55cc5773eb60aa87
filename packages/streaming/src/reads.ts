/** Reading as steps: whole targets, chunks of a range, lines. */
import type { ByteSource } from "./byte-source.ts";
import { chunkBytesDefault, yieldEveryMsDefault } from "./limits.ts";
import type { LineFramer, LineSink, LinesSink } from "./line-framer.ts";
import { requireWhole } from "./read-sizes.ts";
import { items, itemsSync, pause, runSync } from "./steps.ts";
import type { FindingSteps, ReadStep, Step, Steps } from "./steps.ts";

/** Fills `target` from `position` on. */
export function readOf(source: ByteSource, target: Buffer, position: number, done = 0): ReadStep {
  const length = target.length - done;
  return { kind: "read", source, target, offset: done, length, position: position + done };
}

/** Repeats a read while it is short. Returns fewer bytes if the source ends. */
export function* fill(first: ReadStep): Steps<Buffer> {
  const { source, target, position } = first;
  let read = first;
  for (let done = 0; done < target.length; read = readOf(source, target, position, done)) {
    const bytesRead = yield read;
    if (bytesRead === 0) return target.subarray(0, done);
    done += bytesRead;
  }
  return target;
}

/** Bytes past the end of the source are zero, which is not JSON. */
export function* readFully(source: ByteSource, target: Buffer, position: number): Steps<Buffer> {
  const { length } = yield* fill(readOf(source, target, position));
  return length < target.length ? target.fill(0, length) : target;
}

export function readFullySync(source: ByteSource, target: Buffer, position: number): Buffer {
  return runSync(readFully(source, target, position));
}

/** The bytes [from, to), in pieces of at most `chunkBytes`. */
export interface ChunkRange {
  readonly from: number;
  readonly to: number;
  /** Bytes per read. Default `chunkBytesDefault`. */
  readonly chunkBytes?: number;
}

/**
 * Yields the results of `work` for each chunk, until the source ends; returns the bytes read. A
 * chunk is read into the target that `targetOf` returns for its length, with `readsAhead` during
 * the work on the one before.
 */
export function* chunks<S extends object = Step>(
  source: ByteSource,
  range: ChunkRange & { readonly readsAhead: boolean },
  targetOf: (bytes: number) => Buffer,
  work: (chunk: Buffer) => S | undefined,
): Generator<S | Step, number, number> {
  const { from, to, chunkBytes = chunkBytesDefault, readsAhead } = range;
  requireWhole("chunkBytes", chunkBytes, 1);
  const readAt = (at: number): ReadStep =>
    readOf(source, targetOf(Math.min(chunkBytes, to - at)), at);
  let position = from;
  let next: ReadStep | undefined;
  while (position < to) {
    const read = next ?? readAt(position);
    const chunk = yield* fill(read);
    position += chunk.length;
    const isWhole = chunk.length === read.length;
    next = readsAhead && isWhole && position < to ? readAt(position) : undefined;
    if (next !== undefined) yield { kind: "ahead", read: next };
    const made = chunk.length > 0 ? work(chunk) : undefined;
    if (made !== undefined) yield made;
    if (!isWhole) break;
  }
  return position - from;
}

/** A range of a scan. */
export interface ScanRange extends ChunkRange {
  /** Where to start; must equal the framer's offset. */
  readonly from: number;
  /** How long to work before a pause. Default `yieldEveryMsDefault`. */
  readonly yieldEveryMs?: number;
}

/**
 * Drives a framer over the range, and returns the bytes read: fewer than the range has if the
 * source ends early. Each byte is read once; two chunks are in memory.
 */
export function scan(
  source: ByteSource,
  framer: LineFramer,
  sink: LineSink | LinesSink,
  range: ScanRange,
): Steps<number> {
  const { yieldEveryMs = yieldEveryMsDefault } = range;
  let turnStartMs = performance.now();
  return chunks(source, { ...range, readsAhead: true }, reusedBuffers(2), (chunk) => {
    framer.push(chunk, sink);
    const nowMs = performance.now();
    if (nowMs - turnStartMs < yieldEveryMs) return undefined;
    turnStartMs = nowMs;
    return pause;
  });
}

/**
 * Reads `length` bytes at `offset`, one chunk per pull. Every chunk is a buffer of its own. Yields
 * fewer bytes if the source ends early.
 */
export function readRange(
  source: ByteSource,
  offset: number,
  length: number,
  chunkBytes: number = chunkBytesDefault,
): Generator<Buffer, void, undefined> {
  return itemsSync(ownChunks(source, offset, length, chunkBytes));
}

/** The same, asynchronously; nothing is read ahead. */
export function readRangeAsync(
  source: ByteSource,
  offset: number,
  length: number,
  chunkBytes: number = chunkBytesDefault,
): AsyncGenerator<Buffer, void, undefined> {
  return items(ownChunks(source, offset, length, chunkBytes));
}

function* ownChunks(
  source: ByteSource,
  offset: number,
  length: number,
  chunkBytes: number,
): FindingSteps<Buffer> {
  const range = { from: offset, to: offset + length, chunkBytes, readsAhead: false };
  const targetOf = (bytes: number): Buffer => Buffer.allocUnsafeSlow(bytes);
  yield* chunks(source, range, targetOf, (chunk) => ({ kind: "found", found: [chunk] }));
}

/** The same steps; the read after a result may begin before that is taken. */
export function* readingAhead<T>(steps: FindingSteps<T>): FindingSteps<T> {
  for (let next = steps.next(0); next.done !== true;) {
    const step = next.value;
    if (step.kind !== "found") {
      next = steps.next(yield step);
      continue;
    }
    next = steps.next(0);
    if (next.done !== true && next.value.kind === "read") {
      yield { kind: "ahead", read: next.value };
    }
    yield step;
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
