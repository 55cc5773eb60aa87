/**
 * Matching of fixed texts and of plain strings in bytes, forwards and backwards. A plain string is
 * a JSON string of printable ASCII without escapes, so its bytes are its value. Four bytes are
 * compared in one step, which halves the time of a scan. -1 means no match.
 */

const quote = 0x22;
const wordBytes = 4;
const textBytesMax = 6 * wordBytes;

/** A fixed ASCII text of 4 to 24 bytes, as six words that overlap where it is shorter. */
export class FixedText {
  readonly length: number;
  readonly #word0: number;
  readonly #word1: number;
  readonly #word2: number;
  readonly #word3: number;
  readonly #word4: number;
  readonly #word5: number;
  readonly #at1: number;
  readonly #at2: number;
  readonly #at3: number;
  readonly #at4: number;
  readonly #at5: number;

  constructor(text: string) {
    const bytes = Buffer.from(text, "latin1");
    if (bytes.length < wordBytes || bytes.length > textBytesMax) {
      throw new RangeError(`a fixed text has 4 to 24 bytes: ${text}`);
    }
    const last = bytes.length - wordBytes;
    this.length = bytes.length;
    this.#at1 = Math.min(wordBytes, last);
    this.#at2 = Math.min(2 * wordBytes, last);
    this.#at3 = Math.min(3 * wordBytes, last);
    this.#at4 = Math.min(4 * wordBytes, last);
    this.#at5 = last;
    this.#word0 = bytes.readInt32LE(0);
    this.#word1 = bytes.readInt32LE(this.#at1);
    this.#word2 = bytes.readInt32LE(this.#at2);
    this.#word3 = bytes.readInt32LE(this.#at3);
    this.#word4 = bytes.readInt32LE(this.#at4);
    this.#word5 = bytes.readInt32LE(this.#at5);
  }

  /** Position after the text if it is at `at` and ends by `end`. */
  after(bytes: DataView, at: number, end: number): number {
    const textEnd = at + this.length;
    return textEnd <= end &&
      bytes.getInt32(at, true) === this.#word0 &&
      bytes.getInt32(at + this.#at1, true) === this.#word1 &&
      bytes.getInt32(at + this.#at2, true) === this.#word2 &&
      bytes.getInt32(at + this.#at3, true) === this.#word3 &&
      bytes.getInt32(at + this.#at4, true) === this.#word4 &&
      bytes.getInt32(at + this.#at5, true) === this.#word5
      ? textEnd
      : -1;
  }

  /** Position of the text if it ends at `at` and begins at or after `floor`. */
  before(bytes: DataView, floor: number, at: number): number {
    const start = at - this.length;
    return start >= floor && this.after(bytes, start, at) === at ? start : -1;
  }

  /** Whether the text is exactly the bytes `[start, end)`. */
  equals(bytes: DataView, start: number, end: number): boolean {
    return end - start === this.length && this.after(bytes, start, end) === end;
  }
}

/** Whether `byte` is at `at`; false for a position outside of the bytes. */
export function isByteAt(bytes: DataView, at: number, byte: number): boolean {
  return at >= 0 && at < bytes.byteLength && bytes.getUint8(at) === byte;
}

/** Position of the closing quote of a plain string whose first character is at `at`. */
export function closingQuote(bytes: DataView, at: number, end: number): number {
  let i = at;
  for (; i + wordBytes <= end; i += wordBytes) {
    const flags = endFlags(bytes.getInt32(i, true));
    if (flags === 0) continue;
    // The lowest flag is exact; those above it may be carried over from it.
    const found = i + ((31 - Math.clz32(flags & -flags)) >> 3);
    return bytes.getUint8(found) === quote ? found : -1;
  }
  for (; i < end; i++) {
    if (endFlags(bytes.getUint8(i) | filler) !== 0) return bytes.getUint8(i) === quote ? i : -1;
  }
  return -1;
}

/** Whether `count` bytes, a multiple of four, can all be inside a plain string. */
export function arePlainWords(bytes: DataView, at: number, count: number): boolean {
  let flags = 0;
  for (let i = at; i < at + count; i += wordBytes) flags |= endFlags(bytes.getInt32(i, true));
  return flags === 0;
}

/** Position of the opening quote of a plain string whose closing quote is right before `at`. */
export function openingQuote(bytes: DataView, floor: number, at: number): number {
  if (at <= floor || bytes.getUint8(at - 1) !== quote) return -1;
  for (let i = at - 2; i >= floor; i--) {
    if (endFlags(bytes.getUint8(i) | filler) !== 0) return bytes.getUint8(i) === quote ? i : -1;
  }
  return -1;
}

/** Three spaces, which are plain, above a byte that is tested alone. */
const filler = 0x20202000;

/**
 * Bit 7 of each byte that cannot be inside a plain string: a quote, a backslash, a control
 * character, or anything from 0x80 on. Subtracting a byte's limit borrows into its bit 7.
 */
function endFlags(word: number): number {
  const quotes = word ^ 0x22222222;
  const backslashes = word ^ 0x5c5c5c5c;
  const found =
    word |
    ((quotes - 0x01010101) & ~quotes) |
    ((backslashes - 0x01010101) & ~backslashes) |
    ((word - 0x20202020) & ~word);
  return found & 0x80808080;
}
