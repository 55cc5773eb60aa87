/** How many elements of arrays are copied by `slice`, which is how trees of arrays change. */
import { vi } from "vitest";

/** Counts the elements that are copied while `work` runs. */
export async function copiedBy(work: () => unknown): Promise<number> {
  const slices = vi.spyOn(Array.prototype, "slice");
  await work();
  const lengths = slices.mock.results.map(({ value }) => (Array.isArray(value) ? value.length : 0));
  slices.mockRestore();
  return lengths.reduce((sum, length) => sum + length, 0);
}
