/** Frames of checkpoints as bytes, and checkpoints as files, whatever is saved in them. */
import { setImmediate as nextIteration } from "node:timers/promises";
import { crc32 } from "node:zlib";
import { describe, expect, it } from "vitest";
import { runAsync, runSync } from "@branchlog/streaming";
import type { ByteSource } from "@branchlog/streaming";
import { ManualClock, MemoryFileSystem, createMemoryPorts } from "@branchlog/core/testing";
import {
  beginCheckpoint,
  loadIndex,
  loadSumsSync,
} from "../../../packages/core/src/checkpoint/checkpoint-file.ts";
import { framePieces, readFrame } from "../../../packages/core/src/checkpoint/checkpoint-format.ts";
import type {
  FrameKind,
  FrameSchema,
} from "../../../packages/core/src/checkpoint/checkpoint-format.ts";

const kind: FrameKind = { mark: "SAMPLE", version: 7, textBytesMax: 64 };
const numbers = Uint32Array.from({ length: 5 }, (_, at) => at + 1);
const letters = Uint8Array.from(Buffer.from("abc"));

interface Sample {
  readonly text: unknown;
  readonly numbers: readonly number[];
  readonly letters: string;
  readonly spare: readonly number[];
}

const schema: FrameSchema<Sample> = {
  kind,
  begin: (text, columns) => {
    const taken = [columns.uint32(numbers.length), columns.uint8(letters.length)] as const;
    return () => ({
      text,
      numbers: [...taken[0].subarray(0, numbers.length)],
      letters: Buffer.from(taken[1].subarray(0, letters.length)).toString(),
      spare: [...taken[0].subarray(numbers.length), ...taken[1].subarray(letters.length)],
    });
  },
};

const json = { a: "1" };
const frame = frameOf(kind);
const headBytes = 24;

function frameOf(of: FrameKind, text: object = json, pieceBytes = 8): Buffer {
  const pieces = [...framePieces(of, { json: text, columns: [numbers, letters] }, pieceBytes)];
  return Buffer.concat(pieces);
}

/** The frame with other bytes at a place, and the checksum of what it is then. */
function changed(offset: number, ...bytes: readonly number[]): Buffer {
  const copy = Buffer.from(frame);
  copy.set(bytes, offset);
  copy.writeUInt32LE(crc32(copy.subarray(0, -8)), copy.length - 8);
  return copy;
}

function sourceOf(file: Buffer): Pick<ByteSource, "readSync"> & { readonly ends: number[] } {
  const ends: number[] = [];
  return {
    ends,
    readSync: (target, offset, length, position) => {
      ends.push(position + length);
      return file.copy(target, offset, position, position + length);
    },
  };
}

function read(file: Buffer, start = 0, of: FrameSchema<Sample> = schema): Sample | undefined {
  const { readSync } = sourceOf(file);
  const source = {
    readSync,
    read: async (...given: Parameters<typeof readSync>) => readSync(...given),
  };
  return runSync(readFrame(source, of, start, file.length));
}

describe("a frame", () => {
  it("gives what was saved, with spare room of zeros behind each column", () => {
    const found = read(frame);
    expect(found).toMatchObject({ text: json, numbers: [...numbers], letters: "abc" });
    expect(found?.spare.length).toBeGreaterThanOrEqual(16);
    expect(new Set(found?.spare)).toEqual(new Set([0]));
  });

  it("has parts that begin at multiples of 8, and no byte more", () => {
    const parts = [headBytes, JSON.stringify(json).length, numbers.byteLength, letters.byteLength];
    const aligned = parts.reduce((sum, length) => sum + Math.ceil(length / 8) * 8, 8);
    expect(frame).toHaveLength(aligned);
  });

  it("comes in pieces of at most the length that is asked for, none of them empty", () => {
    for (const pieceBytes of [8, 16, 1024]) {
      const pieces = [...framePieces(kind, { json, columns: [numbers, letters] }, pieceBytes)];
      const lengths = pieces.slice(1).map(({ length }) => length);
      expect(Math.max(...lengths)).toBeLessThanOrEqual(pieceBytes);
      expect(Math.min(...lengths)).toBeGreaterThan(0);
      expect(Buffer.concat(pieces)).toEqual(frame);
    }
  });

  it("is read where it begins in the file", () => {
    const before = Buffer.alloc(40, 1);
    expect(read(Buffer.concat([before, frame]), before.length)).toEqual(read(frame));
    expect(read(Buffer.concat([frame, before]))).toEqual(read(frame));
    expect(read(Buffer.concat([before, frame]), before.length + 8)).toBeUndefined();
  });

  it("is none with another mark, byte order or version, whatever its checksum", () => {
    for (let at = 0; at < 8; at += 1) expect(read(changed(at, 0x21))).toBeUndefined();
    for (const version of [6, 8, 0]) expect(read(changed(12, version))).toBeUndefined();
    expect(read(changed(12, kind.version))).toEqual(read(frame));
  });

  it("is none when it is cut anywhere, and nothing behind its end is read", () => {
    for (let length = 0; length < frame.length; length += 1) {
      const source = sourceOf(frame.subarray(0, length));
      const all = { ...source, read: async () => 0 };
      expect(runSync(readFrame(all, schema, 0, length))).toBeUndefined();
      expect(Math.max(0, ...source.ends)).toBeLessThanOrEqual(length);
    }
  });

  it("is none with lengths that do not agree, before anything is made of it", () => {
    const begun: unknown[] = [];
    const noting = {
      ...schema,
      begin: (...given: Parameters<typeof schema.begin>) => {
        begun.push(given[0]);
        return schema.begin(...given);
      },
    };
    // The frame longer than the file, shorter than its text; the text longer than allowed.
    for (const bytes of [frame.length + 8, headBytes + 8, 0]) {
      expect(read(changed(16, bytes), 0, noting)).toBeUndefined();
    }
    expect(read(changed(8, kind.textBytesMax + 1), 0, noting)).toBeUndefined();
    expect(begun).toEqual([]);
  });

  it("is none when it holds more columns than its schema takes, and throws when fewer", () => {
    const fewer: FrameSchema<Sample> = {
      ...schema,
      begin: (text, columns) => {
        columns.uint32(numbers.length);
        return () => ({ text, numbers: [], letters: "", spare: [] });
      },
    };
    expect(read(frame, 0, fewer)).toBeUndefined();
    const more: FrameSchema<Sample> = {
      ...schema,
      begin: (text, columns) => {
        columns.uint32(numbers.length + letters.length + 1);
        return schema.begin(text, columns);
      },
    };
    expect(() => read(frame, 0, more)).toThrow(RangeError);
  });

  it("has a text of at most the length of its kind, to the byte", () => {
    const longest = { a: "x".repeat(kind.textBytesMax - '{"a":""}'.length) };
    expect(read(frameOf(kind, longest))?.text).toEqual(longest);
    expect(() => frameOf(kind, { a: `${longest.a}x` })).toThrow(RangeError);
    const shorter = { ...kind, textBytesMax: kind.textBytesMax - 1 };
    expect(read(frameOf(kind, longest), 0, { ...schema, kind: shorter })).toBeUndefined();
  });

  it("is the same read ahead, whose last read has ended when it fails", async () => {
    const file = Buffer.concat([frame, Buffer.alloc(8)]);
    const { readSync } = sourceOf(file);
    let underWay = 0;
    let left = Number.POSITIVE_INFINITY;
    const source: ByteSource = {
      readSync,
      read: async (...given) => {
        const fails = (left -= 1) < 0;
        underWay += 1;
        await nextIteration();
        if (!fails) await nextIteration();
        underWay -= 1;
        if (fails) throw new Error("EIO");
        return readSync(...given);
      },
    };
    expect(await runAsync(readFrame(source, schema, 0, file.length))).toEqual(read(frame));
    for (let ok = 0; ok < 4; ok += 1) {
      left = ok;
      await expect(runAsync(readFrame(source, schema, 0, file.length))).rejects.toThrow("EIO");
      expect(underWay).toBe(0);
    }
  });
});

describe("the file of a checkpoint", () => {
  const path = "/s.jsonl.ckpt";

  it("is closed however loading ends", async () => {
    const fs = new MemoryFileSystem();
    const load = async (): Promise<unknown[]> => [
      runSync(loadIndex(fs, path, schema)),
      await runAsync(loadIndex(fs, path, schema)),
      loadSumsSync(fs, path, schema),
    ];
    expect(await load()).toEqual([undefined, undefined, undefined]);
    fs.writeFileSync(path, frame);
    expect((await load()).slice(0, 2)).toEqual([read(frame), read(frame)]);
    fs.writeFileSync(path, changed(0, 0));
    expect(await load()).toEqual([undefined, undefined, undefined]);
    fs.writeFileSync(path, frame);
    fs.onCall = ({ name }) => {
      if (name === "readSync" || name === "read") throw new Error("EIO");
      return undefined;
    };
    expect(await load()).toEqual([undefined, undefined, undefined]);
    fs.onCall = undefined;
    expect(fs.openCount).toBe(0);
  });

  it("takes the place of what killed processes left of it, after ten minutes, and of nothing else", () => {
    const clock = new ManualClock();
    const fs = new MemoryFileSystem();
    const ports = createMemoryPorts({ fs, clock });
    const begin = (of: string): string => {
      const file = beginCheckpoint(ports, of);
      file.close();
      return file.temporary;
    };
    const left = begin(path);
    const others = [begin("/other.jsonl.ckpt"), begin("/s.jsonl.ckpt2"), `${path}.kept`, path];
    for (const name of others.slice(2)) fs.writeFileSync(name, frame);
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
