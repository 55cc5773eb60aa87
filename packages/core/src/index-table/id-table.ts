/**
 * Interns entry ids: each distinct id gets a slot number, found again in O(1) from bytes or text.
 * Ids are opaque strings of any length; eight lower-case hex digits, pi's form, are kept as one
 * 32-bit word, all others as bytes in an arena, so that a million ids cost no JS strings.
 */
import { grownCapacity, grownUint32, grownUint8 } from "./column.ts";

const tableLoadMax = 0.6;

/** See the file comment. Slots count up from 0 and are never freed. */
export class IdTable {
  /** Per slot: the id as a number (hex form) or where its bytes start in the arena. */
  #word = new Uint32Array(16);
  /** Per slot: 1 if the id is in the arena. */
  #inArena = new Uint8Array(16);
  #arena = new Uint8Array(64);
  #arenaEnd = 0;
  /** Open addressing in pairs: slot + 1, or 0 for empty, and the word or hash to compare first. */
  #buckets = new Int32Array(64);
  #count = 0;
  /** The slot made last: as a rule the parent of the next entry. */
  #latest = 0;

  /** Number of slots. */
  get count(): number {
    return this.#count;
  }

  /** Bytes held by the table, for reports. */
  get bytes(): number {
    const { byteLength } = this.#word;
    return (
      byteLength + this.#inArena.byteLength + this.#arena.byteLength + this.#buckets.byteLength
    );
  }

  /** The slot of the id at bytes[start, end), made if it is new. */
  addBytes(bytes: Uint8Array, start: number, end: number): number {
    const word = hexWord(bytes, start, end);
    if (word >= 0) {
      const latest = this.#latest;
      if (this.#word[latest] === word && this.#inArena[latest] === 0 && this.#count > 0) {
        return latest;
      }
      const known = this.#findWord(word);
      return known >= 0 ? known : this.#insertWord(word);
    }
    const known = this.#findText(bytes, start, end);
    return known >= 0 ? known : this.#insertText(bytes, start, end);
  }

  /** Makes room for so many slots at once, so that filling them copies nothing. */
  reserve(slots: number): void {
    if (slots > this.#word.length) {
      this.#word = grownUint32(this.#word, slots);
      this.#inArena = grownUint8(this.#inArena, slots);
    }
    if (slots * 2 > this.#buckets.length * tableLoadMax) this.#rehash(slots);
  }

  /** The slot of `id`, made if it is new. */
  add(id: string): number {
    const bytes = bytesOf(id);
    return this.addBytes(bytes, 0, bytes.length);
  }

  /** The slot of `id`, or -1. */
  find(id: string): number {
    const bytes = bytesOf(id);
    const word = hexWord(bytes, 0, bytes.length);
    return word >= 0 ? this.#findWord(word) : this.#findText(bytes, 0, bytes.length);
  }

  /** The id of a slot. */
  idAt(slot: number): string {
    const word = this.#word[slot] ?? 0;
    if (this.#inArena[slot] === 0) return hexText(word);
    const length = this.#arenaLength(word);
    return textOf(Buffer.from(this.#arena.buffer, word + 4, length));
  }

  #findWord(word: number): number {
    const buckets = this.#buckets;
    const mask = buckets.length - 1;
    const tag = word | 0;
    for (let at = (mixed(word) << 1) & mask; ; at = (at + 2) & mask) {
      const slot = (buckets[at] ?? 0) - 1;
      if (slot < 0) return -1;
      if (buckets[at + 1] === tag && this.#inArena[slot] === 0) return slot;
    }
  }

  #findText(bytes: Uint8Array, start: number, end: number): number {
    const buckets = this.#buckets;
    const mask = buckets.length - 1;
    const hash = hashedBytes(bytes, start, end);
    for (let at = (hash << 1) & mask; ; at = (at + 2) & mask) {
      const slot = (buckets[at] ?? 0) - 1;
      if (slot < 0) return -1;
      if (buckets[at + 1] !== (hash | 0) || this.#inArena[slot] !== 1) continue;
      if (this.#arenaEquals(slot, bytes, start, end)) return slot;
    }
  }

  #insertWord(word: number): number {
    const slot = this.#newSlot();
    this.#word[slot] = word;
    this.#place(slot, mixed(word), word);
    return slot;
  }

  #insertText(bytes: Uint8Array, start: number, end: number): number {
    const slot = this.#newSlot();
    const length = end - start;
    const needed = this.#arenaEnd + 4 + length;
    if (needed > this.#arena.length) {
      this.#arena = grownUint8(this.#arena, grownCapacity(this.#arena.length, needed));
    }
    this.#arena.set(
      [length & 255, (length >>> 8) & 255, (length >>> 16) & 255, length >>> 24],
      this.#arenaEnd,
    );
    this.#arena.set(bytes.subarray(start, end), this.#arenaEnd + 4);
    this.#word[slot] = this.#arenaEnd;
    this.#inArena[slot] = 1;
    this.#arenaEnd = needed;
    const hash = hashedBytes(bytes, start, end);
    this.#place(slot, hash, hash);
    return slot;
  }

  #newSlot(): number {
    const slot = this.#count;
    if (slot + 1 > this.#word.length) {
      const capacity = grownCapacity(this.#word.length, slot + 1);
      this.#word = grownUint32(this.#word, capacity);
      this.#inArena = grownUint8(this.#inArena, capacity);
    }
    if ((slot + 1) * 2 > this.#buckets.length * tableLoadMax) this.#rehash(slot + 1);
    this.#count += 1;
    this.#latest = slot;
    return slot;
  }

  #place(slot: number, hash: number, tag: number): void {
    const buckets = this.#buckets;
    const mask = buckets.length - 1;
    let at = (hash << 1) & mask;
    while (buckets[at] !== 0) at = (at + 2) & mask;
    buckets[at] = slot + 1;
    buckets[at + 1] = tag;
  }

  #rehash(slots: number): void {
    let { length } = this.#buckets;
    while (slots * 2 > length * tableLoadMax) length *= 2;
    this.#buckets = new Int32Array(length);
    for (let slot = 0; slot < this.#count; slot += 1) {
      const word = this.#word[slot] ?? 0;
      if (this.#inArena[slot] === 0) this.#place(slot, mixed(word), word);
      else {
        const hash = hashedBytes(this.#arena, word + 4, word + 4 + this.#arenaLength(word));
        this.#place(slot, hash, hash);
      }
    }
  }

  #arenaLength(at: number): number {
    const arena = this.#arena;
    const low = (arena[at] ?? 0) | ((arena[at + 1] ?? 0) << 8) | ((arena[at + 2] ?? 0) << 16);
    return (low | ((arena[at + 3] ?? 0) << 24)) >>> 0;
  }

  #arenaEquals(slot: number, bytes: Uint8Array, start: number, end: number): boolean {
    const at = this.#word[slot] ?? 0;
    if (this.#arenaLength(at) !== end - start) return false;
    for (let i = start, j = at + 4; i < end; i += 1, j += 1) {
      if (bytes[i] !== this.#arena[j]) return false;
    }
    return true;
  }
}

/**
 * Stands before an id in UTF-16, which JSON can spell with lone surrogates and UTF-8 cannot. No
 * text in UTF-8 has this byte.
 */
const utf16Mark = 0xff;
const loneSurrogate = /\p{Surrogate}/u;

function bytesOf(id: string): Buffer {
  if (!loneSurrogate.test(id)) return Buffer.from(id, "utf8");
  return Buffer.concat([Buffer.of(utf16Mark), Buffer.from(id, "utf16le")]);
}

function textOf(bytes: Buffer): string {
  return bytes[0] === utf16Mark ? bytes.toString("utf16le", 1) : bytes.toString("utf8");
}

/** The value of eight lower-case hex digits, or -1 if the bytes are anything else. */
function hexWord(bytes: Uint8Array, start: number, end: number): number {
  if (end - start !== 8) return -1;
  let word = 0;
  for (let i = start; i < end; i += 1) {
    const digit = hexDigit[bytes[i] ?? 0] ?? -1;
    if (digit < 0) return -1;
    word = (word << 4) | digit;
  }
  return word >>> 0;
}

const hexDigit: Int8Array = new Int8Array(256).fill(-1);
for (const [value, char] of Buffer.from("0123456789abcdef").entries()) hexDigit[char] = value;

const hexPair = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Eight hex digits; a third of the cost of `toString` and `padStart`. */
function hexText(word: number): string {
  const high = `${hexPair[word >>> 24]}${hexPair[(word >>> 16) & 255]}`;
  return `${high}${hexPair[(word >>> 8) & 255]}${hexPair[word & 255]}`;
}

/** A bijective mix of 32 bits (murmur3's finaliser): ids that count up must not cluster. */
function mixed(word: number): number {
  let h = word ^ (word >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** FNV-1a over the bytes, then mixed. */
function hashedBytes(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let i = start; i < end; i += 1) hash = Math.imul(hash ^ (bytes[i] ?? 0), 0x01000193);
  return mixed(hash >>> 0);
}
