/**
 * Entries for callers that want plain objects: own keys in the order of the stored line, the usual
 * prototype, but the body of a message and the data of an extension are read when somebody looks at
 * them. A million cost about 100 MB. They are read-only; a body that turns out damaged is
 * undefined.
 */
import type { SessionEntry } from "../entries/entry-types.ts";
import type { IndexTable } from "../index-table/index-table.ts";
import { rowFlags } from "../index-table/row-table.ts";
import { bodyBytesMax } from "../limits.ts";
import type { RowBody } from "./body-reader.ts";

/** Where lazy entries come from. Each one holds on to it. */
export interface LazySource {
  readonly index: IndexTable;
  /** The body of a row of that index at any later time; undefined if it is damaged or gone. */
  readonly bodyOf: (row: number) => SessionEntry | undefined;
  /** Many bodies now, in the order of the rows, damaged ones left out. */
  readonly bodiesOf: (rows: Iterable<number>) => Iterable<RowBody>;
  /** Makes the entries immutable, as tests do. */
  readonly freeze: boolean;
}

/**
 * The entries of rows, in their order; undefined where a body is damaged or too large for one
 * object. Lazy are `message` and `custom` entries of pi's own shape; all others are read at once,
 * in few large reads. An entry that ends in another object behind its message looks like pi's until
 * its body is read: only then is that field seen, and the row not handed out lazily again.
 */
export function entriesOfRows(
  source: LazySource,
  rows: ArrayLike<number>,
): (SessionEntry | undefined)[] {
  const entries: (SessionEntry | undefined)[] = [];
  const eager: number[] = [];
  const links = new LinkText(source.index);
  for (let i = 0; i < rows.length; i += 1) {
    const row = rows[i] ?? -1;
    const entry = lazyEntry(source, row, links);
    entries.push(entry);
    if (entry === undefined && isReadable(source.index, row)) eager.push(i);
  }
  fillEager(source, rows, eager, entries);
  return entries;
}

function fillEager(
  source: LazySource,
  rows: ArrayLike<number>,
  eager: readonly number[],
  entries: (SessionEntry | undefined)[],
): void {
  let at = 0;
  for (const { row, entry } of source.bodiesOf(eager.map((i) => rows[i] ?? -1))) {
    while (at < eager.length && rows[eager[at] ?? -1] !== row) at += 1;
    entries[eager[at] ?? -1] = entry;
    at += 1;
  }
}

function isReadable(index: IndexTable, row: number): boolean {
  return (
    row >= 0 && !index.rows.is(row, rowFlags.damaged) && index.rows.length(row) <= bodyBytesMax
  );
}

function lazyEntry(source: LazySource, row: number, links: LinkText): SessionEntry | undefined {
  const { index } = source;
  if (!isReadable(index, row)) return undefined;
  const { type, customType } = index.kindOf(row);
  if (type === "message" && isPiMessage(index, row)) {
    return lazyMessage(source, row, links);
  }
  if (type === "custom" && customType !== undefined && isPiCustom(index, row)) {
    return lazyCustom(source, row, customType, links);
  }
  return undefined;
}

function isPiMessage({ rows }: IndexTable, row: number): boolean {
  return rows.is(row, rowFlags.endsWithObject) && !rows.is(row, rowFlags.tailForm);
}

function isPiCustom({ rows }: IndexTable, row: number): boolean {
  return rows.is(row, rowFlags.tailForm | rowFlags.hasPayload);
}

function lazyMessage(source: LazySource, row: number, links: LinkText): SessionEntry {
  // The parent first: as a rule it is the row whose id was made last.
  const parentId = links.parentIdOf(row);
  const entry = new BodyPlace(new PlainMessage(links.idOf(row), parentId), source, row);
  defineGetter(entry, "timestamp", readTimestamp);
  defineGetter(entry, "message", readMessage);
  return finished(source, entry);
}

function lazyCustom(
  source: LazySource,
  row: number,
  customType: string,
  links: LinkText,
): SessionEntry {
  const parentId = links.parentIdOf(row);
  const fields = new PlainCustom(customType);
  const entry = new BodyPlace(fields, source, row);
  defineGetter(entry, "data", readData);
  fields["id"] = links.idOf(row);
  fields["parentId"] = parentId;
  defineGetter(entry, "timestamp", readTimestamp);
  return finished(source, entry);
}

function finished(source: LazySource, entry: object): SessionEntry {
  if (source.freeze) Object.freeze(entry);
  // Decoding boundary: types say what pi writes; what the getters read is as stored.
  return entry as SessionEntry;
}

type PlainEntry = Record<string, unknown>;

/**
 * A constructor whose objects have the usual prototype. Unlike object literals, they get room for
 * the private fields in themselves: 40 bytes less for each.
 */
function plainConstructor<A extends unknown[]>(
  fill: (this: PlainEntry, ...args: A) => void,
): new (...args: A) => PlainEntry {
  fill.prototype = Object.prototype;
  // Cast: functions construct objects too, but the compiler knows that of classes only.
  return fill as unknown as new (...args: A) => PlainEntry;
}

const PlainMessage = plainConstructor(function (id: string, parentId: string | null) {
  this["type"] = "message";
  this["id"] = id;
  this["parentId"] = parentId;
});

const PlainCustom = plainConstructor(function (customType: string) {
  this["type"] = "custom";
  this["customType"] = customType;
});

/** A constructor that returns the object it is given, for the class below to add its fields to. */
// Cast: as above; what a constructor returns takes the place of the object that it would make.
const Given = function (entry: object): object {
  return entry;
} as unknown as new (entry: object) => object;

/** Where the body of an entry is, as private fields of the entry itself. */
class BodyPlace extends Given {
  readonly #source: LazySource;
  readonly #row: number;

  constructor(entry: object, source: LazySource, row: number) {
    super(entry);
    this.#source = source;
    this.#row = row;
  }

  static read(entry: BodyPlace, key: string): unknown {
    const { bodyOf, index } = entry.#source;
    const body = bodyOf(entry.#row);
    if (body === undefined) return undefined;
    if (Object.keys(body).length !== keyCountOf(body.type)) {
      index.rows.mark(entry.#row, 0, rowFlags.endsWithObject | rowFlags.hasPayload);
    }
    return Reflect.get(body, key);
  }

  static readTimestamp(entry: BodyPlace): unknown {
    const { rows } = entry.#source.index;
    if (!rows.is(entry.#row, rowFlags.exactTime)) return BodyPlace.read(entry, "timestamp");
    return new Date(rows.time(entry.#row)).toISOString();
  }
}

function keyCountOf(type: string): number {
  return type === "message" ? 5 : 6;
}

// One function for all entries, so that they share one hidden class; a closure each would take six
// times the memory.
function readTimestamp(this: BodyPlace): unknown {
  return BodyPlace.readTimestamp(this);
}

function readMessage(this: BodyPlace): unknown {
  return BodyPlace.read(this, "message");
}

function readData(this: BodyPlace): unknown {
  return BodyPlace.read(this, "data");
}

/** As `Object.defineProperty` with an enumerable, configurable getter, in half the time. */
function defineGetter(entry: object, key: string, getter: (this: BodyPlace) => unknown): void {
  const legacy = entry as { __defineGetter__(key: string, getter: unknown): void };
  legacy.__defineGetter__(key, getter);
}

/** The texts of ids and parent ids; in a chain, a parent's id is the text made last. */
class LinkText {
  readonly #index: IndexTable;
  #lastSlot = -1;
  #lastId = "";

  constructor(index: IndexTable) {
    this.#index = index;
  }

  idOf(row: number): string {
    this.#lastSlot = this.#index.rows.slot(row);
    this.#lastId = this.#index.ids.idAt(this.#lastSlot);
    return this.#lastId;
  }

  parentIdOf(row: number): string | null {
    const slot = this.#index.rows.parentSlot(row);
    if (slot < 0) return null;
    return slot === this.#lastSlot ? this.#lastId : this.#index.ids.idAt(slot);
  }
}
