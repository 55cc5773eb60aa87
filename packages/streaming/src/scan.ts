/**
 * Drives a framer over a range of a source: the two thin shells, synchronous and asynchronous, over
 * the same pure code. They read each byte once and hold one chunk (two while reading ahead).
 */
import type { ByteSource } from "./byte-source.ts";
import { chunkBytesDefault, yieldEveryMsDefault } from "./limits.ts";
import type { LineFramer, LineSink } from "./line-framer.ts";

/** The bytes `[from, to)` of a source. */
export interface ScanRange {
  /** Where to start; the framer's offset has to say the same. */
  readonly from: number;
  readonly to: number;
  /** Bytes per read. Default `chunkBytesDefault`. */
  readonly chunkBytes?: number;
}

/** A range that is read asynchronously. */
export interface AsyncScanRange extends ScanRange {
  /** Ends the scan between two chunks: it rejects with the reason. */
  readonly signal?: AbortSignal | undefined;
  /** How long to work before the event loop gets a turn. Default `yieldEveryMsDefault`. */
  readonly yieldEveryMs?: number;
}

/** Scans the range and returns the bytes read: fewer than asked for if the source ends early. */
export function scanSync(
  source: ByteSource,
  framer: LineFramer,
  sink: LineSink,
  range: ScanRange,
): number {
  const target = chunkFor(range);
  let position = range.from;
  while (position < range.to) {
    const wanted = Math.min(target.length, range.to - position);
    const bytesRead = source.readSync(target, 0, wanted, position);
    if (bytesRead === 0) break;
    framer.push(target.subarray(0, bytesRead), sink);
    position += bytesRead;
  }
  return position - range.from;
}

/** The same, reading one chunk ahead while the current one is framed. */
export async function scan(
  source: ByteSource,
  framer: LineFramer,
  sink: LineSink,
  range: AsyncScanRange,
): Promise<number> {
  range.signal?.throwIfAborted();
  const yieldEveryMs = range.yieldEveryMs ?? yieldEveryMsDefault;
  let current = chunkFor(range);
  let next = chunkFor(range);
  let position = range.from;
  let pending = readAt(source, current, position, range.to);
  let turnStart = performance.now();
  try {
    for (;;) {
      const bytesRead = await pending;
      range.signal?.throwIfAborted();
      if (bytesRead === 0) return position - range.from;
      position += bytesRead;
      pending = readAt(source, next, position, range.to);
      framer.push(current.subarray(0, bytesRead), sink);
      [current, next] = [next, current];
      if (performance.now() - turnStart >= yieldEveryMs) {
        await eventLoopTurn();
        turnStart = performance.now();
      }
    }
  } finally {
    // Whoever closes the source next must not pull it from under a read.
    await pending.catch(() => 0);
  }
}

function readAt(source: ByteSource, target: Buffer, position: number, to: number): Promise<number> {
  const wanted = Math.min(target.length, to - position);
  const bytesRead = wanted <= 0 ? Promise.resolve(0) : source.read(target, 0, wanted, position);
  // A read ahead may fail before anyone awaits it; whoever awaits it still gets the error.
  bytesRead.catch(() => 0);
  return bytesRead;
}

function chunkFor(range: ScanRange): Buffer {
  const bytes = Math.min(range.chunkBytes ?? chunkBytesDefault, range.to - range.from);
  return Buffer.allocUnsafe(Math.max(bytes, 1));
}

function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
