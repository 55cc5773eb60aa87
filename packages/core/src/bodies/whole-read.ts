/**
 * Reads exactly as many bytes as are wanted. What the log no longer holds is zero: that is no JSON,
 * so whoever decodes it finds out.
 */
import { fill, runReads, runReadsSync } from "@branchlog/streaming";
import type { ByteSource, Reads } from "@branchlog/streaming";

/** Fills `target` from `position` on; see the file comment. */
export function* readWhole(target: Buffer, position: number): Reads<Buffer> {
  const { length } = yield* fill(target, position);
  return length < target.length ? target.fill(0, length) : target;
}

/** Reads `length` bytes into the start of `target`, blocking; see the file comment. */
export function readFullySync(
  source: ByteSource,
  target: Buffer,
  length: number,
  position: number,
): void {
  runReadsSync(source, readWhole(target.subarray(0, length), position));
}

/** The same, without blocking. */
export async function readFully(
  source: ByteSource,
  target: Buffer,
  length: number,
  position: number,
): Promise<void> {
  await runReads(source, readWhole(target.subarray(0, length), position));
}
