/**
 * Columns whose first elements may still be in a file: each page of one is read, checked and
 * bounded when an element of it is first needed. Until then its memory is not touched, which the
 * system then does not provide.
 */

export type Column = Float64Array | Int32Array | Uint32Array | Uint8Array;

/** A column in pages of 64 KiB, the last of which may be shorter. */
export interface SavedColumn {
  /** Elements. */
  readonly count: number;
  readonly elementBytes: number;
  /** The bytes of a page, counted from 0. Throws as {@link SavedColumn.read}. */
  page(number: number): Buffer;
  /** The same into `target`. Throws if they cannot be read, or are not what was saved. */
  read(number: number, target: Buffer): void;
}

type Shape = Pick<SavedColumn, "count" | "elementBytes">;

const pageBytesMax = 64 * 1024;

export function pageCount({ count, elementBytes }: Shape): number {
  return Math.ceil((count * elementBytes) / pageBytesMax);
}

/** The elements `[from, to)` of a page. */
export function pageElements(
  { count, elementBytes }: Shape,
  page: number,
): readonly [from: number, to: number] {
  const elements = pageBytesMax / elementBytes;
  return [page * elements, Math.min(count, (page + 1) * elements)];
}

/** Room for appends, so that the first entry after opening does not copy every column. */
const spareShare = 1 / 16;
const spareMin = 8;

export function roomFor(count: number): number {
  return count + Math.ceil(count * spareShare) + spareMin;
}

export function grownCapacity(current: number, needed: number): number {
  return Math.max(needed, Math.ceil(current * 1.5), 16);
}

export function grown<C extends Column>(kind: ColumnKind<C>, column: C, capacity: number): C {
  const roomy = new kind(capacity);
  roomy.set(column);
  return roomy;
}

/** The constructor of the array. */
export interface ColumnKind<C extends Column = Column> {
  new (length: number): C;
  readonly BYTES_PER_ELEMENT: number;
}

export type ColumnKinds<Columns> = { readonly [Name in keyof Columns & string]: ColumnKind };

/** For each name, in the same order. */
export function eachOf<Name extends string, From, To>(
  from: Readonly<Record<Name, From>>,
  make: (value: From, name: Name) => To,
): Readonly<Record<Name, To>> {
  // Casts: of names, Object.keys and Object.fromEntries only say that they are texts.
  const names = Object.keys(from) as Name[];
  return Object.fromEntries(names.map((name) => [name, make(from[name], name)])) as Record<
    Name,
    To
  >;
}

/** With room in one of them: the collector runs when much memory is reserved at once. */
export function withRoom<Columns extends Readonly<Record<keyof Columns & string, Column>>>(
  kinds: ColumnKinds<Columns>,
  columns: Columns,
  name: keyof Columns & string,
  capacity: number,
): Columns {
  if (capacity <= columns[name].length) return columns;
  return { ...columns, [name]: grown(kinds[name], columns[name], capacity) };
}

/** The columns of a table in a checkpoint. */
export interface SavedColumns<Columns> {
  /** Elements of each. */
  readonly count: number;
  readonly columns: Readonly<Record<keyof Columns & string, SavedColumn>>;
  readonly bounds: Readonly<Record<keyof Columns & string, Bounds>>;
}

/** Which elements a column of this log can have. NaN is within any bounds. */
export interface Bounds {
  readonly min: number;
  readonly max: number;
  /** Default: any within the bounds is. `before`: the element before it in its page, or -1. */
  readonly isPossible?: (element: number, at: number, before: number) => boolean;
}

/** What a table keeps of a column, and does with it. */
export interface PagedColumn {
  /** Now: growing replaces it. */
  readonly column: () => Column;
  /** Default: any element is possible. */
  readonly bounds?: Bounds;
  /** Rebuilds the whole table, without the file. */
  readonly recover: () => void;
}

export class SavedPages {
  /** Elements in the file. 0: there is none. */
  readonly count: number;
  readonly #saved: SavedColumn;
  readonly #table: PagedColumn;
  readonly #shift: number;
  readonly #isRead: Uint8Array;

  constructor(saved: SavedColumn, table: PagedColumn) {
    this.count = saved.count;
    this.#saved = saved;
    this.#table = table;
    this.#shift = Math.log2(pageBytesMax / saved.elementBytes);
    this.#isRead = new Uint8Array(pageCount(saved));
  }

  /** Reads the page of an element below `count`, once. True if the table was rebuilt. */
  touch(at: number): boolean {
    const page = at >>> this.#shift;
    return this.#isRead[page] === 0 && !this.#reads(page);
  }

  /** As {@link SavedPages.touch}, for the elements `[from, to)`. */
  touchAll(from = 0, to: number = this.count): boolean {
    const end = Math.min(to, this.count);
    const elements = 2 ** this.#shift;
    for (let at = from - (from % elements); at < end; at += elements) {
      if (this.touch(at)) return true;
    }
    return false;
  }

  /** A page that was not read, as it was saved. */
  unread(page: number): Buffer | undefined {
    if (this.#isRead[page] !== 0) return undefined;
    try {
      return this.#saved.page(page);
    } catch {
      this.#recover();
      return undefined;
    }
  }

  #reads(page: number): boolean {
    const [from, to] = pageElements(this.#saved, page);
    const column = this.#table.column();
    this.#isRead[page] = 1;
    try {
      this.#saved.read(page, bytesOf(column, from, to));
      const { bounds } = this.#table;
      if (bounds === undefined || areWithin(column, from, to, bounds)) return true;
    } catch {
      // As a page with an element that is not possible.
    }
    this.#recover();
    return false;
  }

  #recover(): void {
    this.#isRead.fill(1);
    this.#table.recover();
  }
}

function areWithin(
  column: Column,
  from: number,
  to: number,
  { min, max, isPossible }: Bounds,
): boolean {
  for (let at = from; at < to; at += 1) {
    const element = column[at] ?? 0;
    if (element < min || element > max) return false;
  }
  if (isPossible === undefined) return true;
  for (let at = from, before = -1; at < to; at += 1) {
    const element = column[at] ?? 0;
    if (!isPossible(element, at, before)) return false;
    before = element;
  }
  return true;
}

const nothing = (): void => undefined;
const emptyColumn = new Uint8Array(0);

/** Of a table that no file has. */
export const noPages: SavedPages = new SavedPages(
  { count: 0, elementBytes: 1, page: () => Buffer.alloc(0), read: nothing },
  { column: () => emptyColumn, recover: nothing },
);

/** To be saved: what was not read is taken from its file. The table must not change meanwhile. */
export function savedColumn(
  count: number,
  column: () => Column,
  pages: SavedPages = noPages,
): SavedColumn {
  const shape = { count, elementBytes: column().BYTES_PER_ELEMENT };
  const page = (number: number): Buffer => {
    const [from, to] = pageElements(shape, number);
    // The last page of the file may have got more elements.
    const unread = to <= pages.count ? pages.unread(number) : undefined;
    if (unread !== undefined) return unread;
    if (from < pages.count) pages.touch(from);
    return bytesOf(column(), from, to);
  };
  return { ...shape, page, read: (number, target) => void page(number).copy(target) };
}

function bytesOf(
  { buffer, byteOffset, BYTES_PER_ELEMENT }: Column,
  from: number,
  to: number,
): Buffer {
  const start = byteOffset + from * BYTES_PER_ELEMENT;
  return Buffer.from(buffer, start, (to - from) * BYTES_PER_ELEMENT);
}
