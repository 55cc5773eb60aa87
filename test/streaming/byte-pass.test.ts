/** Reading as steps: both drivers find the same, and neither reads more than it has to. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fill, reusedBuffers, runPassSync, runReads, runReadsSync } from "@branchlog/streaming";
import type { Pass } from "@branchlog/streaming";
import { chunkPass, mapPass } from "../../packages/streaming/src/byte-pass.ts";
import { runPass } from "../../packages/streaming/src/pass-driver.ts";
import { MemorySource } from "./support/memory-source.ts";

const bytes = Buffer.from("0123456789abcdefghij");

/** Finds each byte of the source, made only when it is taken. */
function bytePass(to: number, chunkBytes: number): Pass<string> {
  const chunks = chunkPass({ from: 0, to, chunkBytes }, reusedBuffers(2));
  return mapPass(chunks, function* characters(found) {
    for (const chunk of found) yield* chunk.toString();
  });
}

async function collect(items: AsyncIterable<string>): Promise<string> {
  let all = "";
  for await (const item of items) all += item;
  return all;
}

describe("reading with a result", () => {
  it("fill repeats short reads, and returns fewer bytes when the source ends", async () => {
    const source = new MemorySource(bytes, { readBytesMax: 3 });
    const whole = runReadsSync(source, fill(Buffer.alloc(8), 4));
    expect(whole.toString()).toBe("456789ab");
    const rest = await runReads(source, fill(Buffer.alloc(8), 16));
    expect(rest.toString()).toBe("ghij");
    expect(runReadsSync(source, fill(Buffer.alloc(8), 20))).toHaveLength(0);
  });

  it("both drivers throw the error of the source", async () => {
    const error = new Error("EIO");
    const source = new MemorySource(bytes, {
      onRead: () => {
        throw error;
      },
    });
    expect(() => runReadsSync(source, fill(Buffer.alloc(1), 0))).toThrow(error);
    await expect(runReads(source, fill(Buffer.alloc(1), 0))).rejects.toBe(error);
  });
});

describe("a pass", () => {
  it("a pass reads no further than is pulled, and one read further with read-ahead", async () => {
    const wanted = 5;
    const readsFor = async (items: AsyncIterable<string> | Iterable<string>): Promise<number> => {
      let taken = 0;
      for await (const item of items) if (item !== "" && (taken += 1) === wanted) break;
      return taken;
    };
    const sources = [0, 1, 2].map(() => new MemorySource(bytes));
    const [first, second, third] = sources;
    if (!first || !second || !third) return;
    await readsFor(runPassSync(first, bytePass(bytes.length, 4)));
    await readsFor(runPass(second, bytePass(bytes.length, 4)));
    await readsFor(runPass(third, bytePass(bytes.length, 4), { readsAhead: true }));
    expect(sources.map(({ reads }) => reads)).toEqual([2, 2, 3]);
    expect(sources.map(({ inFlightMax }) => inFlightMax)).toEqual([0, 1, 1]);
    expect(third.isIdle).toBe(true);
  });

  it("a pass with read-ahead fails only after the results before the failure", async () => {
    const error = new Error("EIO");
    const onRead = (read: number): void => {
      if (read === 3) throw error;
    };
    const source = new MemorySource(bytes, { onRead });
    let seen = "";
    const reading = async (): Promise<void> => {
      const items = runPass(source, bytePass(bytes.length, 4), { readsAhead: true });
      for await (const item of items) seen += item;
    };
    await expect(reading()).rejects.toBe(error);
    expect(seen).toBe("01234567");
  });

  it("a pass throws the reason before the next read or result when the signal aborts", async () => {
    const reason = new Error("enough");
    const source = new MemorySource(bytes);
    const signal = AbortSignal.abort(reason);
    await expect(collect(runPass(source, bytePass(8, 4), { signal }))).rejects.toBe(reason);
    expect(() => [...runPassSync(source, bytePass(8, 4), signal)]).toThrow(reason);
    expect(source.reads).toBe(0);
    const controller = new AbortController();
    const items = runPassSync(source, bytePass(8, 4), controller.signal);
    expect(items.next().value).toBe("0");
    controller.abort(reason);
    expect(() => items.next()).toThrow(reason);
  });
});

describe("law: drivers, chunk sizes and short reads do not matter", () => {
  it("drivers, chunk sizes and short reads do not change the results", async () => {
    const sizes = fc.integer({ min: 1, max: 25 });
    const asked = fc.integer({ min: 0, max: 30 });
    await fc.assert(
      fc.asyncProperty(asked, sizes, sizes, async (to, chunkBytes, readBytesMax) => {
        const source = (): MemorySource => new MemorySource(bytes, { readBytesMax });
        const expected = bytes.subarray(0, to).toString();
        expect([...runPassSync(source(), bytePass(to, chunkBytes))].join("")).toBe(expected);
        for (const readsAhead of [false, true]) {
          const items = runPass(source(), bytePass(to, chunkBytes), { readsAhead });
          expect(await collect(items)).toBe(expected);
        }
      }),
      { numRuns: 100 },
    );
  });
});

describe("reusedBuffers", () => {
  it("reusedBuffers reuses its buffers, except for targets above the maximum", () => {
    const next = reusedBuffers(2, 100);
    const [first, second, third] = [next(10), next(100), next(10)];
    expect(third.buffer).toBe(first.buffer);
    expect(third.byteOffset).toBe(first.byteOffset);
    expect(second.length).toBe(100);
    const [long, other] = [next(101), next(101)];
    expect(long.buffer).not.toBe(other.buffer);
  });
});
