/** An id as bytes, as a word of 32 bits where it is eight lower-case hex digits, and as a hash. */
export function hashOf(bytes: Uint8Array, start: number, end: number, seed: number): number {
  let hash = 0x811c9dc5 ^ seed;
  for (let i = start; i < end; i += 1) hash = Math.imul(hash ^ (bytes[i] ?? 0), 0x01000193);
  return mixed(hash);
}

/** Prefix of an id with lone surrogates, in UTF-16. No text in UTF-8 has this byte. */
const utf16Mark = 0xff;
const loneSurrogate = /\p{Surrogate}/u;

/** Written over by each id: a buffer for each would be most of the cost of a look-up. */
export const plainBytes: Buffer = Buffer.alloc(64);

/** Writes a short id of ASCII; returns its length, or 0 for any other. */
export function writePlain(id: string): number {
  const { length } = id;
  if (length > plainBytes.length) return 0;
  for (let at = 0; at < length; at += 1) {
    const code = id.charCodeAt(at);
    if (code >= 0x80) return 0;
    plainBytes[at] = code;
  }
  return length;
}

export function idBytes(id: string): Buffer {
  if (!loneSurrogate.test(id)) return Buffer.from(id, "utf8");
  return Buffer.concat([Buffer.of(utf16Mark), Buffer.from(id, "utf16le")]);
}

export function idText(bytes: Buffer): string {
  return bytes[0] === utf16Mark ? bytes.toString("utf16le", 1) : bytes.toString("utf8");
}

const hexDigits = 8;

export function isHexWord(bytes: Uint8Array, start: number, end: number): boolean {
  return end - start === hexDigits && (quad(bytes, start) | quad(bytes, start + 4)) >= 0;
}

export function hexWord(bytes: Uint8Array, start: number): number {
  return (quad(bytes, start) << 16) | quad(bytes, start + 4);
}

/** A third of the cost of `toString` and `padStart`. */
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
