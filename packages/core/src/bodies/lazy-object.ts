/**
 * Entries that look like plain objects, with own keys in the order of the stored line and the usual
 * prototype, but the body of a message and the data of an extension are read when somebody looks at
 * them. They are read-only; a body that turns out damaged is undefined.
 */
import type { SessionEntry } from "../entries/entry-types.ts";
import type { IndexTable } from "../index-table/index-table.ts";
import { rowFlags } from "../index-table/row-table.ts";
import type { LinkText } from "./link-text.ts";

/** Where bodies come from. Each lazy object holds on to it. */
export interface LazyBodies {
  readonly index: IndexTable;
  /** The body of a row of that index at any later time; undefined if it is damaged or gone. */
  readonly bodyOf: (row: number) => SessionEntry | undefined;
  /** Makes the entries immutable, as tests do. */
  readonly freeze: boolean;
}

/** The message at a row whose line has pi's own shape. */
export function lazyMessage(source: LazyBodies, row: number, links: LinkText): SessionEntry {
  // The parent first: as a rule it is the row whose id was made last.
  const parentId = links.parentIdOf(row);
  const entry = new BodyPlace(new PlainMessage(links.idOf(row), parentId), source, row);
  defineGetter(entry, "timestamp", readTimestamp);
  defineGetter(entry, "message", readMessage);
  return finished(source, entry);
}

/** The entry of an extension at a row whose line has pi's own shape. */
export function lazyCustom(
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
  return finished(source, entry);
}

function finished(source: LazyBodies, entry: object): SessionEntry {
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
