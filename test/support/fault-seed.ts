/**
 * The seed of a run, and how long it is: the checks of a change draw the same each time, so that
 * only the change can fail them; a soak run, which BRANCHLOG_SOAK makes long, draws new values, and
 * BRANCHLOG_SEED repeats one that failed. Tests that draw from the seed say it in their titles.
 */
const fixedSeed = 20_261_128;

/** The seed of this run. */
export const seed: number = Number(
  process.env["BRANCHLOG_SEED"] ?? runs(fixedSeed, Date.now() % 1_000_000_000),
);

/** For tests that take long on a busy machine: only to end a run that does not end. */
export const patience: { readonly timeout: number } = { timeout: runs(300_000, 7_200_000) };

/** So many in the continuous build, so many in a soak run. */
export function runs(usual: number, soak: number): number {
  return process.env["BRANCHLOG_SOAK"] === undefined ? usual : soak;
}
