/**
 * A buffer that counts the work of native searches, so that linear time can be shown without
 * clocks.
 */

/** A buffer of `text`; `looked` says how many bytes `indexOf` has gone over so far. */
export function countingBuffer(text: string): { buffer: Buffer; looked: () => number } {
  const buffer = Buffer.from(text);
  const search = buffer.indexOf.bind(buffer);
  let looked = 0;
  buffer.indexOf = (value: string | number | Uint8Array, from?: number | BufferEncoding) => {
    const start = Number(from ?? 0);
    const found = search(value, start);
    looked += (found === -1 ? buffer.length : found + 1) - start;
    return found;
  };
  return { buffer, looked: () => looked };
}
