/**
 * Entries of many rows as objects: those of pi's own shape are lazy, so that a million cost about
 * 100 MB; the others are read. Every line was read as JSON, now or earlier.
 */
import type { SessionEntry } from "@branchlog/core";
import type { IndexTable, RowBody } from "@branchlog/core/rows";
import { rowFlags } from "@branchlog/core/rows";
import { bodyBytesMax } from "@branchlog/core/files";

export interface LazySource extends LazyBodies {
  readonly bodiesOf: (rows: Iterable<number>) => Iterable<RowBody>;
  readonly confirmAll: (rows: readonly number[]) => void;
}

/**
 * Undefined where a body is damaged or too large for one object. Lazy are `message` and `custom`
 * entries of pi's own shape; all others are read at once, in few large reads. An entry that ends in
 * another object after its message resembles pi's until its body is read: only then is that field
 * seen, and the row not returned lazily again.
 */
function entriesOfRows(source: LazySource, rows: ArrayLike<number>): (SessionEntry | undefined)[] {
  confirm(source, rows);
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

/** Repeats while reading finds damage: an entry that a damaged one had hidden may move the path. */
export function settledEntries(
  source: LazySource,
  rowsNow: () => ArrayLike<number>,
): (SessionEntry | undefined)[] {
  for (;;) {
    const { damagedCount } = source.index;
    const entries = entriesOfRows(source, rowsNow());
    if (source.index.damagedCount === damagedCount) return entries;
  }
}

function confirm({ index, confirmAll }: LazySource, rows: ArrayLike<number>): void {
  const unread: number[] = [];
  for (let i = 0; i < rows.length; i += 1) {
    const row = rows[i] ?? -1;
    // The others are confirmed by reading them.
    if (index.rows.is(row, rowFlags.provisional) && isLazy(index, row)) unread.push(row);
  }
  if (unread.length > 0) confirmAll(unread);
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
  if (!isLazy(index, row)) return undefined;
  const { customType } = index.kindOf(row);
  return customType === undefined
    ? lazyMessage(source, row, links)
    : lazyCustom(source, row, customType, links);
}

function isLazy(index: IndexTable, row: number): boolean {
  const { rows } = index;
  if (!isReadable(index, row)) return false;
  const { type, customType } = index.kindOf(row);
  if (type === "message") {
    return rows.is(row, rowFlags.endsWithObject) && !rows.is(row, rowFlags.tailForm);
  }
  const isCustom = type === "custom" && customType !== undefined;
  return isCustom && rows.is(row, rowFlags.tailForm | rowFlags.hasPayload);
}

interface LazyBodies {
  readonly index: IndexTable;
  /** At any later time; undefined if the body is damaged or gone. */
  readonly bodyOf: (row: number) => SessionEntry | undefined;
}

/** Read-only, with own keys in the stored order. The body is read at its first use. */
function lazyMessage(source: LazyBodies, row: number, links: LinkText): SessionEntry {
  // The parent first: it is usually the row whose id was made last.
  const parentId = links.parentIdOf(row);
  const entry = new BodyPlace(new PlainMessage(links.idOf(row), parentId), source, row);
  defineGetter(entry, "timestamp", readTimestamp);
  defineGetter(entry, "message", readMessage);
  return asEntry(entry);
}

function lazyCustom(
  source: LazyBodies,
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
  return asEntry(entry);
}

/** Decoding boundary: types say what pi writes; the getters return stored values. */
function asEntry(entry: object): SessionEntry {
  return entry as SessionEntry;
}

type PlainEntry = Record<string, unknown>;

/** Unlike object literals, these have in-object room for private fields: 40 bytes less each. */
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

// Cast: as above; the returned object takes the place of the constructed one.
const Given = function (entry: object): object {
  return entry;
} as unknown as new (entry: object) => object;

class BodyPlace extends Given {
  readonly #source: LazyBodies;
  readonly #row: number;

  constructor(entry: object, source: LazyBodies, row: number) {
    super(entry);
    this.#source = source;
    this.#row = row;
  }

  static read(entry: BodyPlace, key: string): unknown {
    const { bodyOf, index } = entry.#source;
    const body = bodyOf(entry.#row);
    if (body === undefined) return undefined;
    if (Object.keys(body).length !== (body.type === "message" ? 5 : 6)) {
      index.rows.mark(entry.#row, 0, rowFlags.endsWithObject | rowFlags.hasPayload);
    }
    return Reflect.get(body, key);
  }

  static readTimestamp(entry: BodyPlace): unknown {
    const { rows } = entry.#source.index;
    const time = rows.time(entry.#row);
    // Only a checkpoint can mark an invalid time as exact.
    const isExact = rows.is(entry.#row, rowFlags.exactTime) && !Number.isNaN(time);
    return isExact ? new Date(time).toISOString() : BodyPlace.read(entry, "timestamp");
  }
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

/** In a chain, a parent's id is the text made last. */
class LinkText {
  readonly #index: IndexTable;
  #lastHandle = -1;
  #lastId = "";

  constructor(index: IndexTable) {
    this.#index = index;
  }

  idOf(row: number): string {
    this.#lastHandle = this.#index.rows.handle(row);
    this.#lastId = this.#index.ids.idAt(this.#lastHandle);
    return this.#lastId;
  }

  parentIdOf(row: number): string | null {
    const handle = this.#index.rows.parentHandle(row);
    if (handle < 0) return null;
    return handle === this.#lastHandle ? this.#lastId : this.#index.ids.idAt(handle);
  }
}
