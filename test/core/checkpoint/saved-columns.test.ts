/** What may be in the columns of a saved index: each number, against the counts and the log's size. */
import { describe, expect, it } from "vitest";
import { runSync } from "@branchlog/streaming";
import {
  checkpointKind,
  filePieces,
  openPageFile,
} from "../../../packages/core/src/checkpoint/page-file.ts";
import type { PageFile } from "../../../packages/core/src/checkpoint/page-file.ts";
import { readCounts, takeTables } from "../../../packages/core/src/checkpoint/saved-columns.ts";
import type { SavedCounts } from "../../../packages/core/src/checkpoint/saved-columns.ts";
import { SavedFields } from "../../../packages/core/src/entries/saved-fields.ts";
import { IndexTable } from "../../../packages/core/src/index-table/index-table.ts";
import { rootHandle } from "../../../packages/core/src/index-table/row-table.ts";
import { savedColumn } from "../../../packages/core/src/index-table/saved-pages.ts";

const timeMsMax = 8.64e15;
/** A log of a header, three entries and another record, each line of 100 bytes. */
const log = { end: 500, entriesFrom: 100, lineNumber: 6, isTranscript: false };
const kinds = [
  { type: "message", role: "user", customType: undefined },
  { type: "message", role: "assistant", customType: undefined },
];
const counts: SavedCounts = {
  rows: 3,
  ids: 4,
  arena: 10,
  seed: 1,
  buckets: 32,
  shadowed: 0,
  damaged: 0,
  stray: 0,
  ownParents: 0,
  hidden: 2,
  last: 0,
  unverified: 1,
  lineChanges: 2,
  otherRecords: 1,
  transcriptBytes: 0,
};

type Numbers = readonly number[];
/** Values of the columns, in the order of the file. */
const columns = {
  offset: [100, 200, 400],
  time: [0, -timeMsMax, timeMsMax],
  length: [99, 99, 99],
  handle: [0, 1, 2],
  parentHandle: [rootHandle, 0, 3],
  nextSibling: [3, 0, 0],
  kind: [0, 1, 1],
  flags: [0, 0, 255],
  word: [7, 0, 9, 5],
  inArena: [0, 1, 0, 1],
  // A length of four bytes, then that many.
  arena: [1, 0, 0, 0, 65, 1, 0, 0, 0, 66],
  buckets: Array.from({ length: 32 }, () => 0),
  rowOf: [0, 1, 2, 3, 0],
  firstChild: [1, 2, 0, 0, 3],
  lastChild: [1, 2, 0, 0, 3],
  shownChildren: [1, 1, 0, 0, 1],
  hidden: [2, 1],
  last: [] as Numbers,
  unverified: [2],
  lineRows: [0, 2],
  distances: [2, 3],
  otherRecords: [2],
  transcript: [] as Numbers,
};
type Values = { readonly [Name in keyof typeof columns]: Numbers };

const floats: ReadonlySet<string> = new Set(["offset", "time"]);
const bytes: ReadonlySet<string> = new Set(["flags", "inArena", "arena", "transcript"]);

function fileOf(values: Values): PageFile {
  const saved = Object.entries(values).map(([name, numbers]) => {
    const column = floats.has(name)
      ? Float64Array.from(numbers)
      : bytes.has(name)
        ? Uint8Array.from(numbers)
        : Int32Array.from(numbers);
    return savedColumn(column.length, () => column);
  });
  const file = Buffer.concat([...filePieces(checkpointKind, {}, saved)]);
  const source = {
    readSync: (target: Buffer, offset: number, length: number, position: number) =>
      file.copy(target, offset, position, position + length),
    read: () => Promise.reject(new Error("not asked for")),
  };
  const found = runSync(openPageFile(source, checkpointKind, file.length));
  if (found === undefined) throw new Error("no file of pages");
  return found;
}

type Outcome = "taken" | "made anew" | "refused";

/** What becomes of tables with these changes once everything in them is touched. */
function outcomeOf(changed: Partial<Values>, changedCounts: Partial<SavedCounts> = {}): Outcome {
  const file = fileOf({ ...columns, ...changed });
  const index = new IndexTable();
  let outcome: Outcome = "taken";
  try {
    const tables = takeTables({ ...counts, ...changedCounts }, kinds, log, file);
    index.restore(tables.index, () => {
      outcome = "made anew";
    });
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    return "refused";
  }
  const { rows, ids } = index;
  for (let row = 0; row < index.count; row += 1) {
    rows.offset(row);
    rows.length(row);
    rows.time(row);
    rows.handle(row);
    rows.parentHandle(row);
    rows.nextSibling(row);
    rows.kind(row);
    rows.flags(row);
  }
  for (let handle = -1; handle < ids.count; handle += 1) {
    index.rowOfHandle(handle);
    index.childrenAt(handle);
    if (handle >= 0) expect(typeof ids.idAt(handle)).toBe("string");
  }
  for (const id of ["A", "B", "00000007", "none"]) expect(ids.find(id)).toBeLessThan(ids.count);
  return outcome;
}

const taken: readonly (readonly [string, Partial<Values>])[] = [
  ["nothing is changed", {}],
  ["a line has the twelve bytes of the shortest", { length: [11, 99, 99] }],
  ["a parent is the last id", { parentHandle: [3, 0, 3] }],
  ["an entry has the last id", { handle: [3, 1, 2] }],
  ["a time is none", { time: [Number.NaN, 0, 0] }],
  ["an id of the arena is far too long", { arena: [1, 0, 0, 9, 65, 1, 0, 0, 0, 66] }],
  ["an id is outside of the arena", { word: [7, 9, 9, -1] }],
  ["an id is of no form", { inArena: [2, 1, 0, 1] }],
  ["buckets name ids that are none", { buckets: columns.buckets.map((_, at) => at * 99 - 1) }],
];

const madeAnew: readonly (readonly [string, Partial<Values>])[] = [
  ["an entry begins in the header", { offset: [99, 200, 400] }],
  ["an entry begins where the one before did", { offset: [100, 100, 400] }],
  ["an entry begins between two bytes", { offset: [100.5, 200, 400] }],
  ["an entry begins nowhere", { offset: [Number.NaN, 200, 400] }],
  ["an entry begins behind the log", { offset: [100, 200, 500] }],
  ["a line is shorter than any entry", { length: [10, 99, 99] }],
  ["a line is longer than the log", { length: [99, 99, 501] }],
  ["an id is not one of the known ids", { handle: [4, 1, 2] }],
  ["an id is below zero", { handle: [-1, 1, 2] }],
  ["a parent is not one of the known ones", { parentHandle: [4, 0, 3] }],
  ["a parent is below none", { parentHandle: [rootHandle - 1, 0, 3] }],
  ["a kind is not one of the known ones", { kind: [2, 1, 1] }],
  ["a kind is below zero", { kind: [-1, 1, 1] }],
  ["the next sibling is the entry itself", { nextSibling: [1, 0, 0] }],
  ["the next sibling is an earlier entry", { nextSibling: [0, 1, 0] }],
  ["the next sibling is none", { nextSibling: [0, 0, 4] }],
  ["the next sibling is below zero", { nextSibling: [-1, 0, 0] }],
  ["a time is too late", { time: [timeMsMax + 1, 0, 0] }],
  ["a time is too early", { time: [-timeMsMax - 1, 0, 0] }],
  ["a time is endless", { time: [0, Number.POSITIVE_INFINITY, 0] }],
  ["the row of an id is none", { rowOf: [0, 4, 2, 3, 0] }],
  ["a first child is none", { firstChild: [4, 2, 0, 0, 3] }],
  ["a last child is below zero", { lastChild: [-1, 2, 0, 0, 3] }],
  ["there are more children than entries", { shownChildren: [4, 1, 0, 0, 1] }],
];

const refused: readonly (readonly [string, Partial<Values>])[] = [
  ["an entry hides a later one", { hidden: [1, 2] }],
  ["an entry hides itself", { hidden: [1, 1] }],
  ["a hidden entry is none", { hidden: [3, 1] }],
  ["an entry to check is none", { unverified: [3] }],
  ["line numbers begin behind the first entry", { lineRows: [1, 2] }],
  ["line numbers change twice at an entry", { lineRows: [0, 0] }],
  ["line numbers change behind the last entry", { lineRows: [0, 3] }],
  ["line numbers begin below one", { distances: [0, 3] }],
  ["line numbers do not rise", { distances: [2, 2] }],
  ["line numbers end behind the log", { distances: [2, 4] }],
  ["a record has a number below zero", { otherRecords: [-1] }],
  ["a record has the number of none", { otherRecords: [4] }],
];

describe("the columns of a saved index", () => {
  it.each(taken)("are loaded when %s", (_, changed) => {
    expect(outcomeOf(changed)).toBe("taken");
  });

  it.each(madeAnew)("are rebuilt when %s", (_, changed) => {
    expect(outcomeOf(changed)).toBe("made anew");
  });

  it.each(refused)("are rejected when %s", (_, changed) => {
    expect(outcomeOf(changed)).toBe("refused");
  });

  it("have increasing record numbers, and lines for entries", () => {
    const two = (otherRecords: Numbers): Outcome =>
      outcomeOf({ otherRecords }, { otherRecords: 2 });
    expect([two([0, 4]), two([2, 2]), two([3, 1]), two([0, 5])]).toEqual([
      "taken",
      "refused",
      "refused",
      "refused",
    ]);
    expect(outcomeOf({ otherRecords: [] }, { otherRecords: 0 })).toBe("taken");
    expect(outcomeOf({ lineRows: [], distances: [] }, { lineChanges: 0 })).toBe("refused");
  });

  it("are rejected when the file has fewer", () => {
    expect(outcomeOf({}, { rows: 4 })).toBe("refused");
    expect(outcomeOf({}, { buckets: 2 ** 20 })).toBe("refused");
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
    [{ arena: 1_000 + 4 * 5 }],
    [{ lineChanges: 3 }],
    [{ otherRecords: 166 }],
    [{ shadowed: 3, damaged: 3, stray: 3, ownParents: 3, hidden: 6, last: 6, unverified: 12 }],
    [{ rows: 20, ids: 24, buckets: 32 }],
  ])("are loaded with %j", (change) => {
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
    [{ arena: 1_000 + 4 * 5 + 1 }],
    [{ lineChanges: 4 }],
    [{ otherRecords: 167 }],
    [{ shadowed: 4 }],
    [{ damaged: 4 }],
    [{ stray: -1 }],
    [{ ownParents: 4 }],
    [{ hidden: 7 }],
    [{ last: 7 }],
    [{ unverified: 13 }],
    [{ rows: 20, ids: 25, buckets: 32 }],
  ])("are rejected with %j", (change) => {
    expect(() => read(change)).toThrow(TypeError);
  });
});
