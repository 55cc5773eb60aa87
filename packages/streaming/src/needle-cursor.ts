/**
 * A forward search that keeps its last hit. Called for the lines of a chunk in order, it searches
 * every byte of the chunk once, however few or many hits there are. The content of a buffer object
 * must not change between calls; a different object starts a new search.
 */

/**
 * A search for one byte costs a quarter of a search for several, but stops at every such byte. So a
 * few are tried, and if the byte is frequent (base64), the native search of the needle follows.
 */
const byteSearchesMax = 4;

/**
 * Finds one needle at ascending positions of a buffer; descending positions are correct but slower.
 */
export class NeedleCursor {
  readonly #needle: Buffer;
  readonly #rareAt: number;
  readonly #rareByte: number;
  readonly #rarePart: Buffer;
  #buffer: Buffer | null = null;
  #from = 0;
  #hit = 0;

  /**
   * @param needle What to find, in ASCII.
   * @param rareAt Index of the needle's rarest byte, from which on it is searched.
   */
  constructor(needle: string, rareAt: number = 0) {
    this.#needle = Buffer.from(needle, "latin1");
    this.#rareAt = rareAt;
    this.#rarePart = this.#needle.subarray(rareAt);
    this.#rareByte = this.#rarePart[0] ?? 0;
  }

  /** Position of the first occurrence that starts at or after `from`, or `buffer.length`. */
  next(buffer: Buffer, from: number): number {
    if (buffer !== this.#buffer || from < this.#from) this.#buffer = buffer;
    else if (from <= this.#hit) return this.#hit;
    this.#from = from;
    this.#hit = this.#search(buffer, from);
    return this.#hit;
  }

  /** Drops the reference to the buffer; the next search starts anew. */
  release(): void {
    this.#buffer = null;
  }

  #search(buffer: Buffer, from: number): number {
    let at = from + this.#rareAt;
    for (let searches = 0; ; searches++) {
      const part = searches < byteSearchesMax ? this.#rareByte : this.#rarePart;
      at = buffer.indexOf(part, at);
      if (at === -1) return buffer.length;
      if (this.#isNeedle(buffer, at - this.#rareAt)) return at - this.#rareAt;
      at += 1;
    }
  }

  #isNeedle(buffer: Buffer, start: number): boolean {
    for (let i = this.#needle.length - 1; i >= 0; i--) {
      if (buffer[start + i] !== this.#needle[i]) return false;
    }
    return true;
  }
}
