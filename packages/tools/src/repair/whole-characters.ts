/** Divides bytes that come in pieces between the characters of UTF-8. Pure; linear. */

/** An incomplete character is a piece of its own. */
export function* wholeCharacters(pieces: Iterable<Buffer>): Generator<Buffer> {
  let carried: Buffer = Buffer.alloc(0);
  for (const piece of pieces) {
    const bytes = carried.length === 0 ? piece : Buffer.concat([carried, piece]);
    const end = bytes.length - unfinishedBytes(bytes);
    if (end > 0) yield bytes.subarray(0, end);
    carried = bytes.subarray(end);
  }
  if (carried.length > 0) yield carried;
}

function unfinishedBytes(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > back ? back : 0;
  }
  return 0;
}
