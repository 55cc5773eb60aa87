/**
 * Draws the cases of laws from the seed of the run, the same for every check of a change, and ends
 * a law that holds so far after 300 ms of them; `npm run test:soak` draws anew, and runs all.
 */
import { configureGlobal, readConfigureGlobal } from "fast-check";
import { seed } from "./fault-seed.ts";

if (process.env["BRANCHLOG_SOAK"] === undefined) {
  // oxlint-disable-next-line typescript/no-deprecated -- plugins cannot be set for all assertions
  configureGlobal({ ...readConfigureGlobal(), seed, interruptAfterTimeLimit: 300 });
}

/** For laws that count what they met: all of their cases in every run, for an hour at most. */
export const everyCase: { readonly interruptAfterTimeLimit: number } = {
  interruptAfterTimeLimit: 3_600_000,
};
