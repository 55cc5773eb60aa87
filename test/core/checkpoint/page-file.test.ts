/** Files of pages as bytes: what they hold, and what is refused before a page is read. */
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runSync } from "@branchlog/streaming";
import type { ByteSource } from "@branchlog/streaming";
import { ManualClock, MemoryFileSystem, createMemoryPorts } from "@branchlog/core/testing";
import {
  beginCheckpoint,
  loadPages,
} from "../../../packages/core/src/checkpoint/checkpoint-file.ts";
import {
  checkpointKind,
  filePieces,
  openPageFile,
} from "../../../packages/core/src/checkpoint/page-file.ts";
import type { FileKind, PageFile } from "../../../packages/core/src/checkpoint/page-file.ts";
import {
  SavedPages,
  pageCount,
  savedColumn,
} from "../../../packages/core/src/index-table/saved-pages.ts";
import type {
  Bounds,
  Column,
  SavedColumn,
} from "../../../packages/core/src/index-table/saved-pages.ts";

const kind: FileKind = { mark: "SAMPLE", version: 7, textBytesMax: 64 };
const json = { a: "1" };

function fileOf(columns: readonly Column[], text: object = json): Buffer {
  const saved = columns.map((column) => savedColumn(column.length, () => column));
  return Buffer.concat([...filePieces(kind, text, saved)]);
}

interface Reads extends ByteSource {
  readonly ends: number[];
  bytes: number;
}

function sourceOf(file: Buffer): Reads {
  const source: Reads = {
    ends: [],
    bytes: 0,
    readSync: (target, offset, length, position) => {
      source.ends.push(position + length);
      const count = file.copy(target, offset, position, position + length);
      source.bytes += count;
      return count;
    },
    read: () => Promise.reject(new Error("not asked for")),
  };
  return source;
}

function opened(file: Buffer, source: ByteSource = sourceOf(file)): PageFile | undefined {
  return runSync(openPageFile(source, kind, file.length));
}

function required(file: Buffer): PageFile {
  const found = opened(file);
  if (found === undefined) throw new Error("no file of pages");
  return found;
}

/** All bytes of a column, page by page. */
function bytesOf(column: SavedColumn): Buffer {
  return Buffer.concat(Array.from({ length: pageCount(column) }, (_, page) => column.page(page)));
}

/** A file with a column of eight bytes, whose checksum was made again. */
function sealed(changed: Buffer): Buffer {
  const sum = crc32(changed.subarray(16 + 8, -4), crc32(changed.subarray(0, 16)));
  changed.writeUInt32LE(sum, changed.length - 4);
  return changed;
}

const numbers = Uint32Array.from({ length: 40_000 }, (_, at) => at);
const letters = Uint8Array.from({ length: 40_000 }, (_, at) => at % 251);
const file = fileOf([numbers, letters]);
/** Numbers in a page. */
const inPage = 16_384;

describe("a file of pages", () => {
  const column = fc.oneof(fc.int32Array(), fc.uint32Array(), fc.uint8Array(), fc.float64Array());
  const text = fc.record({ text: fc.string({ maxLength: 20 }) });

  it("returns what was saved, column by column", () => {
    fc.assert(
      fc.property(fc.array(column, { maxLength: 5 }), text, (saved, given) => {
        const found = required(fileOf(saved, given));
        expect(found.text).toEqual(given);
        for (const one of saved) {
          const taken = found.take(one.length, one.BYTES_PER_ELEMENT);
          expect(bytesOf(taken)).toEqual(Buffer.from(one.buffer, one.byteOffset, one.byteLength));
        }
        found.requireAllTaken();
        expect(() => found.take(1, 1)).toThrow(TypeError);
      }),
    );
  });

  it("is read a footer and a page at a time", () => {
    const source = sourceOf(file);
    const taken = opened(file, source)?.take(numbers.length, 4);
    const footer = source.bytes;
    expect(footer).toBeLessThan(64 * 1024 + 100);
    taken?.page(1);
    expect(source.bytes - footer).toBe(64 * 1024);
  });

  it("is rejected with another magic, byte order or version, whatever its checksum", () => {
    for (let at = 0; at < 12; at += 1) {
      const other = fileOf([letters.subarray(0, 8)]);
      expect(opened(sealed(other))).toBeDefined();
      other[at] = (other[at] ?? 0) ^ 1;
      expect(opened(sealed(other))).toBeUndefined();
    }
  });

  it("is rejected when a bit of its footer flips, and loses only the page when a bit of a page does", () => {
    const small = fileOf([letters.subarray(0, 100), letters.subarray(0, 10)]);
    for (let bit = 16 * 8; bit < small.length * 8; bit += 1) {
      const other = Buffer.from(small);
      other[bit >> 3] = (other[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const found = opened(other);
      if (bit >> 3 >= 16 + 110) {
        expect([bit, found]).toEqual([bit, undefined]);
        continue;
      }
      const columns = [found?.take(100, 1), found?.take(10, 1)];
      const hit = bit >> 3 < 16 + 100 ? 0 : 1;
      expect(() => columns[hit]?.page(0)).toThrow(TypeError);
      expect(columns[1 - hit]?.page(0)).toEqual(
        Buffer.from(letters.subarray(0, hit === 0 ? 10 : 100)),
      );
    }
  });

  it("is rejected with inconsistent lengths, whatever its checksum", () => {
    for (const [at, value] of [
      [12, 2 ** 32 - 1],
      [12, 4],
      [8, kind.textBytesMax + 1],
      [8, 2 ** 32 - 1],
    ] as const) {
      const other = fileOf([letters.subarray(0, 8)]);
      other.writeUInt32LE(value, other.length - at);
      expect(opened(sealed(other))).toBeUndefined();
    }
  });

  it("returns no more elements than it has, and reports unread ones", () => {
    expect(() => required(file).take(numbers.length * 2, 4)).toThrow(TypeError);
    expect(() => required(file).take(2 ** 52, 4)).toThrow(TypeError);
    const found = required(file);
    found.take(numbers.length, 4);
    expect(() => found.requireAllTaken()).toThrow(TypeError);
    found.take(letters.length, 1);
    found.requireAllTaken();
  });

  it("has a text of at most the length of its kind, to the byte", () => {
    const longest = { a: "x".repeat(kind.textBytesMax - '{"a":""}'.length) };
    expect(required(fileOf([], longest)).text).toEqual(longest);
    expect(() => fileOf([], { a: `${longest.a}x` })).toThrow(RangeError);
  });
});

describe("saved pages", () => {
  /** A column in memory, with room after what is in the file. */
  function columnOf(saved: SavedColumn, bounds?: Bounds) {
    const filled = new Uint32Array(saved.count);
    let recovered = 0;
    const recover = (): void => {
      recovered += 1;
      filled.set(numbers);
    };
    const table = { column: () => filled, recover };
    const pages = new SavedPages(saved, bounds ? { ...table, bounds } : table);
    return { filled, pages, recovered: () => recovered };
  }

  it("fill the elements of a page when one of them is touched, and no others", () => {
    const { filled, pages } = columnOf(required(file).take(numbers.length, 4));
    expect(pages.touch(20_000)).toBe(false);
    const to = 2 * inPage;
    expect(filled.subarray(inPage, to)).toEqual(numbers.subarray(inPage, to));
    expect(filled.subarray(1, inPage).some((number) => number !== 0)).toBe(false);
    expect(filled.subarray(to).some((number) => number !== 0)).toBe(false);
    pages.touchAll();
    expect(filled).toEqual(numbers);
  });

  it("are rebuilt once when a page is damaged or has invalid values", () => {
    const damaged = Buffer.from(file);
    damaged[16 + 30_000 * 4] = 1;
    const one = columnOf(required(damaged).take(numbers.length, 4));
    expect([one.pages.touch(0), one.pages.touch(30_000), one.pages.touchAll()]).toEqual([
      false,
      true,
      false,
    ]);
    expect([one.recovered(), one.filled]).toEqual([1, numbers]);
    for (const bounds of [
      { min: 1, max: 39_999 },
      { min: 0, max: 39_998 },
      { min: 0, max: 39_999, isPossible: (_: number, at: number) => at !== 20_000 },
    ]) {
      const other = columnOf(required(file).take(numbers.length, 4), bounds);
      expect([other.pages.touchAll(), other.recovered()]).toEqual([true, 1]);
    }
  });

  it("are saved again unchanged, read or not, with new elements after them", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(39_999)), fc.nat(20_000), (touched, more) => {
        const longer = new Uint32Array(numbers.length + more);
        const pages = new SavedPages(required(file).take(numbers.length, 4), {
          column: () => longer,
          recover: () => undefined,
        });
        for (const at of touched) pages.touch(at);
        longer.fill(7, numbers.length);
        const saved = bytesOf(savedColumn(longer.length, () => longer, pages));
        const wanted = Uint32Array.from([...numbers, ...longer.subarray(numbers.length)]);
        expect(saved.equals(Buffer.from(wanted.buffer))).toBe(true);
      }),
      { numRuns: 20 },
    );
  });
});

describe("the file of a checkpoint", () => {
  const path = "/s.jsonl.ckpt";
  const saved = Buffer.concat([...filePieces(checkpointKind, json, [])]);

  it("is closed however loading ends", () => {
    const fs = new MemoryFileSystem();
    const load = (): unknown => runSync(loadPages(fs, path, checkpointKind, ({ text }) => text));
    expect(load()).toBeUndefined();
    fs.writeFileSync(path, saved);
    expect(load()).toEqual(json);
    const refusing = loadPages(fs, path, checkpointKind, () => {
      throw new TypeError("not of this log");
    });
    expect(runSync(refusing)).toBeUndefined();
    fs.writeFileSync(path, saved.subarray(1));
    expect(load()).toBeUndefined();
    fs.writeFileSync(path, saved);
    fs.onCall = ({ name }) => {
      if (name === "readSync" || name === "read") throw new Error("EIO");
      return undefined;
    };
    expect(load()).toBeUndefined();
    fs.onCall = undefined;
    expect(fs.openCount).toBe(0);
  });

  it("removes temporary files of killed processes after ten minutes, and nothing else", () => {
    const clock = new ManualClock();
    const fs = new MemoryFileSystem();
    const ports = createMemoryPorts({ fs, clock });
    const begin = (of: string): string => {
      const begun = beginCheckpoint(ports, of);
      begun.close();
      return begun.temporary;
    };
    const left = begin(path);
    const others = [begin("/other.jsonl.ckpt"), begin("/s.jsonl.ckpt2"), `${path}.kept`, path];
    for (const name of others.slice(2)) fs.writeFileSync(name, saved);
    const leftMs = fs.statSync(left)?.mtimeMs ?? Number.NaN;
    clock.jumpTo(leftMs + 10 * 60 * 1000);
    const second = begin(path);
    const there = (): string[] => [...fs.listSync("/")].map((name) => `/${name}`).toSorted();
    expect(there()).toEqual([left, ...others, second].toSorted());
    clock.advance(1);
    const third = begin(path);
    expect(there()).toEqual([...others, second, third].toSorted());
  });
});
