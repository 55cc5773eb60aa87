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

const headBytes = 24;
/** The columns of the index: type and size of an element, and the count that says the length. */
const columnNames =
  "f8 rows,u4 rows,i4 rows,i4 rows,i4 rows,f8 rows,u1 rows,i4 ids,u1 ids,u1 arenaEnd,i4 buckets," +
  "i4 lineChanges,i4 lineChanges,i4 otherRecords,u1 transcriptBytes";
const layout = columnNames.split(",").map((one) => {
  const [type = "", count = ""] = one.split(" ");
  return { type, count, elementBytes: Number(type.slice(1)) };
});

/** An object of JSON. */
export type Json = Record<string, unknown>;

/** The checkpoint with these changes in its first frame, and both checksums right. */
export function forged(checkpoint: Buffer, changes: readonly Forgery[]): Buffer {
  const frameBytes = checkpoint.readUIntLE(16, 6);
  const frame = new OpenFrame(checkpoint.subarray(0, frameBytes));
  for (const change of changes) frame.change(change);
  return Buffer.concat([frame.bytes(), checkpoint.subarray(frameBytes)]);
}

/** The frame that begins at `start`, with one member of its text changed. */
export function forgedText(checkpoint: Buffer, start: number, change: Forgery): Buffer {
  const end = start + checkpoint.readUIntLE(start + 16, 6);
  const frame = new OpenFrame(checkpoint.subarray(start, end));
  frame.change(change);
  return Buffer.concat([checkpoint.subarray(0, start), frame.bytes(), checkpoint.subarray(end)]);
}

/** The checkpoint with its first frame changed by hand: its text, and the bytes of its columns. */
export function rewrittenFrame(
  checkpoint: Buffer,
  changeText: (text: Json) => void,
  changeColumns: (columns: Buffer) => void,
): Buffer {
  const frameBytes = checkpoint.readUIntLE(16, 6);
  const textEnd = headBytes + checkpoint.readUInt32LE(8);
  const text = JSON.parse(checkpoint.toString("utf8", headBytes, textEnd)) as Json;
  const columns = Buffer.from(checkpoint.subarray(alignedUp(textEnd), frameBytes - 8));
  changeText(text);
  changeColumns(columns);
  const head = Buffer.from(checkpoint.subarray(0, headBytes));
  const frame = frameOf(head, [Buffer.from(JSON.stringify(text)), columns]);
  return Buffer.concat([frame, checkpoint.subarray(frameBytes)]);
}

/** A text and what is behind it, padded, with lengths and checksum that agree. */
function frameOf(
  head: Buffer,
  parts: readonly Buffer[],
  textLength = parts[0]?.length ?? 0,
): Buffer {
  const padded = parts.flatMap((part) => [
    part,
    Buffer.alloc(alignedUp(part.length) - part.length),
  ]);
  const body = Buffer.concat(padded);
  head.writeUInt32LE(textLength, 8);
  head.writeUIntLE(headBytes + body.length + 8, 16, 6);
  const end = Buffer.alloc(8);
  end.writeUInt32LE(crc32(body, crc32(head)));
  return Buffer.concat([head, body, end]);
}

class OpenFrame {
  readonly #head: Buffer;
  readonly #text: Json;
  readonly #columns: Buffer[] = [];
  #textLength: number | undefined;
  #behind = Buffer.alloc(0);

  constructor(frame: Buffer) {
    this.#head = Buffer.from(frame.subarray(0, headBytes));
    const textEnd = headBytes + frame.readUInt32LE(8);
    this.#text = JSON.parse(frame.toString("utf8", headBytes, textEnd)) as Json;
    let at = alignedUp(textEnd);
    const counts = this.#counts;
    for (const { count, elementBytes } of counts === undefined ? [] : layout) {
      const length = Number(counts?.[count]) * elementBytes;
      this.#columns.push(Buffer.from(frame.subarray(at, at + length)));
      at += alignedUp(length);
    }
    // A frame of another layout is kept as it is.
    this.#behind = Buffer.from(frame.subarray(at, frame.length - 8));
  }

  get #counts(): Json | undefined {
    const state = this.#text["state"] as Json | undefined;
    return (state?.["indexer"] as Json | undefined)?.["counts"] as Json | undefined;
  }

  change({ kind, at, from, value }: Forgery): void {
    const place = at % layout.length;
    const column = this.#columns[place] ?? this.#behind;
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
        if (place < this.#columns.length)
          this.#columns[place] = Buffer.concat([
            column,
            Buffer.alloc((from % 40) * size, at % 256),
          ]);
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

  /** The frame with lengths and checksum that agree. */
  bytes(): Buffer {
    const text = Buffer.from(JSON.stringify(this.#text));
    return frameOf(this.#head, [text, ...this.#columns, this.#behind], this.#textLength);
  }

  /** So many elements of all columns that share a count, zeros behind those there were. */
  #count(place: number, length: number): void {
    const counts = this.#counts;
    const shared = layout[place]?.count ?? "";
    // A change before this one may have replaced them.
    if (!(counts instanceof Object)) return;
    counts[shared] = length;
    for (const [one, { count, elementBytes }] of layout.entries()) {
      if (count !== shared) continue;
      const cut = (this.#columns[one] ?? Buffer.alloc(0)).subarray(0, length * elementBytes);
      this.#columns[one] = Buffer.concat([cut, Buffer.alloc(length * elementBytes - cut.length)]);
    }
  }

  #changeMember(at: number, change: (old: unknown) => unknown): void {
    const places = [...membersOf(this.#text)];
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

function alignedUp(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}
