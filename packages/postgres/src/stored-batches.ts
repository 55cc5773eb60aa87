/** Divides the bytes of a log into batches that end with a line, where one does. Pure. */
import { requireStorable } from "./postgres-log.ts";

/** Large enough that rows cost little, small enough that an entry is read with few others. */
const batchBytes = 128 * 1024;

const newline = 10;

/** Throws `ERR_ENTRY_TOO_LARGE` for a line above the limit. */
export async function* batchesOf(
  pieces: AsyncIterable<Buffer> | Iterable<Buffer>,
  address: string,
): AsyncGenerator<Buffer, void, undefined> {
  let held: Buffer[] = [];
  let bytes = 0;
  for await (const piece of inParts(pieces)) {
    const end = bytes + piece.length < batchBytes ? 0 : piece.lastIndexOf(newline) + 1;
    if (end > 0) {
      yield Buffer.concat([...held, piece.subarray(0, end)]);
      [held, bytes] = [[], 0];
    }
    // The giver may use its memory again.
    if (end < piece.length) held.push(Buffer.from(piece.subarray(end)));
    bytes += piece.length - end;
    requireStorable({ length: bytes }, address);
  }
  if (bytes > 0) yield Buffer.concat(held);
}

async function* inParts(
  pieces: AsyncIterable<Buffer> | Iterable<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length; at += batchBytes) {
      yield piece.subarray(at, at + batchBytes);
    }
  }
}
