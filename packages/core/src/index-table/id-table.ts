/**
 * Interns entry ids as handles, found again in O(1) from bytes or text. Ids are opaque strings;
 * eight lower-case hex digits, pi's form, are one 32-bit word, all others bytes in an arena.
 */
import { randomBytes } from "node:crypto";
import { IdArena } from "./id-arena.ts";
import {
  hashOf,
  hexText,
  hexWord,
  idBytes,
  isHexWord,
  mixed,
  plainBytes,
  writePlain,
} from "./id-bytes.ts";
import { SavedPages, grown, grownCapacity, noPages, roomFor, savedColumn } from "./saved-pages.ts";
import type { PagedColumn, SavedColumn } from "./saved-pages.ts";

/** A fuller table has more collisions, each of which reads another part of memory. */
export const tableLoadMax = 0.75;
export const bucketsMin = 32;
/** Longest search before the table gets a seed: at that load, a search of a hundred is rare. */
const searchStepsMax = 4096;

/** Ids of a checkpoint. */
export interface SavedIds {
  readonly seed: number;
  /** Per handle: the bits of the id (hex form), or its place in the arena. */
  readonly word: SavedColumn;
  readonly inArena: SavedColumn;
  readonly arena: SavedColumn;
  readonly buckets: SavedColumn;
}

/** Handles count up from 0 and are never freed. */
export class IdTable {
  #word: Int32Array = new Int32Array(16);
  #inArena: Uint8Array = new Uint8Array(16);
  readonly #arena = new IdArena();
  /** Open addressing: handle + 1, or 0 for empty. The length is a power of two. */
  #buckets: Int32Array = new Int32Array(bucketsMin);
  #bucketCount = bucketsMin;
  #count = 0;
  #touched = 0;
  /** 0 at first; random after hash flooding, or for saved buckets without an empty one. */
  #seed = 0;
  #hasOwnSeed = false;
  /** The id found last: an append asks for its leaf several times. */
  #foundId: string | undefined;
  #foundHandle = -1;
  #wordPages: SavedPages = noPages;
  #formPages: SavedPages = noPages;
  #bucketPages: SavedPages = noPages;

  get count(): number {
    return this.#count;
  }

  addBytes(bytes: Uint8Array, start: number, end: number): number {
    this.#growFor(1);
    if (isHexWord(bytes, start, end)) return this.#addWord(hexWord(bytes, start));
    return this.#addText(bytes, start, end);
  }

  /** The handle of the id whose hex form has these bits, made if it is new. */
  addWord(word: number): number {
    this.#growFor(1);
    return this.#addWord(word);
  }

  /** Prefetches the buckets of these words: many searches then take half as long. */
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

  reserve(handles: number): void {
    this.#allocate(handles);
    // In proportion: growing by halves holds twice the bytes for a moment.
    if (this.#count > 0) this.#arena.reserve((this.#arena.length / this.#count) * handles);
    if (handles > this.#bucketCount * tableLoadMax) this.#rehash(handles);
  }

  /** Of the ids as they are: they must not change while its pages are taken. */
  save(): SavedIds {
    return {
      seed: this.#seed,
      word: savedColumn(this.#count, () => this.#word, this.#wordPages),
      inArena: savedColumn(this.#count, () => this.#inArena, this.#formPages),
      arena: this.#arena.save(),
      buckets: savedColumn(this.#bucketCount, () => this.#buckets, this.#bucketPages),
    };
  }

  /**
   * Only of an empty table. Any number will do in its columns: a bucket that names no handle, or
   * another id, is skipped, and a place outside the arena has an empty id.
   * @param recover Rebuilds all ids, with {@link IdTable.become}.
   */
  restore(saved: SavedIds, recover: PagedColumn["recover"]): void {
    const { count } = saved.word;
    this.#foundId = undefined;
    this.#count = count;
    this.#seed = saved.seed;
    this.#bucketCount = saved.buckets.count;
    this.#word = new Int32Array(0);
    this.#inArena = new Uint8Array(0);
    this.#buckets = new Int32Array(0);
    this.#arena.restore(saved.arena, recover);
    // Memory is reserved when the first page is read: all of it at once has the collector run.
    this.#wordPages = new SavedPages(saved.word, {
      column: () => {
        this.#allocate(roomFor(count));
        return this.#word;
      },
      recover,
    });
    this.#formPages = new SavedPages(saved.inArena, {
      column: () => {
        this.#allocate(roomFor(count));
        return this.#inArena;
      },
      recover,
    });
    this.#bucketPages = new SavedPages(saved.buckets, {
      column: () => {
        if (this.#buckets.length === 0) this.#buckets = new Int32Array(this.#bucketCount);
        return this.#buckets;
      },
      recover,
    });
  }

  #allocate(handles: number): void {
    if (handles <= this.#word.length) return;
    this.#word = grown(Int32Array, this.#word, handles);
    this.#inArena = grown(Uint8Array, this.#inArena, handles);
  }

  /** Takes the ids of another table, which is no longer used. */
  become(other: IdTable): void {
    this.#foundId = undefined;
    this.#word = other.#word;
    this.#inArena = other.#inArena;
    this.#arena.become(other.#arena);
    this.#buckets = other.#buckets;
    this.#bucketCount = other.#bucketCount;
    this.#count = other.#count;
    this.#seed = other.#seed;
    this.#hasOwnSeed = other.#hasOwnSeed;
    this.#wordPages = other.#wordPages;
    this.#formPages = other.#formPages;
    this.#bucketPages = other.#bucketPages;
  }

  add(id: string): number {
    const length = writePlain(id);
    if (length > 0) return this.addBytes(plainBytes, 0, length);
    const bytes = idBytes(id);
    return this.addBytes(bytes, 0, bytes.length);
  }

  find(id: string): number {
    if (id === this.#foundId) return this.#foundHandle;
    const handle = this.#find(id);
    if (handle < 0) return handle;
    this.#foundId = id;
    return (this.#foundHandle = handle);
  }

  #find(id: string): number {
    const plainLength = writePlain(id);
    const bytes = plainLength > 0 ? plainBytes : idBytes(id);
    const length = plainLength > 0 ? plainLength : bytes.length;
    const at = isHexWord(bytes, 0, length)
      ? this.#bucketOfWord(hexWord(bytes, 0))
      : this.#bucketOfText(bytes, 0, length);
    return (this.#buckets[at] ?? 0) - 1;
  }

  idAt(handle: number): string {
    this.#need(handle);
    const word = this.#word[handle] ?? 0;
    if (this.#inArena[handle] === 0) return hexText(word);
    return this.#arena.need(word >>> 0) ? this.idAt(handle) : this.#arena.textAt(word >>> 0);
  }

  #addWord(word: number): number {
    const at = this.#bucketOfWord(word);
    const known = (this.#buckets[at] ?? 0) - 1;
    return known >= 0 ? known : this.#newHandle(at, word);
  }

  #addText(bytes: Uint8Array, start: number, end: number): number {
    const at = this.#bucketOfText(bytes, start, end);
    const known = (this.#buckets[at] ?? 0) - 1;
    if (known >= 0) return known;
    const handle = this.#newHandle(at, this.#arena.add(bytes, start, end));
    this.#inArena[handle] = 1;
    return handle;
  }

  /** Before a word is read. True if all ids were rebuilt: then the search begins again. */
  #need(handle: number): boolean {
    if (handle >= this.#wordPages.count) return false;
    return this.#wordPages.touch(handle) || this.#formPages.touch(handle);
  }

  #needBucket(at: number): boolean {
    return at < this.#bucketPages.count && this.#bucketPages.touch(at);
  }

  #bucketOfWord(word: number): number {
    const mask = this.#bucketCount - 1;
    const first = mixed(word ^ this.#seed) & mask;
    for (let at = first; ; at = (at + 1) & mask) {
      if (this.#needBucket(at)) return this.#bucketOfWord(word);
      const handle = (this.#buckets[at] ?? 0) - 1;
      if (handle < 0) return at;
      if (this.#need(handle)) return this.#bucketOfWord(word);
      if (this.#word[handle] === word && this.#inArena[handle] === 0 && handle < this.#count)
        return at;
      if (this.#isLost((at - first) & mask)) return this.#bucketOfWord(word);
    }
  }

  #bucketOfText(bytes: Uint8Array, start: number, end: number): number {
    const mask = this.#bucketCount - 1;
    const first = hashOf(bytes, start, end, this.#seed) & mask;
    for (let at = first; ; at = (at + 1) & mask) {
      if (this.#needBucket(at)) return this.#bucketOfText(bytes, start, end);
      const handle = (this.#buckets[at] ?? 0) - 1;
      if (handle < 0) return at;
      if (this.#need(handle)) return this.#bucketOfText(bytes, start, end);
      if (this.#inArena[handle] === 1 && handle < this.#count) {
        const place = (this.#word[handle] ?? 0) >>> 0;
        if (this.#arena.need(place)) return this.#bucketOfText(bytes, start, end);
        if (this.#arena.equals(place, bytes, start, end)) return at;
      }
      if (this.#isLost((at - first) & mask)) return this.#bucketOfText(bytes, start, end);
    }
  }

  /**
   * For saved buckets without an empty one, or hash flooding: rebuilds once, with a secret seed.
   */
  #isLost(steps: number): boolean {
    if (steps < Math.min(searchStepsMax, this.#bucketCount - 1) || this.#hasOwnSeed) return false;
    this.#hasOwnSeed = true;
    this.#seed = randomBytes(4).readInt32LE();
    this.#rehash(this.#count);
    return true;
  }

  #newHandle(bucket: number, word: number): number {
    const handle = this.#count;
    this.#word[handle] = word;
    this.#buckets[bucket] = handle + 1;
    this.#count = handle + 1;
    return handle;
  }

  #growFor(more: number): void {
    const needed = this.#count + more;
    const isFull = needed > this.#word.length || needed > this.#bucketCount * tableLoadMax;
    if (!isFull) return;
    const { length } = this.#word;
    this.reserve(length === 0 ? roomFor(needed) : grownCapacity(length, needed));
  }

  /** Only a checkpoint can hold an id twice: then the first handle is found. */
  #isSame(handle: number, other: number): boolean {
    if (this.#inArena[handle] !== this.#inArena[other]) return false;
    const [place, otherPlace] = [this.#word[handle] ?? 0, this.#word[other] ?? 0];
    if (this.#inArena[handle] === 0) return place === otherPlace;
    return this.#arena.areEqual(place >>> 0, otherPlace >>> 0);
  }

  #rehash(handles: number): void {
    this.#wordPages.touchAll();
    this.#formPages.touchAll();
    this.#arena.touchAll();
    let length = this.#bucketCount;
    while (handles > length * tableLoadMax) length *= 2;
    const buckets = new Int32Array(length);
    const mask = length - 1;
    for (let handle = 0; handle < this.#count; handle += 1) {
      const word = this.#word[handle] ?? 0;
      const isWord = this.#inArena[handle] === 0;
      const hash = isWord ? mixed(word ^ this.#seed) : this.#arena.hashAt(word >>> 0, this.#seed);
      let at = hash & mask;
      while (buckets[at] !== 0 && !this.#isSame(handle, (buckets[at] ?? 0) - 1))
        at = (at + 1) & mask;
      if (buckets[at] === 0) buckets[at] = handle + 1;
    }
    this.#buckets = buckets;
    this.#bucketCount = length;
    this.#bucketPages = noPages;
  }
}
