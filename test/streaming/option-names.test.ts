/** Misspelt options of the readers: refused before a file is opened. */
import { describe, expect, it } from "vitest";
import * as streaming from "@branchlog/streaming";

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

describe("a misspelt option", () => {
  it.each(Object.entries(calls))(
    "is a TypeError when it is given to %s",
    async (_, [meant, call]) => {
      await expect((async () => call())()).rejects.toBeInstanceOf(TypeError);
      await expect((async () => call())()).rejects.toMatchObject({
        code: "ERR_INVALID_ARGUMENT",
        message: expect.stringContaining(`Did you mean "${meant}"?`) as unknown,
      });
    },
  );
});
