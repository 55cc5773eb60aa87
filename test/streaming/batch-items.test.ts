/** Batches handed out item by item: what an async generator over them would do. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { itemsOf } from "@branchlog/streaming";

/** Batches, and whether they were begun and ended. */
class Source {
  isBegun = false;
  isEnded = false;

  async *batches<T>(batches: readonly Iterable<T>[]): AsyncGenerator<Iterable<T>, void, undefined> {
    this.isBegun = true;
    try {
      for (const batch of batches) {
        await Promise.resolve();
        yield batch;
      }
    } finally {
      await Promise.resolve();
      this.isEnded = true;
    }
  }
}

/** What {@link itemsOf} replaces. */
async function* plainItems<T>(
  batches: AsyncIterable<Iterable<T>>,
): AsyncGenerator<T, void, undefined> {
  for await (const batch of batches) {
    for (const item of batch) yield item;
  }
}

function* failingAfter<T>(items: readonly T[], error: Error): Generator<T> {
  yield* items;
  throw error;
}

type Call = "next" | "return" | "throw";

/** The outcomes of calls that do not wait for one another. */
async function outcomes(
  items: AsyncGenerator<number, void, undefined>,
  calls: readonly Call[],
): Promise<readonly unknown[]> {
  const answers = calls.map((call) => {
    if (call === "next") return items.next();
    return call === "return" ? items.return() : items.throw(new Error("thrown"));
  });
  const settled = await Promise.allSettled(answers);
  return settled.map((one) => (one.status === "fulfilled" ? one.value : String(one.reason)));
}

it("itemsOf makes each item when it is pulled", async () => {
  let made = 0;
  function* batch(): Generator<number> {
    for (let i = 0; i < 10; i += 1) yield (made += 1);
  }
  for await (const item of itemsOf(new Source().batches([batch()]))) if (item === 3) break;
  expect(made).toBe(3);
});

it("itemsOf ends the batches at an early return, at disposal and when an item throws", async () => {
  const left = new Source();
  for await (const item of itemsOf(left.batches([[1, 2]]))) if (item === 1) break;
  expect(left.isEnded).toBe(true);

  const disposed = new Source();
  const items = itemsOf(disposed.batches([[1, 2]]));
  await items.next();
  await items[Symbol.asyncDispose]();
  expect(disposed.isEnded).toBe(true);

  const failed = new Source();
  const error = new Error("unreadable");
  const failing = itemsOf(failed.batches([failingAfter([1], error), [2]]));
  expect(await failing.next()).toEqual({ done: false, value: 1 });
  await expect(failing.next()).rejects.toBe(error);
  expect(failed.isEnded).toBe(true);
  expect(await failing.next()).toEqual({ done: true, value: undefined });
});

it("itemsOf throws the reason before the next item when the signal aborts", async () => {
  const source = new Source();
  const controller = new AbortController();
  const items = itemsOf(source.batches([[1, 2], [3]]), controller.signal);
  expect(await items.next()).toEqual({ done: false, value: 1 });
  const reason = new Error("enough");
  controller.abort(reason);
  await expect(items.next()).rejects.toBe(reason);
  expect(source.isEnded).toBe(true);
  expect(await items.next()).toEqual({ done: true, value: undefined });
});

it("law: itemsOf equals an async generator for any batches and concurrent calls", async () => {
  const batches = fc.array(fc.array(fc.integer(), { maxLength: 3 }), { maxLength: 4 });
  const call = fc.constantFrom<Call>("next", "next", "next", "next", "return", "throw");
  const calls = fc.array(call, { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(batches, calls, fc.nat(4), async (lists, asked, failing) => {
      const make = (): Iterable<number>[] =>
        lists.map((list, i) => (i === failing ? failingAfter(list, new Error("bad")) : list));
      const [source, plain] = [new Source(), new Source()];
      const found = await outcomes(itemsOf(source.batches(make())), asked);
      expect(found).toEqual(await outcomes(plainItems(plain.batches(make())), asked));
      expect([source.isBegun, source.isEnded]).toEqual([plain.isBegun, plain.isEnded]);
    }),
    { numRuns: 300 },
  );
});
