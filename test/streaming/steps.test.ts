/** Steps: both drivers do and find the same, and neither reads more than it has to. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  fill,
  io,
  items,
  itemsSync,
  pause,
  portStep,
  readOf,
  readingAhead,
  reusedBuffers,
  runAsync,
  runSync,
} from "@branchlog/streaming";
import type { Answer, ByteSource, FindingSteps, Steps } from "@branchlog/streaming";
import { chunks } from "../../packages/streaming/src/reads.ts";
import { MemorySource } from "./support/memory-source.ts";

const bytes = Buffer.from("0123456789abcdefghij");

/** Finds each byte of the source, made only when it is taken. */
function* letters(source: ByteSource, to: number, chunkBytes: number): FindingSteps<string> {
  const range = { from: 0, to, chunkBytes, readsAhead: false };
  const found = function* found(chunk: Buffer): Generator<string> {
    yield* chunk.toString();
  };
  yield* chunks(source, range, reusedBuffers(2), (chunk) => ({
    kind: "found",
    found: found(chunk),
  }));
}

async function collect(found: AsyncIterable<string>): Promise<string> {
  let all = "";
  for await (const item of found) all += item;
  return all;
}

describe("reading with a result", () => {
  it("fill repeats short reads, and returns fewer bytes when the source ends", async () => {
    const source = new MemorySource(bytes, { readBytesMax: 3 });
    const whole = runSync(fill(readOf(source, Buffer.alloc(8), 4)));
    expect(whole.toString()).toBe("456789ab");
    const rest = await runAsync(fill(readOf(source, Buffer.alloc(8), 16)));
    expect(rest.toString()).toBe("ghij");
    expect(runSync(fill(readOf(source, Buffer.alloc(8), 20)))).toHaveLength(0);
  });

  it("both drivers throw the error of the source", async () => {
    const error = new Error("EIO");
    const source = new MemorySource(bytes, {
      onRead: () => {
        throw error;
      },
    });
    expect(() => runSync(fill(readOf(source, Buffer.alloc(1), 0)))).toThrow(error);
    await expect(runAsync(fill(readOf(source, Buffer.alloc(1), 0)))).rejects.toBe(error);
  });
});

describe("steps that find", () => {
  it("steps read no further than is pulled, and one read further with read-ahead", async () => {
    const wanted = 5;
    const readsFor = async (found: AsyncIterable<string> | Iterable<string>): Promise<number> => {
      let taken = 0;
      for await (const item of found) if (item !== "" && (taken += 1) === wanted) break;
      return taken;
    };
    const sources = [0, 1, 2].map(() => new MemorySource(bytes));
    const [first, second, third] = sources;
    if (!first || !second || !third) return;
    await readsFor(itemsSync(letters(first, bytes.length, 4)));
    await readsFor(items(letters(second, bytes.length, 4)));
    await readsFor(items(readingAhead(letters(third, bytes.length, 4))));
    expect(sources.map(({ reads }) => reads)).toEqual([2, 2, 3]);
    expect(sources.map(({ inFlightMax }) => inFlightMax)).toEqual([0, 1, 1]);
    expect(third.isIdle).toBe(true);
  });

  it("steps with read-ahead fail only after the results before the failure", async () => {
    const error = new Error("EIO");
    const onRead = (read: number): void => {
      if (read === 3) throw error;
    };
    const source = new MemorySource(bytes, { onRead });
    let seen = "";
    const reading = async (): Promise<void> => {
      const ahead = readingAhead(letters(source, bytes.length, 4));
      for await (const item of items(ahead)) seen += item;
    };
    await expect(reading()).rejects.toBe(error);
    expect(seen).toBe("01234567");
  });

  it("steps end with the reason before the next read or result when the signal aborts", async () => {
    const reason = new Error("enough");
    const source = new MemorySource(bytes);
    const signal = AbortSignal.abort(reason);
    await expect(collect(items(letters(source, 8, 4), signal))).rejects.toBe(reason);
    expect(() => [...itemsSync(letters(source, 8, 4), signal)]).toThrow(reason);
    expect(source.reads).toBe(0);
    const controller = new AbortController();
    const found = itemsSync(letters(source, 8, 4), controller.signal);
    expect(found.next().value).toBe("0");
    controller.abort(reason);
    expect(() => found.next()).toThrow(reason);
  });
});

/**
 * Time that has passed once a wait is requested; the signal counts as with the clock of a machine.
 */
const clock = {
  waitedMs: 0,
  sleepSync: (ms: number) => {
    clock.waitedMs += ms;
  },
  sleep: async (ms: number, signal?: AbortSignal) => {
    signal?.throwIfAborted();
    clock.sleepSync(ms);
  },
};

describe("steps to a result", () => {
  it("wait by their clock, and pause only in the asynchronous driver", async () => {
    const seen: string[] = [];
    function* steps(): Steps<number> {
      yield portStep("stat");
      seen.push("begun");
      yield pause;
      seen.push("paused");
      yield { kind: "wait", clock, ms: 5 };
      return clock.waitedMs;
    }
    expect(runSync(steps())).toBe(5);
    const running = runAsync(steps());
    expect(seen.splice(0)).toEqual(["begun", "paused", "begun"]);
    expect(await running).toBe(10);
    expect(seen).toEqual(["paused"]);
  });

  it("get an answer from a port, later or at once, and the blocking driver only at once", async () => {
    const question = function* question(answer: () => Answer<number>): Steps<number> {
      try {
        return yield* io(answer);
      } catch (error) {
        if (error instanceof Error && error.message === "refused") return -1;
        throw error;
      }
    };
    const [now, later] = [() => 1, async () => 1];
    const refused = (): number => {
      throw new Error("refused");
    };
    expect([runSync(question(now)), runSync(question(refused))]).toEqual([1, -1]);
    expect(
      await Promise.all([now, later, refused].map((answer) => runAsync(question(answer)))),
    ).toEqual([1, 1, -1]);
    expect(() => runSync(question(later))).toThrow("does not block");
  });

  it("get the error of a read thrown into them, and can continue", async () => {
    const source = new MemorySource(bytes, {
      onRead: (read) => {
        if (read % 2 === 1) throw new Error("EIO");
      },
    });
    function* again(): Steps<string> {
      try {
        return (yield* fill(readOf(source, Buffer.alloc(2), 0))).toString();
      } catch {
        return (yield* fill(readOf(source, Buffer.alloc(2), 2))).toString();
      }
    }
    expect(runSync(again())).toBe("23");
    expect(await runAsync(again())).toBe("23");
  });

  it("clean up when they are aborted, and fail with the reason, not their own error", async () => {
    const controller = new AbortController();
    let isClean = false;
    function* wrapping(): Steps<void> {
      try {
        yield pause;
        controller.abort("enough");
        yield { kind: "wait", clock, ms: 1 };
      } catch (cause) {
        throw new Error("wrapped", { cause });
      } finally {
        isClean = true;
      }
    }
    await expect(runAsync(wrapping(), controller.signal)).rejects.toBe("enough");
    expect(isClean).toBe(true);
  });

  it("start several reads ahead, of which none is pending when they fail or end", async () => {
    for (const failing of [0, 1, 2, 3]) {
      const source = new MemorySource(bytes, {
        onRead: (read) => {
          if (read === failing) throw new Error("EIO");
        },
      });
      let isIdleAtEnd = false;
      const ahead = function* ahead(): Steps<string> {
        try {
          const reads = [0, 1, 2].map((at) => readOf(source, Buffer.alloc(1), at));
          for (const read of reads) yield { kind: "ahead", read };
          let text = "";
          for (const read of reads) text += (yield* fill(read)).toString();
          return text;
        } finally {
          isIdleAtEnd = source.isIdle;
        }
      };
      if (failing === 0) expect(await runAsync(ahead())).toBe("012");
      else await expect(runAsync(ahead())).rejects.toThrow("EIO");
      expect([isIdleAtEnd, source.inFlightMax]).toEqual([true, 3]);
    }
  });
});

it("law: drivers, chunk sizes and short reads do not change the results", async () => {
  const sizes = fc.integer({ min: 1, max: 25 });
  const asked = fc.integer({ min: 0, max: 30 });
  await fc.assert(
    fc.asyncProperty(asked, sizes, sizes, async (to, chunkBytes, readBytesMax) => {
      const source = (): MemorySource => new MemorySource(bytes, { readBytesMax });
      const expected = bytes.subarray(0, to).toString();
      expect([...itemsSync(letters(source(), to, chunkBytes))].join("")).toBe(expected);
      for (const changed of [(steps: FindingSteps<string>) => steps, readingAhead]) {
        const steps = changed(letters(source(), to, chunkBytes));
        expect(await collect(items(steps))).toBe(expected);
      }
    }),
    { numRuns: 100 },
  );
});

it("reusedBuffers reuses its buffers, except for targets above the maximum", () => {
  const next = reusedBuffers(2, 100);
  const [first, second, third] = [next(10), next(100), next(10)];
  expect(third.buffer).toBe(first.buffer);
  expect(third.byteOffset).toBe(first.byteOffset);
  expect(second.length).toBe(100);
  const [long, other] = [next(101), next(101)];
  expect(long.buffer).not.toBe(other.buffer);
});
