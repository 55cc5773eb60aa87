/** What the comparison of a log with its checksums finds: the same, changed, or written anew. */
import { crc32 } from "node:zlib";
import { describe, expect, it } from "vitest";
import { runSync } from "@branchlog/streaming";
import type { ByteSource } from "@branchlog/streaming";
import { compareSums, sumPieces } from "../../../packages/core/src/checkpoint/record-sums.ts";
import type {
  RecordSums,
  SumComparison,
} from "../../../packages/core/src/checkpoint/record-sums.ts";

/** A source that refuses to be read past `end`, and notes how much each read asked for. */
function sourceOf(bytes: Buffer, end: number = Number.MAX_SAFE_INTEGER) {
  const lengths: number[] = [];
  const source: ByteSource = {
    readSync(target, offset, length, position) {
      expect(position + length).toBeLessThanOrEqual(end);
      lengths.push(length);
      return bytes.copy(target, offset, position, position + length);
    },
    read: () => Promise.reject(new Error("not asked for")),
  };
  return { source, lengths };
}

/** Lines of ten bytes. */
function lines(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `line ${String(n).padStart(4, "0")}\n`);
}

function sumsOf(pieces: readonly string[], parts: Partial<RecordSums> = {}): RecordSums {
  const bytes = pieces.map((piece) => Buffer.from(piece));
  const end = bytes.reduce((sum, { length }) => sum + length, 0);
  const whole = { dev: 1, ino: 1, logVersion: 3, isConfirmed: true, start: 0, end, firstLine: 1 };
  return {
    ...whole,
    nextLine: pieces.length + 1,
    count: pieces.length,
    lengths: Uint32Array.from(bytes, ({ length }) => length),
    sums: Uint32Array.from(bytes, (piece) => crc32(piece)),
    gapCount: 0,
    gaps: new Uint32Array(),
    gapLines: new Uint32Array(),
    ...parts,
  };
}

function compared(sums: RecordSums, text: string, changedMax = 100): SumComparison {
  return runSync(compareSums(sourceOf(Buffer.from(text)).source, sums, changedMax));
}

/** Twenty lines, of which some have other letters, and some another last byte. */
function changedTwenty(letters: readonly number[], ends: readonly number[]): string {
  return lines(20)
    .map((line, n) => (letters.includes(n) ? line.replace("line", "LINE") : line))
    .map((line, n) => (ends.includes(n) ? line.replace("\n", "x") : line))
    .join("");
}

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, n) => from + n);

describe("a log compared with its checksums", () => {
  it("is the same if every piece is", () => {
    const found = { verdict: "same", changedCount: 0, changed: [] };
    expect(compared(sumsOf(lines(20)), lines(20).join(""))).toEqual(found);
    expect(compared(sumsOf(lines(20)), `${lines(20).join("")}more`)).toEqual(found);
    expect(compared(sumsOf([], { logVersion: 1 }), '{"type":"session","version":3}\n')).toEqual(
      found,
    );
  });

  it.each([
    ["one is changed in the middle", changedTwenty([7], []), 1, "changed"],
    ["all but the last are changed", changedTwenty(range(0, 19), []), 19, "changed"],
    ["all are changed, and end where they did", changedTwenty(range(0, 20), []), 20, "changed"],
    ["three at the end are moved", changedTwenty([], [17, 18, 19]), 3, "changed"],
    ["four at the end are moved", changedTwenty([], [16, 17, 18, 19]), 4, "rewritten"],
    ["four are moved, but the last is in its place", changedTwenty([], [2, 3, 4, 5]), 4, "changed"],
    ["three of four are moved", changedTwenty([3], [16, 17, 19]), 4, "rewritten"],
    ["two of four are moved", changedTwenty([3, 5], [17, 19]), 4, "changed"],
    ["half are changed, one is moved", changedTwenty(range(0, 9), [19]), 10, "changed"],
    [
      "more than half are changed, one is moved",
      changedTwenty(range(0, 10), [19]),
      11,
      "rewritten",
    ],
    ["the last three are gone", lines(17).join(""), 3, "changed"],
    ["all but one are gone", lines(1).join(""), 19, "changed"],
    ["nothing is left", "", 20, "rewritten"],
  ])("where %s", (_, text, changedCount, verdict) => {
    expect(compared(sumsOf(lines(20)), text)).toMatchObject({ verdict, changedCount });
  });

  it.each([
    [2, '{"type":"session","version":3,"id":"s"}\n', "rewritten"],
    [2, '{"type":"session","version":2,"id":"x"}\n', "changed"],
    [1, '{"type":"session","version":2,"id":"s"}\n', "rewritten"],
    [3, '{"type":"session","version":4,"id":"s"}\n', "changed"],
    [2, '{"type":"sessio!","version":3,"id":"s"}\n', "changed"],
    [2, "no JSON at all, but as long as a header\n", "changed"],
    [2, `[3]${"-".repeat(37)}`, "changed"],
  ])("whose header had version %d and is %j now is %s", (logVersion, header, verdict) => {
    const before = `{"type":"session","version":${logVersion},"id":"s"}\n`;
    const sums = sumsOf([before, ...lines(3)], { logVersion });
    expect(compared(sums, `${header}${lines(3).join("")}`)).toMatchObject({ verdict });
  });

  it("lists the first pieces that changed, and counts all", () => {
    const { changed, changedCount } = compared(sumsOf(lines(20)), changedTwenty([3, 7, 9], []), 2);
    expect([changedCount, changed.map(({ line }) => line)]).toEqual([3, [4, 8]]);
  });

  it("says where a piece is, past gaps of any number of lines", () => {
    const pieces = ["header\n", "one\n", "\n\n\n", "two\n", "\n", "broken", "three\n"];
    const gaps = Uint32Array.of(2, 4, 5);
    const parts = { gapCount: 3, gaps, gapLines: Uint32Array.of(3, 1, 0), firstLine: 2, start: 0 };
    const sums = sumsOf(pieces, { ...parts, nextLine: 11 });
    const text = pieces
      .join("")
      .replace("two", "TWO")
      .replace("three", "THREE")
      .replace("one", "ONE");
    expect(compared(sums, text).changed).toEqual([
      { offset: 7, length: 4, line: 3 },
      { offset: 14, length: 4, line: 7 },
      { offset: 25, length: 6, line: 9 },
    ]);
  });
});

describe("checksums", () => {
  it("are of each piece, read in chunks up to the end and not past it, pausing before each", () => {
    const text = lines(5).join("");
    const { source, lengths } = sourceOf(Buffer.from(`head${text}tail`), 4 + text.length);
    const pieces = {
      start: 4,
      end: 54,
      count: 2,
      lengthOf: (piece: number) => [20, 30][piece] ?? 0,
    };
    const taken: number[][] = [];
    const steps = sumPieces(source, pieces, (...sum) => taken.push(sum), Buffer.alloc(16));
    let pauses = 0;
    while (steps.next().done !== true) pauses += 1;
    const [one, two] = [text.slice(0, 20), text.slice(20)];
    expect(taken).toEqual([
      [0, crc32(one), 10],
      [1, crc32(two), 10],
    ]);
    expect([lengths, pauses]).toEqual([[16, 16, 16, 2], 3]);
  });
});
