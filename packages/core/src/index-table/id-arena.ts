/**
 * The ids that are not eight hex digits, as bytes one behind the other: a million of them cost no
 * JS strings. An id is known by the place where it was put; places never change.
 */
import { grownCapacity, grownUint8 } from "./column.ts";
import { mixed } from "./id-word.ts";

/** The length that is kept before each id. */
export const arenaLengthBytes = 4;

/** See the file comment. */
export class IdArena {
  #bytes: Uint8Array = new Uint8Array(64);
  #end = 0;

  /** Bytes held, for reports. */
  get byteLength(): number {
    return this.#bytes.byteLength;
  }

  /** Puts bytes[start, end) at the end and returns their place. */
  add(bytes: Uint8Array, start: number, end: number): number {
    const place = this.#end;
    const length = end - start;
    const needed = place + arenaLengthBytes + length;
    if (needed > this.#bytes.length) {
      this.#bytes = grownUint8(this.#bytes, grownCapacity(this.#bytes.length, needed));
    }
    this.#bytes.set(
      [length & 255, (length >>> 8) & 255, (length >>> 16) & 255, length >>> 24],
      place,
    );
    this.#bytes.set(bytes.subarray(start, end), place + arenaLengthBytes);
    this.#end = needed;
    return place;
  }

  /** The bytes put so far: a view that changes with the arena. */
  save(): Uint8Array {
    return this.#bytes.subarray(0, this.#end);
  }

  /** Takes over the first `end` bytes of what was saved. */
  restore(bytes: Uint8Array, end: number): void {
    this.#bytes = bytes;
    this.#end = end;
  }

  /** The id at a place, as text. */
  textAt(place: number): string {
    const { buffer, byteOffset } = this.#bytes;
    const start = byteOffset + place + arenaLengthBytes;
    return idText(Buffer.from(buffer, start, this.#lengthAt(place)));
  }

  /** Where to look for the id at a place in a hash table: {@link hashOf} its bytes. */
  hashAt(place: number, seed: number): number {
    const start = place + arenaLengthBytes;
    return hashOf(this.#bytes, start, start + this.#lengthAt(place), seed);
  }

  /** Whether the id at a place is bytes[start, end). */
  equals(place: number, bytes: Uint8Array, start: number, end: number): boolean {
    if (this.#lengthAt(place) !== end - start) return false;
    for (let i = start, j = place + arenaLengthBytes; i < end; i += 1, j += 1) {
      if (bytes[i] !== this.#bytes[j]) return false;
    }
    return true;
  }

  /** Whether the ids at two places are the same. */
  areEqual(place: number, other: number): boolean {
    const start = other + arenaLengthBytes;
    return this.equals(place, this.#bytes, start, start + this.#lengthAt(other));
  }

  #lengthAt(place: number): number {
    const bytes = this.#bytes;
    const low = (bytes[place] ?? 0) | ((bytes[place + 1] ?? 0) << 8);
    return (low | ((bytes[place + 2] ?? 0) << 16) | ((bytes[place + 3] ?? 0) << 24)) >>> 0;
  }
}

/** FNV-1a over the bytes, then mixed. */
export function hashOf(bytes: Uint8Array, start: number, end: number, seed: number): number {
  let hash = 0x811c9dc5 ^ seed;
  for (let i = start; i < end; i += 1) hash = Math.imul(hash ^ (bytes[i] ?? 0), 0x01000193);
  return mixed(hash);
}

/**
 * Stands before an id in UTF-16, which JSON can spell with lone surrogates and UTF-8 cannot. No
 * text in UTF-8 has this byte.
 */
const utf16Mark = 0xff;
const loneSurrogate = /\p{Surrogate}/u;

/** The bytes under which an id given as text is kept. */
export function idBytes(id: string): Buffer {
  if (!loneSurrogate.test(id)) return Buffer.from(id, "utf8");
  return Buffer.concat([Buffer.of(utf16Mark), Buffer.from(id, "utf16le")]);
}

function idText(bytes: Buffer): string {
  return bytes[0] === utf16Mark ? bytes.toString("utf16le", 1) : bytes.toString("utf8");
}
