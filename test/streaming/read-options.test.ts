/** Options of the readers: misspelt names, and sizes that would make reading endless. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import * as streaming from "@branchlog/streaming";
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

/** Cast: the compiler refuses a misspelt option. */
const misspelt = (name: string): never => ({ [name]: 1 }) as never;

async function* noBytes(): AsyncGenerator<Uint8Array> {}

const calls: Readonly<Record<string, readonly [string, () => unknown]>> = {
  lines: ["chunkBytes", () => streaming.lines("none", misspelt("chunkByte"))],
  records: ["lineBytesMax", () => streaming.records("none", misspelt("lineBytes"))],
  recordsSync: ["signal", () => streaming.recordsSync("none", misspelt("sginal"))],
  readShallow: ["open", () => streaming.readShallow([], misspelt("opn"))],
  bodyStream: ["signal", () => streaming.bodyStream(noBytes(), misspelt("signl")).next()],
  pick: ["valueBytesMax", () => streaming.pick(noBytes(), [], misspelt("valueBytes"))],
};

it.each(Object.entries(calls))(
  "a misspelt option is a TypeError when it is given to %s",
  async (_, [meant, call]) => {
    await expect((async () => call())()).rejects.toBeInstanceOf(TypeError);
    await expect((async () => call())()).rejects.toMatchObject({
      code: "ERR_INVALID_ARGUMENT",
      message: expect.stringContaining(`Did you mean "${meant}"?`) as unknown,
    });
  },
);
