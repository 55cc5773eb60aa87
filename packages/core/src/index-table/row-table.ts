/**
 * The columns of the index: what is known of each entry row, in file order. Typed arrays, so that a
 * million rows cost tens of megabytes and no garbage. Rows are never removed or reordered.
 */
import { grownCapacity, grownFloat64, grownInt32, grownUint8, grownUint32 } from "./column.ts";
import { rootSlot } from "./id-table.ts";
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
  /** The envelope stands at the end of the line, after the payload. */
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
  /** Slot of the entry's id. */
  readonly slot: number;
  /** Slot of the parent's id, which may not have a row yet. */
  readonly parentSlot: number;
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
  readonly slot: Int32Array;
  readonly parentSlot: Int32Array;
  readonly kind: Int32Array;
  readonly time: Float64Array;
  readonly flags: Uint8Array;
}

/** See the file comment. */
export class RowTable {
  #count = 0;
  #offset: Float64Array = new Float64Array(0);
  #length: Uint32Array = new Uint32Array(0);
  #slot: Int32Array = new Int32Array(0);
  #parentSlot: Int32Array = new Int32Array(0);
  /** Row + 1, or 0 for none: as most have none, most of its memory is never touched. */
  #nextSibling: Int32Array = new Int32Array(0);
  #kind: Int32Array = new Int32Array(0);
  #time: Float64Array = new Float64Array(0);
  #flags: Uint8Array = new Uint8Array(0);

  /** Number of rows. */
  get count(): number {
    return this.#count;
  }

  /** Bytes held by the columns, for reports. */
  get bytes(): number {
    return this.#offset.length * (8 + 4 + 4 + 4 + 4 + 4 + 8 + 1);
  }

  /** Appends a row and returns its number. */
  add(facts: RowFacts): number {
    const row = this.#count;
    if (row >= this.#offset.length) this.reserve(grownCapacity(row, row + 1));
    this.#offset[row] = facts.offset;
    this.#length[row] = facts.length;
    this.#slot[row] = facts.slot;
    this.#parentSlot[row] = facts.parentSlot;
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
    this.#slot = grownInt32(this.#slot, capacity, 0);
    this.#parentSlot = grownInt32(this.#parentSlot, capacity, 0);
    this.#nextSibling = grownInt32(this.#nextSibling, capacity, 0);
    this.#kind = grownInt32(this.#kind, capacity, 0);
    this.#time = grownFloat64(this.#time, capacity);
    this.#flags = grownUint8(this.#flags, capacity);
  }

  /**
   * Replaces by slots, from the row `from` on, the bits of hex ids that stand where slots belong.
   */
  resolveWords(ids: IdTable, from: number): void {
    ids.warm(this.#slot.subarray(from, this.#count));
    let lastWord = 0;
    let lastSlot = -1;
    for (let row = from; row < this.#count; row += 1) {
      const parent = this.#parentSlot[row] ?? 0;
      const isRoot = ((this.#flags[row] ?? 0) & rowFlags.root) !== 0;
      // As a rule the parent is the id before, which needs no search.
      if (isRoot) this.#parentSlot[row] = rootSlot;
      else if (lastSlot < 0 || parent !== lastWord) this.#parentSlot[row] = ids.addWord(parent);
      else this.#parentSlot[row] = lastSlot;
      lastWord = this.#slot[row] ?? 0;
      lastSlot = ids.addWord(lastWord);
      this.#slot[row] = lastSlot;
    }
  }

  /** What there is, as views that change with the table. */
  save(): SavedRows {
    const count = this.#count;
    return {
      count,
      offset: this.#offset.subarray(0, count),
      length: this.#length.subarray(0, count),
      slot: this.#slot.subarray(0, count),
      parentSlot: this.#parentSlot.subarray(0, count),
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
    this.#slot = saved.slot;
    this.#parentSlot = saved.parentSlot;
    this.#nextSibling = new Int32Array(saved.offset.length);
    this.#kind = saved.kind;
    this.#time = saved.time;
    this.#flags = saved.flags;
  }

  /** Byte offset of the row's line. */
  offset(row: number): number {
    return this.#offset[row] ?? 0;
  }

  /** The first row that does not stand before `offset`. O(log rows). */
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

  /** Slot of the row's id. */
  slot(row: number): number {
    return this.#slot[row] ?? -1;
  }

  /** Slot of the row's parent. */
  parentSlot(row: number): number {
    return this.#parentSlot[row] ?? -1;
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
