/** Reading files line by line: exact places, any chunk size, descriptors closed. */
import fc from "fast-check";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { lines, records, recordsSync } from "@branchlog/streaming";
import type { FileLine } from "@branchlog/streaming";
import { collected } from "../support/collected.ts";
import { temporaryDirectory, temporaryFile } from "../support/temporary-directory.ts";
import { splitLines } from "./support/collected-lines.ts";
import { nextDescriptor } from "./support/resources.ts";

const bom = "\ufeff";

it("lines have offsets, lengths and numbers; an unterminated last one is marked", async () => {
  const path = temporaryFile(`${bom}{"a":1}\r\n\n{"b":2}`);
  const expected = [
    { bytes: Buffer.from('{"a":1}\r'), offset: 3, length: 8, lineNumber: 1, terminated: true },
    { bytes: Buffer.alloc(0), offset: 12, length: 0, lineNumber: 2, terminated: true },
    { bytes: Buffer.from('{"b":2}'), offset: 13, length: 7, lineNumber: 3, terminated: false },
  ].map((line) => ({ ...line, long: null }));
  expect(await collected(lines(path))).toEqual(expected);
});

it("lines of a range start and end at the given offsets", async () => {
  const path = temporaryFile("ab\ncd\nef\n");
  const rest = await collected(lines(path, { from: 3 }));
  expect(rest.map(({ offset }) => offset)).toEqual([3, 6]);
  const cut = await collected(lines(path, { from: 3, to: 7 }));
  expect(cut.map(({ terminated }) => terminated)).toEqual([true, false]);
});

it("lines above the maximum are described", async () => {
  const path = temporaryFile(`short\n${"x".repeat(100)}\nshort\n${"y".repeat(200)}`);
  const found = await collected(lines(path, { lineBytesMax: 50, chunkBytes: 16 }));
  expect(found.map(({ long }) => long?.length)).toEqual([undefined, 100, undefined, 200]);
  expect(found.map(({ long }) => long?.terminated)).toEqual([undefined, true, undefined, false]);
});

it("records are decoded lines, or lines with the reason why they are not records", async () => {
  const path = temporaryFile('{"a":1}\n\n[]\n{"a":\n\0\0\n{"long":"xxxxxxxxxxxx"}\n{"b":2}');
  const found = await collected(records(path, { lineBytesMax: 10 }));
  expect(found.map((record) => (record.ok ? record.value : record.reason))).toEqual([
    { a: 1 },
    "blank",
    "not-object",
    "not-json",
    "nul-bytes",
    "too-long",
    { b: 2 },
  ]);
  expect(found.map(({ lineNumber }) => lineNumber)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect([...recordsSync(path, { lineBytesMax: 10 })]).toEqual(found);
});

it("law: lines and records are those of a plain split, for every chunk size", async () => {
  const part = fc.oneof(
    fc.constantFrom("\n", "\r\n", "\n\n", "ab", '{"a":"漢"}\n', bom),
    fc.string({ unit: "binary", maxLength: 10 }),
  );
  const directory = temporaryDirectory();
  let files = 0;
  const size = fc.integer({ min: 1, max: 30 });
  const content = fc.array(part, { maxLength: 12 }).map((parts) => Buffer.from(parts.join("")));
  await fc.assert(
    fc.asyncProperty(content, size, size, async (bytes, chunkBytes, lineBytesMax) => {
      const path = join(directory, `${files++}.jsonl`);
      writeFileSync(path, bytes);
      const joined = await collected(lines(path, { chunkBytes }));
      const { lines: split, rest } = splitLines(bytes);
      const texts = split.map(({ text, offset }) => [text, offset]);
      const last = rest.length > 0 ? [[rest.toString("latin1"), bytes.length - rest.length]] : [];
      expect(joined.map((line) => [line.bytes?.toString("latin1"), line.offset])).toEqual([
        ...texts,
        ...last,
      ]);
      const options = { chunkBytes, lineBytesMax };
      const found = await collected(records(path, options));
      expect([...recordsSync(path, options)]).toEqual(found);
      const places = (list: readonly FileLine[]) =>
        list.map(({ offset, length }) => [offset, length]);
      expect(places(found)).toEqual(places(joined));
    }),
    { numRuns: 150 },
  );
});

const readers = [
  ["lines", lines],
  ["records", records],
  ["recordsSync", recordsSync],
] as const;

describe.each(readers)("%s", (_, read) => {
  it("the reader closes its file at the end, at an early return and at an error", async () => {
    const path = temporaryFile("a\nb\nc\n");
    const before = nextDescriptor(path);
    for await (const line of read(path)) expect(line.terminated).toBe(true);
    expect(nextDescriptor(path)).toBe(before);
    for await (const line of read(path, { chunkBytes: 1 })) {
      expect(line.length).toBe(1);
      break;
    }
    expect(nextDescriptor(path)).toBe(before);
    const failing = async () => {
      for await (const line of read(path)) throw new Error(`at ${line.offset}`);
    };
    await expect(failing()).rejects.toThrow("at ");
    expect(nextDescriptor(path)).toBe(before);
  });

  it("the reader opens nothing before the first pull", async () => {
    const path = temporaryFile("a\n");
    const before = nextDescriptor(path);
    const unused = read(path);
    expect(nextDescriptor(path)).toBe(before);
    await unused.return();
  });

  it("the reader throws the reason and closes the file when the signal aborts", async () => {
    const path = temporaryFile("a\nb\nc\n");
    const before = nextDescriptor(path);
    const controller = new AbortController();
    const reason = new Error("enough");
    let seen = 0;
    const reading = async () => {
      for await (const line of read(path, { signal: controller.signal })) {
        seen += line.length;
        controller.abort(reason);
      }
    };
    await expect(reading()).rejects.toBe(reason);
    expect(seen).toBe(1);
    await expect(reading()).rejects.toBe(reason);
    expect(nextDescriptor(path)).toBe(before);
  });

  it("the reader throws the error of the file system", async () => {
    const directory = temporaryDirectory();
    const missing = async () => {
      for await (const line of read(join(directory, "none"))) expect(line).toBeUndefined();
    };
    await expect(missing()).rejects.toThrow("ENOENT");
    const folder = join(directory, "folder");
    mkdirSync(folder);
    // Some file systems give an empty directory the size 0.
    writeFileSync(join(folder, "file"), "");
    const unreadable = async () => {
      for await (const line of read(folder)) expect(line).toBeUndefined();
    };
    await expect(unreadable()).rejects.toThrow("EISDIR");
  });

  it("the reader ends early when the file shrinks during the read", async () => {
    const path = temporaryFile("aaaa\nbbbb\ncccc\n");
    let seen = 0;
    for await (const line of read(path, { chunkBytes: 5 })) {
      seen += 1;
      expect(line.length).toBe(4);
      truncateSync(path, 0);
    }
    expect(seen).toBeGreaterThan(0);
    expect(seen).toBeLessThan(3);
  });
});
