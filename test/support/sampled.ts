/**
 * What a soak run tries exhaustively, a run samples: one of each of so many parts of equal size,
 * drawn from the seed of the run, and always the first and the last.
 */
import { createRandom } from "@branchlog/bench/generator";
import { runs, seed } from "./fault-seed.ts";

/** `usual` of the numbers from `from` up to and without `to`, ascending; all of them in a soak. */
export function sampled(from: number, to: number, usual: number): readonly number[] {
  const count = Math.max(0, to - from);
  const parts = Math.min(count, runs(usual, count));
  const random = createRandom(seed, count);
  return Array.from({ length: parts }, (_, part) => {
    const [start, end] = [0, 1].map((next) => Math.floor(((part + next) * count) / parts));
    if (part === 0) return from;
    if (part === parts - 1) return to - 1;
    return from + (start ?? 0) + random.below((end ?? 0) - (start ?? 0));
  });
}

/** The same of a list. */
export function sampleOf<T>(all: readonly T[], usual: number): readonly T[] {
  return sampled(0, all.length, usual).flatMap((at) => all.slice(at, at + 1));
}
