/** Bounded concurrency: order, bound, and an end without stragglers. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { turnMsMax } from "../../../packages/library/src/catalog/limits.ts";
import { mapConcurrently } from "../../../packages/library/src/catalog/map-concurrently.ts";

/** Lets other microtasks run, so often. */
async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await Promise.resolve();
}

describe("mapping concurrently", () => {
  it("returns results in order, never exceeds its bound, and keeps one call per lane", async () => {
    const delays = fc.array(fc.nat({ max: 5 }), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(delays, fc.integer({ min: 1, max: 6 }), async (items, atOnceMax) => {
        const busy = new Set<number>();
        let most = 0;
        const results = await mapConcurrently(items, { atOnceMax }, async (item, index, lane) => {
          expect(busy.has(lane)).toBe(false);
          expect(lane).toBeLessThan(atOnceMax);
          busy.add(lane);
          most = Math.max(most, busy.size);
          await turns(item);
          busy.delete(lane);
          return [item, index];
        });
        expect(results).toEqual(items.map((item, index) => [item, index]));
        expect(most).toBeLessThanOrEqual(atOnceMax);
      }),
      { numRuns: 100 },
    );
  });

  it("yields to other work, also when no call waits", async () => {
    let others = 0;
    const count = (): void => {
      others += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    await mapConcurrently([...Array(20).keys()], { atOnceMax: 2 }, async () => {
      const startMs = performance.now();
      while (performance.now() - startMs < turnMsMax);
    });
    clearImmediate(next);
    expect(others).toBeGreaterThan(3);
  });

  it("throws the first failure once calls in flight have ended, and starts no other", async () => {
    const started: number[] = [];
    const ended: number[] = [];
    const failure = new Error("second");
    const run = mapConcurrently([0, 1, 2, 3, 4, 5], { atOnceMax: 3 }, async (item) => {
      started.push(item);
      await turns(item === 1 ? 1 : 10);
      ended.push(item);
      if (item === 1) throw failure;
    });
    await expect(run).rejects.toBe(failure);
    expect(started).toEqual([0, 1, 2]);
    expect(new Set(ended)).toEqual(new Set([0, 1, 2]));
  });

  it("starts nothing after an abort, and throws its reason even for an empty list", async () => {
    const controller = new AbortController();
    const options = { atOnceMax: 2, signal: controller.signal };
    const started: number[] = [];
    const run = mapConcurrently([0, 1, 2, 3], options, async (item) => {
      started.push(item);
      if (item === 1) controller.abort(new Error("enough"));
      await turns(1);
    });
    await expect(run).rejects.toThrow("enough");
    expect(started).toEqual([0, 1]);
    await expect(mapConcurrently([], options, turns)).rejects.toThrow("enough");
  });
});
