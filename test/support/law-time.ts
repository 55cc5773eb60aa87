/**
 * Ends a law that holds so far after a second of random cases, so that the checks of every change
 * stay short; `npm run test:soak` runs all of them.
 */
import { configureGlobal, readConfigureGlobal } from "fast-check";

if (process.env["BRANCHLOG_SOAK"] === undefined) {
  // oxlint-disable-next-line typescript/no-deprecated -- plugins cannot be set for all assertions
  configureGlobal({ ...readConfigureGlobal(), interruptAfterTimeLimit: 1_000 });
}

/** For laws that count what they met: all of their cases in every run, for an hour at most. */
export const everyCase: { readonly interruptAfterTimeLimit: number } = {
  interruptAfterTimeLimit: 3_600_000,
};
