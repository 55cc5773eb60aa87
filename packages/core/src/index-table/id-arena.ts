/** The ids that are not a word, concatenated, each after its length. */
import { hashOf, idText } from "./id-bytes.ts";
import { SavedPages, grown, grownCapacity, noPages, roomFor, savedColumn } from "./saved-pages.ts";
import type { PagedColumn, SavedColumn } from "./saved-pages.ts";

export const arenaLengthBytes = 4;

/** Adjacent bytes: a million ids cost no JS strings. Places never change. */
export class IdArena {
  #bytes: Uint8Array = new Uint8Array(64);
  #end = 0;
  #pages: SavedPages = noPages;

  add(bytes: Uint8Array, start: number, end: number): number {
    const place = this.#end;
    const length = end - start;
    const needed = place + arenaLengthBytes + length;
    if (needed > this.#bytes.length) {
      this.#bytes = grown(Uint8Array, this.#bytes, grownCapacity(this.#bytes.length, needed));
    }
    const arena = this.#bytes;
    for (let at = 0; at < arenaLengthBytes; at += 1) arena[place + at] = length >>> (8 * at);
    // A call of `set` costs more for the few bytes of an id.
    for (let at = start, to = place + arenaLengthBytes; at < end; at += 1, to += 1) {
      arena[to] = bytes[at] ?? 0;
    }
    this.#end = needed;
    return place;
  }

  get length(): number {
    return this.#end;
  }

  reserve(bytes: number): void {
    if (bytes > this.#bytes.length) this.#bytes = grown(Uint8Array, this.#bytes, Math.ceil(bytes));
  }

  save(): SavedColumn {
    return savedColumn(this.#end, () => this.#bytes, this.#pages);
  }

  restore(saved: SavedColumn, recover: PagedColumn["recover"]): void {
    this.#bytes = new Uint8Array(0);
    this.#end = saved.count;
    this.#pages = new SavedPages(saved, {
      column: () => {
        this.reserve(roomFor(saved.count));
        return this.#bytes;
      },
      recover,
    });
  }

  become(other: IdArena): void {
    this.#bytes = other.#bytes;
    this.#end = other.#end;
    this.#pages = other.#pages;
  }

  /** Before the id at a place is read. True if all ids were rebuilt. */
  need(place: number): boolean {
    if (place >= this.#pages.count) return false;
    const start = place + arenaLengthBytes;
    return this.touchAll(place, start) || this.touchAll(start, start + this.#lengthAt(place));
  }

  touchAll(from?: number, to?: number): boolean {
    return this.#pages.touchAll(from, to);
  }

  textAt(place: number): string {
    const { buffer, byteOffset, length } = this.#bytes;
    // A place outside the arena has the empty id, also before any page of it was read.
    const start = Math.min(place + arenaLengthBytes, length);
    return idText(Buffer.from(buffer, byteOffset + start, this.#lengthAt(place)));
  }

  hashAt(place: number, seed: number): number {
    const start = place + arenaLengthBytes;
    return hashOf(this.#bytes, start, start + this.#lengthAt(place), seed);
  }

  equals(place: number, bytes: Uint8Array, start: number, end: number): boolean {
    if (this.#lengthAt(place) !== end - start) return false;
    for (let i = start, j = place + arenaLengthBytes; i < end; i += 1, j += 1) {
      if (bytes[i] !== this.#bytes[j]) return false;
    }
    return true;
  }

  areEqual(place: number, other: number): boolean {
    const start = other + arenaLengthBytes;
    return this.equals(place, this.#bytes, start, start + this.#lengthAt(other));
  }

  #lengthAt(place: number): number {
    const bytes = this.#bytes;
    const low = (bytes[place] ?? 0) | ((bytes[place + 1] ?? 0) << 8);
    const length = (low | ((bytes[place + 2] ?? 0) << 16) | ((bytes[place + 3] ?? 0) << 24)) >>> 0;
    // Only a checkpoint can hold another one.
    return Math.min(length, Math.max(0, this.#end - place - arenaLengthBytes));
  }
}
