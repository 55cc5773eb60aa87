/**
 * The hex form of an id: eight lower-case hex digits, as pi makes them, held as the 32 bits that
 * they spell. Bits are signed, as typed arrays and bitwise operators give them back.
 */

const hexDigits = 8;

/** Whether bytes[start, end) are eight lower-case hex digits. */
export function isHexWord(bytes: Uint8Array, start: number, end: number): boolean {
  return end - start === hexDigits && (quad(bytes, start) | quad(bytes, start + 4)) >= 0;
}

/** The bits of the eight digits that begin at `start`; see {@link isHexWord}. */
export function hexWord(bytes: Uint8Array, start: number): number {
  return (quad(bytes, start) << 16) | quad(bytes, start + 4);
}

/** The digits of those bits; a third of the cost of `toString` and `padStart`. */
export function hexText(word: number): string {
  const high = `${hexPair[word >>> 24]}${hexPair[(word >>> 16) & 255]}`;
  return `${high}${hexPair[(word >>> 8) & 255]}${hexPair[word & 255]}`;
}

/** A bijective mix of 32 bits (murmur3's finaliser): ids that count up must not cluster. */
export function mixed(word: number): number {
  let h = word ^ (word >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return h ^ (h >>> 16);
}

/** The value of four digits, or something negative. */
function quad(bytes: Uint8Array, at: number): number {
  return (
    ((hexDigit[bytes[at] ?? 0] ?? -1) << 12) |
    ((hexDigit[bytes[at + 1] ?? 0] ?? -1) << 8) |
    ((hexDigit[bytes[at + 2] ?? 0] ?? -1) << 4) |
    (hexDigit[bytes[at + 3] ?? 0] ?? -1)
  );
}

const hexDigit: Int8Array = new Int8Array(256).fill(-1);
for (const [value, char] of Buffer.from("0123456789abcdef").entries()) hexDigit[char] = value;

const hexPair = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
