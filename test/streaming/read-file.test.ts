/** Reading files forward and backward: the same lines, bounded work, descriptors closed. */
import fc from "fast-check";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  type AnyFileLine,
  lines,
  linesBackward,
  linesBackwardSync,
  linesSync,
  records,
  recordsSync,
  runPassSync,
} from "@branchlog/streaming";
import { backwardPass } from "../../packages/streaming/src/backward-pass.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { splitLines } from "./support/collected-lines.ts";
import { MemorySource } from "./support/memory-source.ts";
import { nextDescriptor } from "./support/resources.ts";

const bom = "\ufeff";

function fileWith(content: string | Buffer): string {
  const path = join(temporaryDirectory(), "lines.jsonl");
  writeFileSync(path, content);
  return path;
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

function withoutNumber(line: AnyFileLine): AnyFileLine {
  const { bytes, long, offset, length, terminated } = line;
  return { bytes, long, offset, length, terminated };
}

describe("lines", () => {
  it("lines have offsets, lengths and numbers; an unterminated last one is marked", async () => {
    const path = fileWith(`${bom}{"a":1}\r\n\n{"b":2}`);
    const expected = [
      { bytes: Buffer.from('{"a":1}\r'), offset: 3, length: 8, lineNumber: 1, terminated: true },
      { bytes: Buffer.alloc(0), offset: 12, length: 0, lineNumber: 2, terminated: true },
      { bytes: Buffer.from('{"b":2}'), offset: 13, length: 7, lineNumber: 3, terminated: false },
    ].map((line) => ({ ...line, long: null }));
    expect([...linesSync(path)]).toEqual(expected);
    expect(await collect(lines(path))).toEqual(expected);
  });

  it("lines of a range start and end at the given offsets", () => {
    const path = fileWith("ab\ncd\nef\n");
    expect([...linesSync(path, { from: 3 })].map(({ offset }) => offset)).toEqual([3, 6]);
    expect([...linesSync(path, { from: 3, to: 7 })].map(({ terminated }) => terminated)).toEqual([
      true,
      false,
    ]);
    expect([...linesBackwardSync(path, { from: 3 })].map(({ offset }) => offset)).toEqual([6, 3]);
    expect([...linesBackwardSync(path, { to: 7 })].map(({ offset }) => offset)).toEqual([6, 3, 0]);
  });

  it("an empty file has no lines", async () => {
    for (const path of [fileWith(""), fileWith(bom)]) {
      expect([...linesSync(path)]).toEqual([]);
      expect(await collect(lines(path))).toEqual([]);
      expect([...linesBackwardSync(path)]).toEqual([]);
      expect(await collect(linesBackward(path))).toEqual([]);
    }
  });

  it("lines stay unchanged after further reads", () => {
    const path = fileWith("aa\nbb\ncc\n");
    const kept = [...linesSync(path, { chunkBytes: 3 })];
    expect(kept.map(({ bytes }) => bytes?.toString())).toEqual(["aa", "bb", "cc"]);
  });

  it("lines above the maximum are described in both directions", async () => {
    const path = fileWith(`short\n${"x".repeat(100)}\nshort\n${"y".repeat(200)}`);
    const options = { lineBytesMax: 50, chunkBytes: 16 };
    const forward = [...linesSync(path, options)];
    expect(forward.map(({ long }) => long?.length)).toEqual([undefined, 100, undefined, 200]);
    expect(forward.map(({ long }) => long?.terminated)).toEqual([
      undefined,
      true,
      undefined,
      false,
    ]);
    const backward = await collect(linesBackward(path, options));
    expect(backward.reverse()).toEqual(forward.map(withoutNumber));
  });
});

describe("records", () => {
  it("records are decoded lines, or lines with the reason why they are not records", async () => {
    const path = fileWith('{"a":1}\n\n[]\n{"a":\n\0\0\n{"long":"xxxxxxxxxxxx"}\n{"b":2}');
    const found = await collect(records(path, { lineBytesMax: 10 }));
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
});

describe("law: every direction and chunk size gives the same lines", () => {
  it("forward is a plain split, backward is forward reversed", async () => {
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
        const joined = [...linesSync(path, { chunkBytes })];
        const { lines: split, rest } = splitLines(bytes);
        const texts = split.map(({ text, offset }) => [text, offset]);
        const last = rest.length > 0 ? [[rest.toString("latin1"), bytes.length - rest.length]] : [];
        expect(joined.map((line) => [line.bytes?.toString("latin1"), line.offset])).toEqual([
          ...texts,
          ...last,
        ]);
        const options = { chunkBytes, lineBytesMax };
        const forward = [...linesSync(path, options)];
        expect(await collect(lines(path, options))).toEqual(forward);
        const reversed = forward.map(withoutNumber).reverse();
        expect([...linesBackwardSync(path, options)]).toEqual(reversed);
        expect(await collect(linesBackward(path, options))).toEqual(reversed);
      }),
      { numRuns: 150 },
    );
  });
});

describe("work", () => {
  /** Finds so many lines of a file from its back and says how many bytes were read for them. */
  function bytesRead(file: Buffer, chunkBytes: number, linesWanted: number): number {
    const source = new MemorySource(file);
    let found = 0;
    for (const line of runPassSync(source, backwardPass(file.length, { chunkBytes }))) {
      found += line.terminated ? 1 : 0;
      if (found === linesWanted) break;
    }
    return source.bytesRead;
  }

  it.each([10, 999, 1000, 1001, 100_000])("backward reads each byte twice at most: %i", (size) => {
    const file = Buffer.from(`${"x".repeat(size)}\n`.repeat(Math.ceil(300_000 / size)));
    expect(bytesRead(file, 1000, Infinity)).toBeLessThanOrEqual(2 * file.length);
  });

  it("the last lines of a large file cost one chunk", () => {
    const file = Buffer.from(`${"x".repeat(99)}\n`.repeat(10_000));
    expect(bytesRead(file, 4096, 20)).toBe(4096);
  });
});

const readers = [
  ["lines", lines],
  ["linesSync", linesSync],
  ["records", records],
  ["recordsSync", recordsSync],
  ["linesBackward", linesBackward],
  ["linesBackwardSync", linesBackwardSync],
] as const;

describe.each(readers)("%s", (_, read) => {
  it("the reader closes its file at the end, at an early return and at an error", async () => {
    const path = fileWith("a\nb\nc\n");
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
    const path = fileWith("a\n");
    const before = nextDescriptor(path);
    const unused = read(path);
    expect(nextDescriptor(path)).toBe(before);
    await unused.return();
  });

  it("the reader throws the reason and closes the file when the signal aborts", async () => {
    const path = fileWith("a\nb\nc\n");
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

  it("the reader ends early when the file shrinks meanwhile", async () => {
    const path = fileWith("aaaa\nbbbb\ncccc\n");
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
