/**
 * What a soak run tries exhaustively, a run samples: one of each of so many parts of equal size,
 * drawn from the seed of the run, and always the first and the last.
 */
import { createRandom } from "@branchlog/bench/generator";
import { runs, seed } from "./fault-seed.ts";

/**
 * `usual` of the numbers from `from` up to and without `to`, ascending; all of them in a soak. Other
 * numbers for each `stream`.
 */
export function sampled(from: number, to: number, usual: number, stream = 0): readonly number[] {
  const count = Math.max(0, to - from);
  const parts = Math.min(count, runs(usual, count));
  const random = createRandom(seed, stream);
  const startOf = (part: number): number => from + Math.floor((part * count) / parts);
  return Array.from({ length: parts }, (_, part) => {
    if (part === 0) return from;
    if (part === parts - 1) return to - 1;
    return startOf(part) + random.below(startOf(part + 1) - startOf(part));
  });
}

/** The same of a list. */
export function sampleOf<T>(all: readonly T[], usual: number, stream = 0): readonly T[] {
  const places = new Set(sampled(0, all.length, usual, stream));
  return all.filter((_, at) => places.has(at));
}
