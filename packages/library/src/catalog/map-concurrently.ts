/**
 * Maps long lists, yielding to the event loop, with abort. `p-map` rejects while calls are still
 * running, and has no lanes.
 */
import { performance } from "node:perf_hooks";
import { setImmediate as nextIteration } from "node:timers/promises";
import { turnMsMax } from "./limits.ts";

export interface ConcurrencyOptions {
  readonly atOnceMax: number;
  /** Once aborted, no call is started and the result rejects with the reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The results in order. Each call runs in a free lane, numbered from 0. After a failure or an abort
 * no call is started; it rejects once all running calls have ended.
 */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  options: ConcurrencyOptions,
  map: (item: Item, index: number, lane: number) => Promise<Result> | Result,
): Promise<Result[]> {
  const results: Result[] = [];
  const failures: unknown[] = [];
  const remaining = items.entries();
  let turnStartMs = performance.now();
  const run = async (lane: number): Promise<void> => {
    try {
      for (const [index, item] of remaining) {
        // Calls that never wait would not yield to the event loop.
        if (performance.now() - turnStartMs > turnMsMax) {
          await nextIteration();
          turnStartMs = performance.now();
        }
        options.signal?.throwIfAborted();
        if (failures.length > 0) return;
        const result = map(item, index, lane);
        // Thousands of files of a list are known already.
        results[index] = result instanceof Promise ? await result : result;
      }
    } catch (error) {
      failures.push(error);
    }
  };
  options.signal?.throwIfAborted();
  const lanes = Math.min(options.atOnceMax, items.length);
  await Promise.all(Array.from({ length: lanes }, (_, lane) => run(lane)));
  if (failures.length > 0) throw failures[0];
  return results;
}

/**
 * One call at a time, yielding every few ms. Rejects with what `map` throws, and the signal's
 * reason.
 */
export async function mapInBatches<Item, Result>(
  items: Iterable<Item>,
  signal: AbortSignal | undefined,
  map: (item: Item) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  let turnStartMs = performance.now();
  signal?.throwIfAborted();
  for (const item of items) {
    results.push(map(item));
    // Reading the clock takes as long as a short call.
    if (results.length % 8 !== 0 || performance.now() - turnStartMs < turnMsMax) continue;
    await nextIteration();
    signal?.throwIfAborted();
    turnStartMs = performance.now();
  }
  return results;
}
