/** How many elements of arrays are copied by `slice`, which is how trees of arrays change. */
import { vi } from "vitest";

/** Counts the elements that are copied while `work` runs. */
export function copiedBy(work: () => Promise<unknown>): Promise<number>;
export function copiedBy(work: () => unknown): number;
export function copiedBy(work: () => unknown): number | Promise<number> {
  const slices = vi.spyOn(Array.prototype, "slice");
  const copied = (): number => {
    const lengths = slices.mock.results.map(({ value }) =>
      Array.isArray(value) ? value.length : 0,
    );
    slices.mockRestore();
    return lengths.reduce((sum, length) => sum + length, 0);
  };
  const done = work();
  return done instanceof Promise ? done.then(copied) : copied();
}
