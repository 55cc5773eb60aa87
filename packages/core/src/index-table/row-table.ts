/**
 * The columns of rows in file order, their kinds, and their lines. Typed arrays, so that a million
 * rows cost tens of megabytes and no garbage. Rows are never removed or reordered.
 */
import type { IdTable } from "./id-table.ts";
import {
  SavedPages,
  eachOf,
  grownCapacity,
  noPages,
  roomFor,
  savedColumn,
  withRoom,
} from "./saved-pages.ts";
import type { Column, ColumnKinds, PagedColumn, SavedColumn, SavedColumns } from "./saved-pages.ts";

/** The handle for "no parent", never that of an id. */
export const rootHandle = -2;

export const rowFlags = {
  /** Indexed from its envelope; its body was not parsed yet. */
  provisional: 1,
  /** Its body does not parse; links pass through it. */
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
  root: 128,
} as const;

export interface RowFacts {
  readonly offset: number;
  readonly length: number;
  readonly handle: number;
  readonly parentHandle: number;
  readonly kind: number;
  /** Epoch milliseconds; NaN if unreadable. */
  readonly time: number;
  readonly flags: number;
}

/** As far as they were read. */
interface RowColumns {
  readonly offset: Float64Array;
  readonly time: Float64Array;
  readonly length: Uint32Array;
  readonly handle: Int32Array;
  readonly parentHandle: Int32Array;
  /** Row + 1, or 0 if last: most rows are, so that most of its memory is never touched. */
  readonly nextSibling: Int32Array;
  readonly kind: Int32Array;
  readonly flags: Uint8Array;
}

type RowColumn = keyof RowColumns;

export type SavedRows = SavedColumns<RowColumns>;

/** In the order of a checkpoint. */
export const rowColumns: ColumnKinds<RowColumns> = {
  offset: Float64Array,
  time: Float64Array,
  length: Uint32Array,
  handle: Int32Array,
  parentHandle: Int32Array,
  nextSibling: Int32Array,
  kind: Int32Array,
  flags: Uint8Array,
};

export class RowTable {
  #count = 0;
  #offset: Float64Array = new Float64Array(0);
  #length: Uint32Array = new Uint32Array(0);
  #handle: Int32Array = new Int32Array(0);
  #parentHandle: Int32Array = new Int32Array(0);
  #nextSibling: Int32Array = new Int32Array(0);
  #kind: Int32Array = new Int32Array(0);
  #time: Float64Array = new Float64Array(0);
  #flags: Uint8Array = new Uint8Array(0);
  /** Rows for which every column has memory; those of a checkpoint get it when they are read. */
  #capacity = 0;
  #pages: Readonly<Record<RowColumn, SavedPages>> = eachOf(rowColumns, () => noPages);
  /** Rows that may not have been read; negative ones, which stand for none, are large unsigned. */
  #savedCount = 0;

  get count(): number {
    return this.#count;
  }

  add(facts: RowFacts): number {
    const row = this.#count;
    if (row >= this.#capacity) {
      this.reserve(row === this.#savedCount ? roomFor(row) : grownCapacity(row, row + 1));
    }
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

  reserve(capacity: number): void {
    if (capacity <= this.#capacity) return;
    eachOf(rowColumns, (_, name) => this.#allocate(name, capacity));
    this.#capacity = capacity;
  }

  #allocate(name: RowColumn, capacity: number): Column {
    this.columns = withRoom(rowColumns, this.columns, name, capacity);
    return this.columns[name];
  }

  resolveWords(ids: IdTable, from: number): void {
    ids.warm(this.#handle.subarray(from, this.#count));
    let lastWord = 0;
    let lastHandle = -1;
    for (let row = from; row < this.#count; row += 1) {
      const parent = this.#parentHandle[row] ?? 0;
      const isRoot = ((this.#flags[row] ?? 0) & rowFlags.root) !== 0;
      // Usually the parent is the id before, which needs no search.
      if (isRoot) this.#parentHandle[row] = rootHandle;
      else if (lastHandle < 0 || parent !== lastWord) this.#parentHandle[row] = ids.addWord(parent);
      else this.#parentHandle[row] = lastHandle;
      lastWord = this.#handle[row] ?? 0;
      lastHandle = ids.addWord(lastWord);
      this.#handle[row] = lastHandle;
    }
  }

  /** Of the rows as they are: they must not change while its pages are taken. */
  save(): Pick<SavedRows, "count" | "columns"> {
    const count = this.#count;
    const save = (pages: SavedPages, name: RowColumn): SavedColumn =>
      savedColumn(count, () => this.columns[name], pages);
    return { count, columns: eachOf(this.#pages, save) };
  }

  /** Only of an empty table. @param recover Rebuilds all rows, with {@link RowTable.become}. */
  restore({ count, columns, bounds }: SavedRows, recover: PagedColumn["recover"]): void {
    this.#count = count;
    this.#savedCount = count;
    this.#pages = eachOf(columns, (saved, name) => {
      const column = (): Column => this.#allocate(name, roomFor(count));
      return new SavedPages(saved, { column, bounds: bounds[name], recover });
    });
  }

  /** Takes the rows of another table, which is no longer used. */
  become(other: RowTable): void {
    this.#count = other.#count;
    this.columns = other.columns;
    this.#capacity = other.#capacity;
    this.#pages = other.#pages;
    this.#savedCount = other.#savedCount;
  }

  /** Now: growing replaces them. */
  get columns(): RowColumns {
    return {
      offset: this.#offset,
      time: this.#time,
      length: this.#length,
      handle: this.#handle,
      parentHandle: this.#parentHandle,
      nextSibling: this.#nextSibling,
      kind: this.#kind,
      flags: this.#flags,
    };
  }

  set columns(columns: RowColumns) {
    this.#offset = columns.offset;
    this.#time = columns.time;
    this.#length = columns.length;
    this.#handle = columns.handle;
    this.#parentHandle = columns.parentHandle;
    this.#nextSibling = columns.nextSibling;
    this.#kind = columns.kind;
    this.#flags = columns.flags;
  }

  offset(row: number): number {
    if (row >>> 0 < this.#savedCount) this.#pages.offset.touch(row);
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

  length(row: number): number {
    if (row >>> 0 < this.#savedCount) this.#pages.length.touch(row);
    return this.#length[row] ?? 0;
  }

  handle(row: number): number {
    if (row >>> 0 < this.#savedCount) this.#pages.handle.touch(row);
    return this.#handle[row] ?? -1;
  }

  parentHandle(row: number): number {
    if (row >>> 0 < this.#savedCount) this.#pages.parentHandle.touch(row);
    return this.#parentHandle[row] ?? -1;
  }

  nextSibling(row: number): number {
    if (row >>> 0 < this.#savedCount) this.#pages.nextSibling.touch(row);
    return (this.#nextSibling[row] ?? 0) - 1;
  }

  setNextSibling(row: number, next: number): void {
    if (row >>> 0 < this.#savedCount) this.#pages.nextSibling.touch(row);
    this.#nextSibling[row] = next + 1;
  }

  kind(row: number): number {
    if (row >>> 0 < this.#savedCount) this.#pages.kind.touch(row);
    return this.#kind[row] ?? 0;
  }

  time(row: number): number {
    if (row >>> 0 < this.#savedCount) this.#pages.time.touch(row);
    return this.#time[row] ?? Number.NaN;
  }

  flags(row: number): number {
    if (row >>> 0 < this.#savedCount) this.#pages.flags.touch(row);
    return this.#flags[row] ?? 0;
  }

  is(row: number, flags: number): boolean {
    if (row >>> 0 < this.#savedCount) this.#pages.flags.touch(row);
    return ((this.#flags[row] ?? 0) & flags) === flags;
  }

  mark(row: number, set: number, clear = 0): void {
    if (row >>> 0 < this.#savedCount) this.#pages.flags.touch(row);
    this.#flags[row] = ((this.#flags[row] ?? 0) | set) & ~clear;
  }
}

export interface Kind {
  readonly type: string;
  /** Of `message` entries; of omp's `model_change`: the role that the model has from then on. */
  readonly role: string | undefined;
  /** Of `custom` and `custom_message` entries. */
  readonly customType: string | undefined;
}

/** One small number per row identifies label entries, or those of an extension. */
export class KindTable {
  #kinds: Kind[] = [];
  #numbers = new Map<string, ByRole>();

  get kinds(): readonly Kind[] {
    return this.#kinds;
  }

  at(kind: number): Kind {
    const found = this.#kinds[kind];
    if (found === undefined) throw new RangeError(`no kind ${kind}`);
    return found;
  }

  save(): readonly Kind[] {
    return [...this.#kinds];
  }

  /** Takes the kinds of another table, which is no longer used. */
  become(other: KindTable): void {
    this.#kinds = other.#kinds;
    this.#numbers = other.#numbers;
  }

  add({ type, role, customType }: Kind): number {
    const ofType = known(this.#numbers, type, (): ByRole => new Map());
    const ofRole = known(ofType, role, (): ByCustomType => new Map());
    return known(ofRole, customType, () => this.#kinds.push({ type, role, customType }) - 1);
  }
}

type ByRole = Map<string | undefined, ByCustomType>;
type ByCustomType = Map<string | undefined, number>;

function known<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
}

export interface SavedLines {
  readonly rows: Int32Array;
  readonly distances: Int32Array;
  readonly otherRecords: Int32Array;
  readonly recordCount: number;
}

/** Stores only exceptions: as long as each line is a row, nothing. */
export class LineMap {
  #rows: number[] = [];
  #distances: number[] = [];
  #otherRecords: number[] = [];
  #recordCount = 0;

  addRow(row: number, lineNumber: number): void {
    this.#recordCount += 1;
    const distance = lineNumber - row;
    if (this.#distances.at(-1) === distance) return;
    this.#rows.push(row);
    this.#distances.push(distance);
  }

  addOtherRecord(): void {
    this.#otherRecords.push(this.#recordCount);
    this.#recordCount += 1;
  }

  save(): SavedLines {
    return {
      rows: Int32Array.from(this.#rows),
      distances: Int32Array.from(this.#distances),
      otherRecords: Int32Array.from(this.#otherRecords),
      recordCount: this.#recordCount,
    };
  }

  restore(saved: SavedLines): void {
    this.#rows = Array.from(saved.rows);
    this.#distances = Array.from(saved.distances);
    this.#otherRecords = Array.from(saved.otherRecords);
    this.#recordCount = saved.recordCount;
  }

  /** 1-based. O(log exceptions). */
  lineOfRow(row: number): number {
    const at = upperBound(this.#rows, row) - 1;
    return row + (this.#distances[at] ?? 0);
  }

  rowOfRecord(record: number): number {
    if (!Number.isInteger(record) || record < 0 || record >= this.#recordCount) return -1;
    const before = upperBound(this.#otherRecords, record);
    if (this.#otherRecords[before - 1] === record) return -1;
    return record - before;
  }
}

function upperBound(sorted: readonly number[], value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}
