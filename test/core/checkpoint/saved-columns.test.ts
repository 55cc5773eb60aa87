/** What may be in the columns of a saved index: each number against the others, and the log's size. */
import { describe, expect, it } from "vitest";
import { rowFlags } from "@branchlog/core/internal";
import { ColumnRoom } from "../../../packages/core/src/checkpoint/checkpoint-format.ts";
import { readCounts, roomForTables } from "../../../packages/core/src/checkpoint/saved-columns.ts";
import type { SavedCounts } from "../../../packages/core/src/checkpoint/saved-columns.ts";
import { SavedFields } from "../../../packages/core/src/entries/saved-fields.ts";
import { rootHandle } from "../../../packages/core/src/index-table/row-table.ts";

const timeMsMax = 8.64e15;
/** A log of a header, three entries and another record, each line of 100 bytes. */
const log = { end: 500, entriesFrom: 100, lineNumber: 6, isTranscript: false };
const kinds = 2;
const counts: SavedCounts = {
  rows: 3,
  ids: 4,
  arenaEnd: 10,
  seed: 1,
  buckets: 32,
  lineChanges: 2,
  otherRecords: 1,
  transcriptBytes: 0,
};

type Tables = ReturnType<typeof roomForTables>;

/** Tables that belong together, changed as wanted: whether they are taken for those of the log. */
function areTaken(change: (tables: Tables) => void, changed: Partial<SavedCounts> = {}): boolean {
  const tables = roomForTables({ ...counts, ...changed }, kinds, log, new ColumnRoom(10_000));
  const { rows, ids, lines } = tables;
  rows.offset.set([100, 200, 400]);
  rows.length.set([99, 99, 99]);
  rows.handle.set([0, 1, 2]);
  rows.parentHandle.set([rootHandle, 0, 3]);
  rows.kind.set([0, 1, 1]);
  rows.time.set([0, -timeMsMax, timeMsMax]);
  rows.flags.set([rowFlags.exactTime, 0, rowFlags.exactTime]);
  // The second and the last id are in the arena: a length of four bytes, then that many.
  ids.inArena.set([0, 1, 0, 1]);
  ids.word.set([7, 0, 9, 5]);
  ids.arena.set([1, 0, 0, 0, 65, 1, 0, 0, 0, 66].slice(0, ids.arena.length));
  lines.rows.set([0, 2].slice(0, lines.changeCount));
  lines.distances.set([2, 3].slice(0, lines.changeCount));
  lines.otherRecords.set([2].slice(0, lines.otherCount));
  change(tables);
  try {
    tables.check();
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    return false;
  }
}

/** Puts values into a column, from its beginning. */
function put(column: { [at: number]: number; readonly length: number }, values: number[]): void {
  for (const [at, value] of values.entries()) column[at] = value;
}

interface Change {
  readonly name: string;
  readonly change: (tables: Tables) => void;
}

const taken: readonly Change[] = [
  { name: "nothing is changed", change: () => undefined },
  { name: "a line has the twelve bytes of the shortest", change: (t) => put(t.rows.length, [11]) },
  { name: "a parent is the last id", change: (t) => put(t.rows.parentHandle, [3]) },
  { name: "an entry has the last id", change: (t) => put(t.rows.handle, [3]) },
  {
    name: "a time is none, and not as it was written",
    change: (t) => {
      put(t.rows.time, [Number.NaN]);
      put(t.rows.flags, [rowFlags.endsWithObject]);
    },
  },
];

const refused: readonly Change[] = [
  { name: "an entry begins in the header", change: (t) => put(t.rows.offset, [99]) },
  { name: "an entry begins in the one before", change: (t) => put(t.rows.offset, [100, 199]) },
  { name: "an entry begins between two bytes", change: (t) => put(t.rows.offset, [100.5]) },
  { name: "an entry begins nowhere", change: (t) => put(t.rows.offset, [Number.NaN]) },
  { name: "a line is shorter than any entry", change: (t) => put(t.rows.length, [10]) },
  { name: "the last entry ends behind the log", change: (t) => put(t.rows.length, [99, 99, 100]) },
  { name: "an id is none of those there are", change: (t) => put(t.rows.handle, [4]) },
  { name: "an id is below zero", change: (t) => put(t.rows.handle, [-1]) },
  { name: "a parent is none of those there are", change: (t) => put(t.rows.parentHandle, [4]) },
  { name: "a parent is below zero", change: (t) => put(t.rows.parentHandle, [-1]) },
  { name: "a kind is none of those there are", change: (t) => put(t.rows.kind, [kinds]) },
  { name: "a kind is below zero", change: (t) => put(t.rows.kind, [-1]) },
  { name: "a time is too late", change: (t) => put(t.rows.time, [timeMsMax + 1]) },
  { name: "a time is too early", change: (t) => put(t.rows.time, [-timeMsMax - 1]) },
  { name: "a time is endless", change: (t) => put(t.rows.time, [0, Number.POSITIVE_INFINITY]) },
  {
    name: "a time that is none is said to be exact",
    change: (t) => put(t.rows.time, [Number.NaN]),
  },
  { name: "an id is neither a word nor in the arena", change: (t) => put(t.ids.inArena, [2]) },
  { name: "an id is elsewhere in the arena", change: (t) => put(t.ids.word, [7, 1]) },
  { name: "ids of the arena are in another order", change: (t) => put(t.ids.word, [7, 5, 9, 0]) },
  { name: "an id of the arena is not in it", change: (t) => put(t.ids.inArena, [0, 1, 0, 0]) },
  { name: "there is an id too many in the arena", change: (t) => put(t.ids.inArena, [1, 1, 0, 1]) },
  { name: "an id of the arena is too long", change: (t) => put(t.ids.arena, [2]) },
  { name: "an id of the arena is far too long", change: (t) => put(t.ids.arena, [1, 0, 0, 9]) },
  { name: "line numbers begin behind the first entry", change: (t) => put(t.lines.rows, [1]) },
  { name: "line numbers change twice at an entry", change: (t) => put(t.lines.rows, [0, 0]) },
  { name: "line numbers change behind the last entry", change: (t) => put(t.lines.rows, [0, 3]) },
  { name: "line numbers begin below one", change: (t) => put(t.lines.distances, [0]) },
  { name: "line numbers do not rise", change: (t) => put(t.lines.distances, [2, 2]) },
  { name: "line numbers end behind the log", change: (t) => put(t.lines.distances, [2, 4]) },
  { name: "a record has a number below zero", change: (t) => put(t.lines.otherRecords, [-1]) },
  { name: "a record has the number of none", change: (t) => put(t.lines.otherRecords, [4]) },
];

describe("the columns of a saved index", () => {
  it.each(taken)("are taken when $name", ({ change }) => {
    expect(areTaken(change)).toBe(true);
  });

  it.each(refused)("are refused when $name", ({ change }) => {
    expect(areTaken(change)).toBe(false);
  });

  it("are those of a log without entries, or without other records", () => {
    const none = { rows: 0, ids: 0, arenaEnd: 0, lineChanges: 0, otherRecords: 0 };
    expect(areTaken(() => undefined, { otherRecords: 0 })).toBe(true);
    const empty = roomForTables({ ...counts, ...none }, kinds, log, new ColumnRoom(10_000));
    expect(() => empty.check()).not.toThrow();
    const changed = { ...counts, ...none, lineChanges: 1 };
    const lines = roomForTables(changed, kinds, log, new ColumnRoom(10_000));
    expect(() => lines.check()).toThrow(TypeError);
    expect(areTaken(() => undefined, { lineChanges: 0 })).toBe(false);
  });

  it("name ids that are all words when there is no arena", () => {
    const words = ({ ids }: Tables): void => put(ids.inArena, [0, 0, 0, 0]);
    expect(areTaken(words, { arenaEnd: 0 })).toBe(true);
    expect(areTaken(() => undefined, { arenaEnd: 0 })).toBe(false);
    expect(areTaken(words)).toBe(false);
  });

  it("have numbers of records that rise", () => {
    const two = (first: number, second: number): boolean =>
      areTaken(({ lines }) => put(lines.otherRecords, [first, second]), { otherRecords: 2 });
    expect(two(0, 4)).toBe(true);
    expect(two(2, 2)).toBe(false);
    expect(two(3, 1)).toBe(false);
    expect(two(0, 5)).toBe(false);
  });
});

describe("the counts of a saved index", () => {
  const read = (change: object): SavedCounts =>
    readCounts(new SavedFields({ ...counts, ...change }), log);

  // 500 bytes hold 41 of the shortest entries, and 166 of the shortest records.
  it.each([
    [{ rows: 41, ids: 12, lineChanges: 41 }],
    [{ ids: 6 }],
    [{ seed: 2 ** 31 - 1 }],
    [{ seed: -(2 ** 31) }],
    [{ buckets: 512 }],
    [{ arenaEnd: 1_000 + 4 * 5 }],
    [{ lineChanges: 3 }],
    [{ otherRecords: 166 }],
    [{ rows: 20, ids: 12, buckets: 32 }],
  ])("are taken with %j", (change) => {
    expect(read(change)).toEqual({ ...counts, ...change });
  });

  it.each([
    [{ rows: 42 }],
    [{ rows: -1 }],
    [{ ids: 7 }],
    [{ seed: 2 ** 31 }],
    [{ seed: -(2 ** 31) - 1 }],
    [{ buckets: 16 }],
    [{ buckets: 33 }],
    [{ buckets: 1_024 }],
    [{ arenaEnd: 1_000 + 4 * 5 + 1 }],
    [{ lineChanges: 4 }],
    [{ otherRecords: 167 }],
    [{ rows: 20, ids: 13, buckets: 32 }],
  ])("are refused with %j", (change) => {
    expect(() => read(change)).toThrow(TypeError);
  });
});
