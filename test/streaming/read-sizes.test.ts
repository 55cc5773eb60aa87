/** Sizes and places to read by: what is none is refused, before it makes reading endless. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { records, recordsSync } from "@branchlog/streaming";
import type { ReadFileOptions } from "@branchlog/streaming";
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
    "readers reject %s",
    async (_, given) => {
      const path = join(temporaryDirectory(), "lines.jsonl");
      writeFileSync(path, '{"n":1}\n{"n":2}\n');
      // A caller without types.
      const options = given as ReadFileOptions;
      await expect(records(path, options).next()).rejects.toThrow(RangeError);
      expect(() => recordsSync(path, options).next()).toThrow(RangeError);
    },
  );

  it("readers accept an infinite line length", async () => {
    const path = join(temporaryDirectory(), "lines.jsonl");
    writeFileSync(path, '{"n":1}\n');
    const [line] = recordsSync(path, { lineBytesMax: Infinity, chunkBytes: 1 });
    expect(line?.bytes?.toString()).toBe('{"n":1}');
  });
});
