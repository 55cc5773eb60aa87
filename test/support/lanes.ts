/** Runs many tests of processes, a few at once. */

/** As much at once as keeps two cores busy. */
const lanes = 3;

/** The results of `work` for 0, 1, … `count` - 1, in no particular order. */
export async function inLanes<T>(count: number, work: (at: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let at = next; at < count; at = next) {
      next += 1;
      results.push(await work(at));
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return results;
}
