/**
 * What a checkpoint may say of checksums: pieces that follow each other in this log, or nothing.
 */
import { describe, expect, it } from "vitest";
import { ColumnRoom } from "../../../packages/core/src/checkpoint/checkpoint-format.ts";
import { pieceBytesMax, sumsSchema } from "../../../packages/core/src/checkpoint/record-sums.ts";
import type { FileStat } from "@branchlog/core/testing";

const log: FileStat = {
  dev: 1,
  ino: 2,
  size: 1_000,
  mtimeMs: 0,
  ctimeMs: 0,
  isFile: true,
  isDirectory: false,
  mode: 0o100600,
  uid: 0,
};

/** A header and three lines, the third of which is a gap of two. */
const saved = {
  dev: 1,
  ino: 2,
  logVersion: 3,
  isConfirmed: true,
  start: 100,
  end: 500,
  firstLine: 1,
  nextLine: 6,
  count: 4,
  gapCount: 1,
};

interface Columns {
  readonly lengths: number[];
  readonly gaps: number[];
  readonly gapLines: number[];
}

const columns: Columns = { lengths: [100, 100, 100, 100], gaps: [2], gapLines: [2] };

/** What is taken up of what is saved; throws where nothing is. */
function taken(changed: object = {}, filled: Partial<Columns> = {}, file: FileStat = log) {
  const room = new ColumnRoom(2 ** 30);
  const finish = sumsSchema(file).begin({ ...saved, ...changed }, room);
  const { lengths, gaps, gapLines } = { ...columns, ...filled };
  for (const [at, values] of [lengths, [], gaps, gapLines].entries()) {
    const column = room.made[at]?.column;
    for (const [place, value] of values.entries()) if (column !== undefined) column[place] = value;
  }
  return finish();
}

describe("saved checksums", () => {
  it("are loaded as they were saved", () => {
    expect(taken()).toMatchObject(saved);
  });

  it.each<[string, object, Partial<Columns>]>([
    ["the log was cut since", { end: 2_000 }, { lengths: [100, 100, 100, 1_600] }],
    ["there are none yet", { end: 100, nextLine: 1, count: 0, gapCount: 0 }, {}],
    ["the pieces are as short as can be", { start: 496 }, { lengths: [1, 1, 1, 1] }],
    ["every line is empty but for its newline", { start: 494 }, { lengths: [3, 1, 1, 1] }],
    ["they end at the last line that is possible", { firstLine: 496, nextLine: 501 }, {}],
    [
      "they begin at the last line that is possible",
      { end: 100, firstLine: 101, nextLine: 101, count: 0, gapCount: 0 },
      {},
    ],
    [
      "a piece is as long as one may be",
      { end: 300 + 100 + pieceBytesMax },
      { lengths: [100, 100, 100, pieceBytesMax] },
    ],
    ["the last piece is a gap", {}, { gaps: [3] }],
    ["the first piece is one", {}, { gaps: [0] }],
    [
      "two gaps follow each other",
      { gapCount: 2, nextLine: 8 },
      { gaps: [1, 2], gapLines: [3, 2] },
    ],
  ])("are taken up where %s", (_, changed, filled) => {
    expect(taken(changed, filled)).toMatchObject(changed);
  });

  it.each<[string, object, Partial<Columns>]>([
    ["they are of another file", { ino: 3 }, {}],
    ["they are of another device", { dev: 3 }, {}],
    ["they end before they begin", { start: 501 }, {}],
    ["there are more pieces than bytes", { start: 497 }, { lengths: [1, 1, 1, 0] }],
    ["there are more gaps than pieces", { gapCount: 5 }, {}],
    ["they begin at no line", { firstLine: 0, nextLine: 5 }, {}],
    ["they end at a line that is not possible", { firstLine: 497, nextLine: 502 }, {}],
    [
      "they begin at a line that is not possible",
      { end: 100, firstLine: 102, nextLine: 102, count: 0, gapCount: 0 },
      {},
    ],
    ["they end before the line at which they begin", { firstLine: 6, nextLine: 5 }, {}],
    ["a piece has no length", {}, { lengths: [0, 200, 100, 100] }],
    [
      "a piece is longer than one may be",
      { end: 401 + pieceBytesMax },
      { lengths: [100, 100, 100, pieceBytesMax + 1] },
    ],
    ["the pieces end earlier", {}, { lengths: [100, 100, 100, 99] }],
    ["the pieces end later", {}, { lengths: [100, 100, 100, 101] }],
    ["their lines are more", { nextLine: 7 }, {}],
    ["their lines are fewer", { nextLine: 5 }, {}],
    ["a gap is none of the pieces", {}, { gaps: [4] }],
    ["a gap comes twice", { gapCount: 2, nextLine: 8 }, { gaps: [2, 2], gapLines: [3, 2] }],
    ["gaps are in another order", { gapCount: 2, nextLine: 8 }, { gaps: [2, 1], gapLines: [3, 2] }],
    ["nobody says whether they were compared", { isConfirmed: 1 }, {}],
  ])("are nothing where %s", (_, changed, filled) => {
    expect(() => taken(changed, filled)).toThrow(TypeError);
  });

  it("are of at most as many pieces as a log of that size can have, or fit in 64 MiB", () => {
    const piecesMax = 8 * 1024 * 1024;
    const many = (count: number, size: number): (() => unknown) => {
      const file = { ...log, size };
      const changed = { start: 0, end: count * 3, count, gapCount: 0, nextLine: count + 1 };
      return () => sumsSchema(file).begin({ ...saved, ...changed }, new ColumnRoom(2 ** 31));
    };
    expect(many(piecesMax, 1_000)).not.toThrow();
    expect(many(piecesMax + 1, 1_000)).toThrow(TypeError);
    expect(many(piecesMax + 1, piecesMax * 3)).not.toThrow();
    expect(many(piecesMax * 2 + 1, piecesMax * 3)).toThrow(TypeError);
  });
});
