/** Sizes and places to read by: what is none is refused, before it makes reading endless. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  followFile,
  linesBackward,
  linesSync,
  records,
  type ReadFileOptions,
} from "@branchlog/streaming";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const unusable: readonly unknown[] = [
  { chunkBytes: 0 },
  { chunkBytes: -1 },
  { chunkBytes: 0.5 },
  { chunkBytes: Number.NaN },
  { chunkBytes: "8" },
  { lineBytesMax: 0 },
  { lineBytesMax: Number.NaN },
  { from: -1 },
  { from: 1.5 },
];

describe("reading", () => {
  it.each(unusable.map((one) => [JSON.stringify(one), one]))(
    "readers reject %s, forwards, backwards and following",
    async (_, given) => {
      const path = join(temporaryDirectory(), "lines.jsonl");
      writeFileSync(path, '{"n":1}\n{"n":2}\n');
      // A caller without types.
      const options = given as ReadFileOptions;
      await expect(records(path, options).next()).rejects.toThrow(RangeError);
      await expect(linesBackward(path, options).next()).rejects.toThrow(RangeError);
      await expect(followFile(path, options).next()).rejects.toThrow(RangeError);
      expect(() => linesSync(path, options).next()).toThrow(RangeError);
    },
  );

  it("readers reject a poll of 0 ms, and accept an infinite line length", async () => {
    const path = join(temporaryDirectory(), "lines.jsonl");
    writeFileSync(path, '{"n":1}\n');
    expect(() => followFile(path, { pollMs: 0 })).toThrow(RangeError);
    const [line] = linesSync(path, { lineBytesMax: Infinity, chunkBytes: 1 });
    expect(line?.bytes?.toString()).toBe('{"n":1}');
  });
});
