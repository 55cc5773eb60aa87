/**
 * Runs a function over a long list, yielding to the event loop, and ends it at an abort. `p-map`
 * rejects while calls are still running, and has no lanes.
 */
import { performance } from "node:perf_hooks";
import { setImmediate as nextIteration } from "node:timers/promises";
import { turnMsMax } from "./limits.ts";

/** How {@link mapConcurrently} runs. */
export interface ConcurrencyOptions {
  /** Calls in flight at the same time. */
  readonly atOnceMax: number;
  /** Starts no further call once aborted: the result rejects with the reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The results of `map` in the order of the items; calls start nearly in that order, each in one of
 * `atOnceMax` lanes, numbered from 0, that is free until it ends. The event loop runs meanwhile,
 * also if the calls do not wait for anything. After a failure or an
 * abort no call is started, and the first failure is thrown once those in flight have ended, so
 * no call is left running.
 */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  options: ConcurrencyOptions,
  map: (item: Item, index: number, lane: number) => Promise<Result>,
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
        results[index] = await map(item, index, lane);
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
 * The results of `map` in the order of the items, called for one after the other. Blocks for a few
 * milliseconds, or for one call, at a time. Rejects with what `map` throws, and with the signal's
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
    if (performance.now() - turnStartMs < turnMsMax) continue;
    await nextIteration();
    signal?.throwIfAborted();
    turnStartMs = performance.now();
  }
  return results;
}
