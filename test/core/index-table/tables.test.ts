import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { IdTable } from "../../../packages/core/src/index-table/id-table.ts";
import { KindTable, LineMap } from "../../../packages/core/src/index-table/row-table.ts";
import { copyOf } from "./saved-column.ts";

/** The ids as they come back from a checkpoint, with other buckets, and perhaps other words. */
function restoredFrom(
  table: IdTable,
  bucket: number,
  changeWords: (words: Int32Array) => void = () => undefined,
): IdTable {
  const saved = table.save();
  const word = copyOf(saved.word, (bytes) => {
    changeWords(new Int32Array(bytes.buffer, bytes.byteOffset, saved.word.count));
  });
  const buckets = copyOf(saved.buckets, (bytes) => {
    for (let at = 0; at < bytes.length; at += 4) bytes.writeInt32LE(bucket, at);
  });
  const restored = new IdTable();
  restored.restore({ ...saved, word, buckets }, () => {
    throw new Error("a page is not what was saved");
  });
  return restored;
}

/** The word that is mixed to these bits: murmur3's finaliser, backwards. */
function unmixed(bits: number): number {
  let h = bits ^ (bits >>> 16);
  h = Math.imul(h, 0x7ed1b41d);
  h ^= (h >>> 13) ^ (h >>> 26);
  h = Math.imul(h, 0xa5cb9243);
  return h ^ (h >>> 16);
}

describe("the table of ids", () => {
  it("maps each distinct id to one handle and back", () => {
    const anyId = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.stringMatching(/^[0-9a-f]{8}$/),
      fc.stringMatching(/^[0-9A-Fa-f]{7,9}$/),
    );
    fc.assert(
      fc.property(fc.array(anyId), (ids) => {
        const table = new IdTable();
        const handles = new Map<string, number>();
        for (const id of ids) {
          expect(table.find(id)).toBe(handles.get(id) ?? -1);
          const handle = table.add(id);
          expect(handle).toBe(handles.get(id) ?? handles.size);
          handles.set(id, handle);
        }
        expect(table.count).toBe(handles.size);
        for (const [id, handle] of handles) expect(table.idAt(handle)).toBe(id);
      }),
    );
  });

  it("has the same handle for the bits of a hex id and for its text", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })), (words) => {
        const table = new IdTable();
        table.warm(Int32Array.from(words));
        for (const word of words) {
          const handle = table.addWord(word);
          const text = (word >>> 0).toString(16).padStart(8, "0");
          expect(table.idAt(handle)).toBe(text);
          expect(table.add(text)).toBe(handle);
        }
      }),
    );
  });

  it("finds an id at its new handle after it adopted the ids of another table", () => {
    const [table, other] = [new IdTable(), new IdTable()];
    for (const id of ["a", "b"]) table.add(id);
    for (const id of ["b", "c"]) other.add(id);
    expect(table.find("b")).toBe(1);
    table.become(other);
    expect([table.find("b"), table.find("a"), table.find("c")]).toEqual([0, -1, 1]);
  });

  it("finds every id, and adds others, when restored buckets are full or empty", () => {
    const ids = ["0000000a", "b", "0000000c", "d"];
    for (const bucket of [0, 1, 3, 999]) {
      const table = new IdTable();
      for (const id of ids) table.add(id);
      const restored = restoredFrom(table, bucket);
      restored.add("e");
      expect(restored.find("f")).toBe(-1);
      if (bucket === 0) continue;
      expect(ids.map((id) => restored.find(id))).toEqual([0, 1, 2, 3]);
    }
  });

  it("distinguishes a hex id from a text whose position in the arena has the same bits", () => {
    const table = new IdTable();
    // The first text is at place 0, the second after its length and its byte.
    for (const id of ["x", "y"]) table.add(id);
    expect([table.find("00000000"), table.find("00000005")]).toEqual([-1, -1]);
    expect([table.addWord(0), table.addWord(5)]).toEqual([2, 3]);
    expect(["x", "00000000", "y", "00000005"].map((id) => table.find(id))).toEqual([0, 2, 1, 3]);
  });

  it("holds ids of any length, and those that UTF-8 cannot encode", () => {
    const lengths = [0, 1, 255, 256, 65_535, 65_536, 70_000];
    const odd = ["\ud800", "\ud801", "a\udfffb", "\ufffd", "\ufffd\ufffd\ufffd"];
    const held = [...lengths.map((length) => "i".repeat(length)), ...odd];
    const table = new IdTable();
    const expected = held.map((_, handle) => handle);
    expect(held.map((id) => table.add(id))).toEqual(expected);
    expect(held.map((id) => table.find(id))).toEqual(expected);
    expect(expected.map((handle) => table.idAt(handle))).toEqual(held);
    expect(table.find("i".repeat(257))).toBe(-1);
  });

  it("has the empty id for a position outside the arena in a checkpoint", () => {
    const table = new IdTable();
    for (const id of ["x", "y"]) table.add(id);
    for (const place of [10, 11, 1 << 28, -1]) {
      const restored = restoredFrom(table, 0, (words) => words.fill(place, 1));
      expect([restored.idAt(1), restored.idAt(0), restored.idAt(1)]).toEqual(["", "x", ""]);
    }
  });

  it("finds the first of equal ids, and of equal texts, when a checkpoint repeats them", () => {
    const table = new IdTable();
    for (const id of ["x", "y", "0000000a", "0000000b", "xx"]) table.add(id);
    const found = (changeWords: (words: Int32Array) => void): number[] => {
      const restored = restoredFrom(table, 999, changeWords);
      return ["x", "0000000a", "xx", "y"].map((id) => restored.find(id));
    };
    // The second text is at the place of the first, as if it were the same.
    expect(found((words) => words.copyWithin(1, 0, 1))).toEqual([0, 2, 4, -1]);
    expect(found((words) => words.copyWithin(3, 2, 3))).toEqual([0, 2, 4, 1]);
  });

  it("resists hash flooding with 150,000 ids (Verifies: P18)", () => {
    const table = new IdTable();
    // 4,096 words for each of the buckets from 0 on, in a table of 2^20 buckets at most.
    for (let n = 0; n < 150_000; n += 1) table.addWord(unmixed((n >>> 12) | ((n & 4095) << 20)));
    expect(table.count).toBe(150_000);
    expect(table.addWord(unmixed(1 << 20))).toBe(1);
  });
});

it("the table of kinds numbers distinct kinds in order, and equal kinds equally", () => {
  const part = fc.option(fc.stringMatching(/^[ab]{0,2}$/), { nil: undefined });
  const kind = fc.record({ type: fc.constantFrom("", "a", "ab"), role: part, customType: part });
  fc.assert(
    fc.property(fc.array(kind, { maxLength: 30 }), (kinds) => {
      const table = new KindTable();
      const numbers = kinds.map((one) => table.add(one));
      expect(numbers.map((number) => table.at(number))).toEqual(kinds);
      const keys = kinds.map((one) =>
        JSON.stringify([one.type, one.role ?? 0, one.customType ?? 0]),
      );
      expect(new Set(numbers).size).toBe(new Set(keys).size);
      expect([...new Set(numbers)]).toEqual(table.kinds.map((_, number) => number));
    }),
  );
});

it("the map of lines finds the line of each row and the row of each record", () => {
  const line = fc.constantFrom("row", "other", "blank");
  fc.assert(
    fc.property(fc.array(line, { maxLength: 60 }), (lines) => {
      const map = new LineMap();
      const rowOfRecord: number[] = [];
      const lineOfRow: number[] = [];
      for (const [i, what] of lines.entries()) {
        if (what === "row") {
          rowOfRecord.push(lineOfRow.length);
          map.addRow(lineOfRow.length, i + 1);
          lineOfRow.push(i + 1);
        } else if (what === "other") {
          rowOfRecord.push(-1);
          map.addOtherRecord();
        }
      }
      expect(lineOfRow.map((_, row) => map.lineOfRow(row))).toEqual(lineOfRow);
      expect(rowOfRecord.map((_, record) => map.rowOfRecord(record))).toEqual(rowOfRecord);
      expect([-1, 0.5, rowOfRecord.length].map((r) => map.rowOfRecord(r))).toEqual([-1, -1, -1]);
    }),
  );
});
