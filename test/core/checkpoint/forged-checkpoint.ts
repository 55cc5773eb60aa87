/** Checkpoints changed on purpose, member by member, column by column, with a right checksum. */
import { crc32 } from "node:zlib";
import fc from "fast-check";

/** What is changed. Numbers choose among what there is. */
export interface Forgery {
  readonly kind:
    | "member"
    | "missing-member"
    | "added-member"
    | "element"
    | "filled-column"
    | "swapped-elements"
    | "longer-column"
    | "counted-rows"
    | "text-length"
    | "bytes-behind";
  readonly at: number;
  readonly from: number;
  readonly value: unknown;
}

const numbers = [-1, 0, 1, 2, 255, 999, 4e9, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 53, 1.5, 1e308];
const texts = [null, true, "", "x", "__proto__", "\u0000", "message", "label", "x".repeat(3_000)];
/** Values that a file of this user may hold anywhere. */
export const hostileValues: readonly unknown[] = [
  ...numbers,
  ...texts,
  [],
  {},
  [[]],
  ["__proto__", "get"],
  [null],
  Array.from({ length: 2_000 }, () => 0),
  JSON.parse('{"__proto__":{"forged":1},"constructor":{"prototype":{"forged":1}}}'),
];

/** One to three changes. */
export const forgeries: fc.Arbitrary<readonly Forgery[]> = fc.array(
  fc.record({
    kind: fc.constantFrom<Forgery["kind"][]>(
      ...(["member", "member", "missing-member", "added-member", "element", "element"] as const),
      ...(["element", "filled-column", "swapped-elements", "longer-column"] as const),
      ...(["counted-rows", "text-length", "bytes-behind"] as const),
    ),
    at: fc.nat(),
    from: fc.nat(),
    value: fc.oneof(fc.constantFrom(...hostileValues), fc.integer(), fc.nat(40)),
  }),
  { minLength: 1, maxLength: 3 },
);

const headBytes = 16;
const trailerBytes = 12;
const sumBytes = 4;
const pageBytesMax = 64 * 1024;

/** The columns in their order: type and size of an element, and the count that says the length. */
const columnNames =
  "f8 rows,f8 rows,u4 rows,i4 rows,i4 rows,i4 rows,i4 rows,u1 rows,i4 ids,u1 ids,u1 arena," +
  "i4 buckets,i4 links,i4 links,i4 links,i4 links,i4 hidden,i4 last,i4 unverified,i4 lineChanges," +
  "i4 lineChanges,i4 otherRecords,u1 transcriptBytes";
const layout = columnNames.split(",").map((one) => {
  const [type = "", count = ""] = one.split(" ");
  return { type, count, elementBytes: Number(type.slice(1)) };
});

/** An object of JSON. */
export type Json = Record<string, unknown>;

/** The checkpoint with these changes, and right checksums. */
export function forged(checkpoint: Buffer, changes: readonly Forgery[]): Buffer {
  const file = new OpenFile(checkpoint);
  for (const change of changes) file.change(change);
  return file.bytes();
}

/** The checkpoint with its text changed by hand, and its columns: all columns of all groups. */
export function rewritten(
  checkpoint: Buffer,
  changeText: (text: Json) => void,
  changeColumns: (columns: readonly Buffer[]) => void = () => undefined,
): Buffer {
  const file = new OpenFile(checkpoint);
  changeText(file.text);
  changeColumns(file.columns);
  return file.bytes();
}

/** The text, and where the pages end. */
export function footerOf(checkpoint: Buffer): { readonly text: Json; readonly pagesEnd: number } {
  const trailer = checkpoint.subarray(-trailerBytes);
  const textBytes = trailer.readUInt32LE(4);
  const textEnd = checkpoint.length - trailerBytes;
  const text = JSON.parse(checkpoint.toString("utf8", textEnd - textBytes, textEnd)) as Json;
  return { text, pagesEnd: textEnd - textBytes - trailer.readUInt32LE(0) * sumBytes };
}

class OpenFile {
  readonly text: Json;
  readonly columns: Buffer[];
  readonly #head: Buffer;
  /** Of checksums of the log. */
  readonly #sums: Buffer;
  #textLength: number | undefined;
  #behind = Buffer.alloc(0);

  constructor(checkpoint: Buffer) {
    const { text, pagesEnd } = footerOf(checkpoint);
    this.text = text;
    this.#head = Buffer.from(checkpoint.subarray(0, headBytes));
    const sums = text["sums"] as { readonly start: number; readonly end: number } | null;
    const pieces = sums === null ? 0 : Math.ceil((sums.end - sums.start) / pageBytesMax);
    let at = headBytes + pieces * sumBytes;
    this.#sums = Buffer.from(checkpoint.subarray(headBytes, at));
    this.columns = layout.map(({ count, elementBytes }) => {
      const length = this.#countOf(count) * elementBytes;
      return Buffer.from(checkpoint.subarray(at, (at += length)));
    });
    if (at !== pagesEnd) throw new Error(`${pagesEnd - at} bytes of the checkpoint are not known`);
  }

  #countOf(name: string): number {
    return name === "links" ? Number(this.#counts?.["ids"]) + 1 : Number(this.#counts?.[name]);
  }

  get #counts(): Json | undefined {
    const state = this.text["state"] as Json | undefined;
    return (state?.["indexer"] as Json | undefined)?.["counts"] as Json | undefined;
  }

  change({ kind, at, from, value }: Forgery): void {
    const place = at % layout.length;
    const column = this.columns[place] ?? this.#behind;
    const size = layout[place]?.elementBytes ?? 1;
    const length = Math.floor(column.length / size);
    switch (kind) {
      case "member":
        return this.#changeMember(at, () => value);
      case "missing-member":
        return this.#changeMember(at, () => undefined);
      case "added-member":
        return this.#changeMember(at, (old) => [old, value]);
      case "element":
        if (length > 0) write(column, layout[place]?.type ?? "u1", from % length, value, from);
        return;
      case "filled-column":
        for (let one = 0; one < length; one += 1)
          write(column, layout[place]?.type ?? "u1", one, value, from);
        return;
      case "swapped-elements":
        if (length > 1) {
          const [one, other] = [(from % length) * size, ((from + 1) % length) * size];
          const kept = Buffer.from(column.subarray(one, one + size));
          column.copy(column, one, other, other + size);
          kept.copy(column, other);
        }
        return;
      case "longer-column":
        if (place < this.columns.length)
          this.columns[place] = Buffer.concat([column, Buffer.alloc((from % 40) * size, at % 256)]);
        return;
      case "counted-rows":
        return this.#count(place, from % 60);
      case "text-length":
        this.#textLength = typeof value === "number" ? value >>> 0 : from;
        return;
      case "bytes-behind":
        this.#behind = Buffer.concat([this.#behind, Buffer.alloc((from % 9) * 8)]);
    }
  }

  /** With lengths and checksums that agree. */
  bytes(): Buffer {
    const text = Buffer.from(JSON.stringify(this.text));
    const columns = [this.#sums, ...this.columns, this.#behind];
    const filled = columns.flatMap((column) => {
      const count = Math.ceil(column.length / pageBytesMax);
      return Array.from({ length: count }, (_, page) =>
        column.subarray(page * pageBytesMax, (page + 1) * pageBytesMax),
      );
    });
    const table = Buffer.alloc(filled.length * sumBytes);
    for (const [page, bytes] of filled.entries())
      table.writeUInt32LE(crc32(bytes), page * sumBytes);
    const trailer = Buffer.alloc(trailerBytes);
    trailer.writeUInt32LE(filled.length, 0);
    trailer.writeUInt32LE(this.#textLength ?? text.length, 4);
    const footer = Buffer.concat([table, text, trailer]);
    footer.writeUInt32LE(crc32(footer.subarray(0, -4), crc32(this.#head)), footer.length - 4);
    return Buffer.concat([this.#head, ...filled, footer]);
  }

  /** So many elements of all columns that share a count, zeros after those there were. */
  #count(place: number, length: number): void {
    const counts = this.#counts;
    const shared = layout[place]?.count ?? "";
    // A change before this one may have replaced them.
    if (!(counts instanceof Object)) return;
    counts[shared] = length;
    for (const [one, { count, elementBytes }] of layout.entries()) {
      if (count !== shared) continue;
      const cut = (this.columns[one] ?? Buffer.alloc(0)).subarray(0, length * elementBytes);
      this.columns[one] = Buffer.concat([cut, Buffer.alloc(length * elementBytes - cut.length)]);
    }
  }

  #changeMember(at: number, change: (old: unknown) => unknown): void {
    const places = [...membersOf(this.text)];
    const place = places[at % places.length];
    if (place === undefined) return;
    const [owner, key] = place;
    const value = change(owner[key]);
    if (value === undefined) delete owner[key];
    else
      Object.defineProperty(owner, key, {
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
  }
}

/** Every member of every object and list, with what holds it. */
export function* membersOf(value: unknown): Generator<readonly [Json, string]> {
  if (typeof value !== "object" || value === null) return;
  for (const key of Object.keys(value)) {
    yield [value as Json, key];
    yield* membersOf((value as Json)[key]);
  }
}

function write(column: Buffer, type: string, at: number, value: unknown, from: number): void {
  const number = typeof value === "number" ? value : from % 64;
  if (type === "f8") column.writeDoubleLE(value === null ? Number.NaN : number, at * 8);
  else if (type === "u1") column[at] = number & 255;
  else column.writeUInt32LE(number >>> 0, at * 4);
}
