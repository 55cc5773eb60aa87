/**
 * Which bit of some bytes has flipped, determined by their CRC-32 before and after. The difference
 * of the two depends on the place of the bit alone: a flip in the last byte gives one of eight
 * values, and each byte after it multiplies the value by x^8, which is undone here byte by byte.
 */

const polynomial = 0xedb88320;

/** The difference that a byte of these bits makes in the last place. */
const ofLastByte = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1)
    value = (value & 1) === 1 ? (value >>> 1) ^ polynomial : value >>> 1;
  return value;
});

/** By the upper eight bits of such a difference, which are different for each byte: that byte. */
const byteOf = new Uint8Array(256);
for (const [byte, value] of ofLastByte.entries()) byteOf[value >>> 24] = byte;

const flips = new Set(Array.from({ length: 8 }, (_, bit) => ofLastByte[1 << bit] ?? 0));

/**
 * The offset of the byte in which one bit flipped, or -1 if more than one did. O(length). Other
 * changes of 64 KiB look like one bit once in ten thousand times.
 * @param difference The exclusive or of the two checksums.
 */
export function flippedBit(difference: number, length: number): number {
  let value = difference >>> 0;
  for (let offset = length - 1; offset >= 0; offset -= 1) {
    if (flips.has(value)) return offset;
    const byte = byteOf[value >>> 24] ?? 0;
    value = (((value ^ (ofLastByte[byte] ?? 0)) << 8) | byte) >>> 0;
  }
  return -1;
}
