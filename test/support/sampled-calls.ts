/**
 * For tests that try something at each call of an operation until there is none left: a sample of
 * the calls, and all of them in a soak.
 */
import { createRandom } from "@branchlog/bench/generator";
import { runs, seed } from "./fault-seed.ts";

/**
 * Attempts with n = 0, the last n, and one of `usual` between them, drawn from the seed of the run.
 * The attempt says whether the operation had an n-th call. Returns the number of calls tried.
 */
export async function sampledCalls(
  usual: number,
  attempt: (n: number) => boolean | Promise<boolean>,
): Promise<number> {
  const stride = runs(usual, 1);
  const random = createRandom(seed);
  let tried = 0;
  let last = -1;
  let end: number | undefined;
  while (end === undefined || last + 1 < end) {
    // Where the calls end is not known before: the range that holds the last one is halved.
    const next =
      end === undefined
        ? last + 1 + (last < 0 ? 0 : random.below(stride * 2 - 1))
        : Math.floor((last + end) / 2);
    if (await attempt(next)) {
      tried += 1;
      last = next;
    } else end = next;
  }
  return tried;
}
