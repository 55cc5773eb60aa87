/** Divides the bytes of a log into batches that end with a line, where one does. Pure. */
import { requireStorable } from "./postgres-log.ts";

/** Large enough that rows cost little, small enough to be read and searched in parts. */
const batchBytes = 1024 * 1024;

const newline = 10;

/** Throws `ERR_ENTRY_TOO_LARGE` for a line above the limit. */
export async function* batchesOf(
  pieces: AsyncIterable<Buffer> | Iterable<Buffer>,
  address: string,
): AsyncGenerator<Buffer, void, undefined> {
  let held: Buffer[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
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
