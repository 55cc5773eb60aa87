/**
 * The columns of the index: what is known of each entry row, in file order. Typed arrays, so that a
 * million rows cost tens of megabytes and no garbage. Rows are never removed or reordered.
 */
import { grownCapacity, grownFloat64, grownInt32, grownUint8, grownUint32 } from "./column.ts";
import { rootHandle } from "./id-table.ts";
import type { IdTable } from "./id-table.ts";

/** Facts of a row that fit one bit each. */
export const rowFlags = {
  /** Indexed from its envelope; its body was not parsed yet. */
  provisional: 1,
  /** Its body turned out not to parse; links pass through it. */
  damaged: 2,
  /** A later record has its id. */
  shadowed: 4,
  /** The line ends in `}}`: its last value is an object, as in a message line of pi's shape. */
  endsWithObject: 8,
  /** A `custom` line of pi's shape that holds `data`. */
  hasPayload: 16,
  /** The envelope is at the end of the line, after the payload. */
  tailForm: 32,
  /** The timestamp is stored as `toISOString` writes the row's time. */
  exactTime: 64,
  /** The entry names no parent. */
  root: 128,
} as const;

/** What a new row is made of. */
export interface RowFacts {
  /** Byte offset of the line in the log. */
  readonly offset: number;
  /** Bytes of the line without its newline. */
  readonly length: number;
  /** Handle of the entry's id. */
  readonly handle: number;
  /** Handle of the parent's id, which may not have a row yet. */
  readonly parentHandle: number;
  /** Number of the entry's kind. */
  readonly kind: number;
  /** Epoch milliseconds of the entry's timestamp; NaN if unreadable. */
  readonly time: number;
  /** A sum of {@link rowFlags}. */
  readonly flags: number;
}

/** The columns but for links, which follow; restored ones may have room for more. */
export interface SavedRows {
  readonly count: number;
  readonly offset: Float64Array;
  readonly length: Uint32Array;
  readonly handle: Int32Array;
  readonly parentHandle: Int32Array;
  readonly kind: Int32Array;
  readonly time: Float64Array;
  readonly flags: Uint8Array;
}

/** See the file comment. */
export class RowTable {
  #count = 0;
  #offset: Float64Array = new Float64Array(0);
  #length: Uint32Array = new Uint32Array(0);
  #handle: Int32Array = new Int32Array(0);
  #parentHandle: Int32Array = new Int32Array(0);
  /** Row + 1, or 0 for none: as most have none, most of its memory is never touched. */
  #nextSibling: Int32Array = new Int32Array(0);
  #kind: Int32Array = new Int32Array(0);
  #time: Float64Array = new Float64Array(0);
  #flags: Uint8Array = new Uint8Array(0);

  /** Number of rows. */
  get count(): number {
    return this.#count;
  }

  /** Appends a row and returns its number. */
  add(facts: RowFacts): number {
    const row = this.#count;
    if (row >= this.#offset.length) this.reserve(grownCapacity(row, row + 1));
    this.#offset[row] = facts.offset;
    this.#length[row] = facts.length;
    this.#handle[row] = facts.handle;
    this.#parentHandle[row] = facts.parentHandle;
    this.#nextSibling[row] = 0;
    this.#kind[row] = facts.kind;
    this.#time[row] = facts.time;
    this.#flags[row] = facts.flags;
    this.#count = row + 1;
    return row;
  }

  /** Makes room for so many rows at once, so that filling them copies nothing. */
  reserve(capacity: number): void {
    if (capacity <= this.#offset.length) return;
    this.#offset = grownFloat64(this.#offset, capacity);
    this.#length = grownUint32(this.#length, capacity);
    this.#handle = grownInt32(this.#handle, capacity, 0);
    this.#parentHandle = grownInt32(this.#parentHandle, capacity, 0);
    this.#nextSibling = grownInt32(this.#nextSibling, capacity, 0);
    this.#kind = grownInt32(this.#kind, capacity, 0);
    this.#time = grownFloat64(this.#time, capacity);
    this.#flags = grownUint8(this.#flags, capacity);
  }

  /**
   * Replaces by handles, from the row `from` on, the bits of hex ids that are stored where handles
   * belong.
   */
  resolveWords(ids: IdTable, from: number): void {
    ids.warm(this.#handle.subarray(from, this.#count));
    let lastWord = 0;
    let lastHandle = -1;
    for (let row = from; row < this.#count; row += 1) {
      const parent = this.#parentHandle[row] ?? 0;
      const isRoot = ((this.#flags[row] ?? 0) & rowFlags.root) !== 0;
      // As a rule the parent is the id before, which needs no search.
      if (isRoot) this.#parentHandle[row] = rootHandle;
      else if (lastHandle < 0 || parent !== lastWord) this.#parentHandle[row] = ids.addWord(parent);
      else this.#parentHandle[row] = lastHandle;
      lastWord = this.#handle[row] ?? 0;
      lastHandle = ids.addWord(lastWord);
      this.#handle[row] = lastHandle;
    }
  }

  /** What there is, as views that change with the table. */
  save(): SavedRows {
    const count = this.#count;
    return {
      count,
      offset: this.#offset.subarray(0, count),
      length: this.#length.subarray(0, count),
      handle: this.#handle.subarray(0, count),
      parentHandle: this.#parentHandle.subarray(0, count),
      kind: this.#kind.subarray(0, count),
      time: this.#time.subarray(0, count),
      flags: this.#flags.subarray(0, count),
    };
  }

  /** Takes over what was saved; the columns are the table's from here on. */
  restore(saved: SavedRows): void {
    this.#count = saved.count;
    this.#offset = saved.offset;
    this.#length = saved.length;
    this.#handle = saved.handle;
    this.#parentHandle = saved.parentHandle;
    this.#nextSibling = new Int32Array(saved.offset.length);
    this.#kind = saved.kind;
    this.#time = saved.time;
    this.#flags = saved.flags;
  }

  /** Byte offset of the row's line. */
  offset(row: number): number {
    return this.#offset[row] ?? 0;
  }

  /** The first row at or after `offset`. O(log rows). */
  firstFrom(offset: number): number {
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.offset(middle) < offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Bytes of the row's line, without its newline. */
  length(row: number): number {
    return this.#length[row] ?? 0;
  }

  /** Handle of the row's id. */
  handle(row: number): number {
    return this.#handle[row] ?? -1;
  }

  /** Handle of the row's parent. */
  parentHandle(row: number): number {
    return this.#parentHandle[row] ?? -1;
  }

  /** The next row, in file order, with the same parent; -1 at the end. */
  nextSibling(row: number): number {
    return (this.#nextSibling[row] ?? 0) - 1;
  }

  /** Links `next` behind `row` in the list of their parent's children. */
  setNextSibling(row: number, next: number): void {
    this.#nextSibling[row] = next + 1;
  }

  /** Number of the row's kind. */
  kind(row: number): number {
    return this.#kind[row] ?? 0;
  }

  /** Epoch milliseconds of the row's timestamp; NaN if unreadable. */
  time(row: number): number {
    return this.#time[row] ?? Number.NaN;
  }

  /** All {@link rowFlags} of the row. */
  flags(row: number): number {
    return this.#flags[row] ?? 0;
  }

  /** Whether the row has all of the given {@link rowFlags}. */
  is(row: number, flags: number): boolean {
    return ((this.#flags[row] ?? 0) & flags) === flags;
  }

  /** Sets and clears {@link rowFlags}. */
  mark(row: number, set: number, clear = 0): void {
    this.#flags[row] = ((this.#flags[row] ?? 0) | set) & ~clear;
  }
}
