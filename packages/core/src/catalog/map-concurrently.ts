/** Runs an asynchronous function over a list, a bounded number of calls at a time. */

/** How {@link mapConcurrently} runs. */
export interface ConcurrencyOptions {
  /** Calls in flight at the same time. */
  readonly atOnceMax: number;
  /** Starts no further call once aborted: the result rejects with the reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The results of `map` in the order of the items; calls start in that order, each in one of
 * `atOnceMax` lanes, numbered from 0, that is free until it ends. After a failure or an
 * abort no call is started, and the first failure is thrown once those in flight have ended, so
 * nothing goes on behind the caller's back.
 */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  options: ConcurrencyOptions,
  map: (item: Item, index: number, lane: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const failures: unknown[] = [];
  const remaining = items.entries();
  const run = async (lane: number): Promise<void> => {
    try {
      for (const [index, item] of remaining) {
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
