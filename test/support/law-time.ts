/**
 * Draws the cases of laws from the seed of the run, the same for every check of a change, and ends
 * a law that holds so far after 300 ms of them; `npm run test:soak` draws new values, and runs all.
 * A case that has begun ends: on any machine a law has one case, and none disturbs the next test.
 */
import {
  PreconditionFailure,
  configureGlobal,
  installGlobalPlugin,
  readConfigureGlobal,
} from "fast-check";
import type { Plugin } from "fast-check";
import { seed } from "./fault-seed.ts";

const lawMs = 300;
const isWhole = Symbol.for("branchlog every case");
/** Where this module was loaded several times. */
const isLimited = Symbol.for("branchlog limited");

const limit: Plugin<unknown> = (_, store) => {
  if (store.get<boolean>(isLimited) === true) return {};
  store.set(isLimited, true);
  let startMs: number | undefined;
  return {
    decorateRun: (run) => (value) => {
      startMs ??= performance.now();
      const isOver = performance.now() - startMs >= lawMs;
      if (!isOver || store.get<boolean>(isWhole) === true) return run(value);
      return new PreconditionFailure(true);
    },
  };
};

if (process.env["BRANCHLOG_SOAK"] === undefined) {
  configureGlobal({ ...readConfigureGlobal(), seed });
  installGlobalPlugin(limit);
}

/** For laws that count what they met: all of their cases in every run. */
export const everyCase: { readonly plugins: Plugin<unknown>[] } = {
  plugins: [
    (_, store) => {
      store.set(isWhole, true);
      return {};
    },
  ],
};
