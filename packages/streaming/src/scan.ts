/**
 * Drives a framer over a range of a source, synchronously or asynchronously. Each byte is read
 * once; one chunk is in memory, two with read-ahead.
 */
import { chunkPass, type Pass, reusedBuffers } from "./byte-pass.ts";
import type { ByteSource } from "./byte-source.ts";
import { chunkBytesDefault, yieldEveryMsDefault } from "./limits.ts";
import type { LineFramer, LineSink, LinesSink } from "./line-framer.ts";
import { runPass, runPassSync } from "./pass-driver.ts";

/** The bytes `[from, to)` of a source. */
export interface ScanRange {
  /** Where to start; must equal the framer's offset. */
  readonly from: number;
  readonly to: number;
  /** Bytes per read. Default `chunkBytesDefault`. */
  readonly chunkBytes?: number;
}

/** A range for an asynchronous scan. */
export interface AsyncScanRange extends ScanRange {
  /** Ends the scan between two chunks: it rejects with the reason. */
  readonly signal?: AbortSignal | undefined;
  /** How long to work before yielding to the event loop. Default `yieldEveryMsDefault`. */
  readonly yieldEveryMs?: number;
}

/**
 * Scans the range and returns the bytes read: fewer than the range has if the source ends early.
 */
export function scanSync(
  source: ByteSource,
  framer: LineFramer,
  sink: LineSink | LinesSink,
  range: ScanRange,
): number {
  let bytesRead = 0;
  for (const chunk of runPassSync(source, scanPass(range, 1))) {
    framer.push(chunk, sink);
    bytesRead += chunk.length;
  }
  return bytesRead;
}

/** The same, reading one chunk ahead while the current one is framed. */
export async function scan(
  source: ByteSource,
  framer: LineFramer,
  sink: LineSink | LinesSink,
  range: AsyncScanRange,
): Promise<number> {
  const { signal, yieldEveryMs = yieldEveryMsDefault } = range;
  let bytesRead = 0;
  let turnStart = performance.now();
  for await (const chunk of runPass(source, scanPass(range, 2), { signal, readsAhead: true })) {
    framer.push(chunk, sink);
    bytesRead += chunk.length;
    if (performance.now() - turnStart < yieldEveryMs) continue;
    await eventLoopTurn();
    turnStart = performance.now();
  }
  return bytesRead;
}

/** The chunks of the range, read into `buffers` targets in rotation. */
function scanPass(range: ScanRange, targetCount: number): Pass<Buffer> {
  const { from, to, chunkBytes = chunkBytesDefault } = range;
  return chunkPass({ from, to, chunkBytes }, reusedBuffers(targetCount));
}

function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
