/** Takes what a store gives piece by piece, now or later. */
import { io } from "@branchlog/streaming";
import type { Steps } from "@branchlog/streaming";

export function eachPiece(
  ask: (signal: AbortSignal | undefined) => AsyncIterable<Buffer> | Iterable<Buffer>,
  take: (bytes: Buffer) => void,
): Steps<void> {
  return io((signal) => {
    const pieces = ask(signal);
    if (Symbol.asyncIterator in pieces) return eachLater(pieces, take);
    for (const bytes of pieces) take(bytes);
    return undefined;
  });
}

async function eachLater(
  pieces: AsyncIterable<Buffer>,
  take: (bytes: Buffer) => void,
): Promise<void> {
  for await (const bytes of pieces) take(bytes);
}
