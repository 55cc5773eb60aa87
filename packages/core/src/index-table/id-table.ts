/**
 * Interns entry ids: each distinct id gets a slot number, found again in O(1) from bytes or text.
 * Ids are opaque strings of any length; eight lower-case hex digits, pi's form, are kept as one
 * 32-bit word, all others as bytes in an arena.
 */
import { randomBytes } from "node:crypto";
import { grownCapacity, grownInt32, grownUint8 } from "./column.ts";
import { hashOf, IdArena, idBytes } from "./id-arena.ts";
import { hexText, hexWord, isHexWord, mixed } from "./id-word.ts";

/** The slot that stands for "no parent". No id is ever given it. */
export const rootSlot = -2;

/** A fuller table has more collisions, each of which costs a look into another part of memory. */
export const tableLoadMax = 0.4;
/** Buckets of an empty table. */
export const bucketsMin = 32;
/** Longest search before the table gets a seed: at that load, one of a hundred is rare. */
const searchStepsMax = 4096;

/** The columns, as long as there are slots; restored ones may have room for more. */
export interface SavedIds {
  readonly count: number;
  readonly word: Int32Array;
  readonly inArena: Uint8Array;
  readonly arenaEnd: number;
  readonly arena: Uint8Array;
  readonly seed: number;
  readonly bucketCount: number;
  readonly buckets: Int32Array;
}

/** See the file comment. Slots count up from 0 and are never freed. */
export class IdTable {
  /** Per slot: the bits of the id (hex form), or its place in the arena. */
  #word: Int32Array = new Int32Array(16);
  /** Per slot: 1 if the id is in the arena. */
  #inArena: Uint8Array = new Uint8Array(16);
  readonly #arena = new IdArena();
  /** Open addressing: slot + 1, or 0 for empty. The length is a power of two. */
  #buckets: Int32Array = new Int32Array(bucketsMin);
  #count = 0;
  #touched = 0;
  /** 0 at first, and at random once ids meet that were made to meet, or buckets are none. */
  #seed = 0;
  #hasOwnSeed = false;

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
    this.#growFor(1);
    if (isHexWord(bytes, start, end)) return this.#addWord(hexWord(bytes, start));
    return this.#addText(bytes, start, end);
  }

  /** The slot of the id that these bits spell in the hex form, made if it is new. */
  addWord(word: number): number {
    this.#growFor(1);
    return this.#addWord(word);
  }

  /**
   * Brings the buckets of these words near. Many searches, each of which waits for memory, take
   * half as long if all of that memory was asked for at once before.
   */
  warm(words: Int32Array): void {
    const buckets = this.#buckets;
    const mask = buckets.length - 1;
    const seed = this.#seed;
    let touched = this.#touched;
    for (let i = 0; i < words.length; i += 1)
      touched ^= buckets[mixed((words[i] ?? 0) ^ seed) & mask] ?? 0;
    // Kept, so that the reads are not optimised away.
    this.#touched = touched;
  }

  /** Makes room for so many slots at once, so that filling them copies nothing. */
  reserve(slots: number): void {
    if (slots > this.#word.length) {
      this.#word = grownInt32(this.#word, slots, 0);
      this.#inArena = grownUint8(this.#inArena, slots);
    }
    if (slots > this.#buckets.length * tableLoadMax) this.#rehash(slots);
  }

  /** What there is, as views that change with the table. */
  save(): SavedIds {
    const count = this.#count;
    const arena = this.#arena.save();
    return {
      count,
      word: this.#word.subarray(0, count),
      inArena: this.#inArena.subarray(0, count),
      arenaEnd: arena.length,
      arena,
      seed: this.#seed,
      bucketCount: this.#buckets.length,
      buckets: this.#buckets,
    };
  }

  /** Takes over what was saved; the columns are the table's from here on. */
  restore(saved: SavedIds): void {
    this.#count = saved.count;
    this.#word = saved.word;
    this.#inArena = saved.inArena;
    this.#arena.restore(saved.arena, saved.arenaEnd);
    this.#buckets = saved.buckets.subarray(0, saved.bucketCount);
    this.#seed = saved.seed;
  }

  /** The slot of `id`, made if it is new. */
  add(id: string): number {
    const bytes = idBytes(id);
    return this.addBytes(bytes, 0, bytes.length);
  }

  /** The slot of `id`, or -1. */
  find(id: string): number {
    const bytes = idBytes(id);
    const { length } = bytes;
    const at = isHexWord(bytes, 0, length)
      ? this.#bucketOfWord(hexWord(bytes, 0))
      : this.#bucketOfText(bytes, 0, length);
    return (this.#buckets[at] ?? 0) - 1;
  }

  /** The id of a slot. */
  idAt(slot: number): string {
    const word = this.#word[slot] ?? 0;
    return this.#inArena[slot] === 0 ? hexText(word) : this.#arena.textAt(word >>> 0);
  }

  #addWord(word: number): number {
    const at = this.#bucketOfWord(word);
    const known = (this.#buckets[at] ?? 0) - 1;
    return known >= 0 ? known : this.#newSlot(at, word);
  }

  #addText(bytes: Uint8Array, start: number, end: number): number {
    const at = this.#bucketOfText(bytes, start, end);
    const known = (this.#buckets[at] ?? 0) - 1;
    if (known >= 0) return known;
    const slot = this.#newSlot(at, this.#arena.add(bytes, start, end));
    this.#inArena[slot] = 1;
    return slot;
  }

  /** The bucket that holds the slot of these bits, or the empty one where it would be put. */
  #bucketOfWord(word: number): number {
    const buckets = this.#buckets;
    const mask = buckets.length - 1;
    const first = mixed(word ^ this.#seed) & mask;
    for (let at = first; ; at = (at + 1) & mask) {
      const slot = (buckets[at] ?? 0) - 1;
      if (slot < 0) return at;
      if (this.#word[slot] === word && this.#inArena[slot] === 0 && slot < this.#count) return at;
      if (this.#isLost((at - first) & mask)) return this.#bucketOfWord(word);
    }
  }

  #bucketOfText(bytes: Uint8Array, start: number, end: number): number {
    const buckets = this.#buckets;
    const mask = buckets.length - 1;
    const first = hashOf(bytes, start, end, this.#seed) & mask;
    for (let at = first; ; at = (at + 1) & mask) {
      const slot = (buckets[at] ?? 0) - 1;
      if (slot < 0) return at;
      if (this.#inArena[slot] === 1 && slot < this.#count) {
        if (this.#arena.equals((this.#word[slot] ?? 0) >>> 0, bytes, start, end)) return at;
      }
      if (this.#isLost((at - first) & mask)) return this.#bucketOfText(bytes, start, end);
    }
  }

  /**
   * Whether a search is too long, for buckets from a file that have no empty one, or ids that were
   * made to meet. Then they were made anew, once, with a seed that nobody knows.
   */
  #isLost(steps: number): boolean {
    if (steps < Math.min(searchStepsMax, this.#buckets.length - 1) || this.#hasOwnSeed)
      return false;
    this.#hasOwnSeed = true;
    this.#seed = randomBytes(4).readInt32LE();
    this.#rehash(this.#count);
    return true;
  }

  /** There must be room: see {@link IdTable.#growFor}. */
  #newSlot(bucket: number, word: number): number {
    const slot = this.#count;
    this.#word[slot] = word;
    this.#buckets[bucket] = slot + 1;
    this.#count = slot + 1;
    return slot;
  }

  #growFor(more: number): void {
    const needed = this.#count + more;
    const isFull = needed > this.#word.length || needed > this.#buckets.length * tableLoadMax;
    if (isFull) this.reserve(grownCapacity(this.#word.length, needed));
  }

  /** Whether two slots have the same id, as only a checkpoint can say: the first is found then. */
  #isSame(slot: number, other: number): boolean {
    if (this.#inArena[slot] !== this.#inArena[other]) return false;
    const [place, otherPlace] = [this.#word[slot] ?? 0, this.#word[other] ?? 0];
    if (this.#inArena[slot] === 0) return place === otherPlace;
    return this.#arena.areEqual(place >>> 0, otherPlace >>> 0);
  }

  #rehash(slots: number): void {
    let { length } = this.#buckets;
    while (slots > length * tableLoadMax) length *= 2;
    const buckets = new Int32Array(length);
    const mask = length - 1;
    for (let slot = 0; slot < this.#count; slot += 1) {
      const word = this.#word[slot] ?? 0;
      const isWord = this.#inArena[slot] === 0;
      const hash = isWord ? mixed(word ^ this.#seed) : this.#arena.hashAt(word >>> 0, this.#seed);
      let at = hash & mask;
      while (buckets[at] !== 0 && !this.#isSame(slot, (buckets[at] ?? 0) - 1)) at = (at + 1) & mask;
      if (buckets[at] === 0) buckets[at] = slot + 1;
    }
    this.#buckets = buckets;
  }
}
