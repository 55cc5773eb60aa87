/**
 * A forward search that remembers its last hit. Asked for one line after another of a chunk, it
 * searches every byte of the chunk once, however few or many hits there are. It relies on the
 * content of a buffer object not changing between calls; a different object starts anew.
 */

/**
 * A search for one byte costs a quarter of a search for several, but stops at every such byte. So
 * a few are tried, and where the byte turns out to be frequent (base64), the native search takes
 * over.
 */
const byteSearchesMax = 4;

/** Finds one needle at ascending positions of a buffer; going backwards is right but slower. */
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
   * @param rareAt Where in the needle its rarest byte is; from there on it is searched.
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

  /** Lets go of the buffer; the next search starts anew. */
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
