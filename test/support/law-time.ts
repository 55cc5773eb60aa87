/**
 * Draws the cases of laws from the seed of the run, the same for every check of a change, and ends
 * a law that holds so far after 300 ms of them; `npm run test:soak` draws anew, and runs all. A case
 * that began is never cut off, however slow the machine is.
 */
import {
  PreconditionFailure,
  configureGlobal,
  installGlobalPlugin,
  readConfigureGlobal,
} from "fast-check";
import type { PluginStore } from "fast-check";
import { seed } from "./fault-seed.ts";

const lawMs = 300;
/** The same when this file is loaded again, as for each file of tests. */
const isUnlimited = Symbol.for("branchlog: a law without limit of time");

if (process.env["BRANCHLOG_SOAK"] === undefined) {
  configureGlobal({ ...readConfigureGlobal(), seed });
  installGlobalPlugin((index, store) => {
    if (index > 0) return {};
    let endMs: number | undefined;
    return {
      decorateRun: (run) => (value) => {
        endMs ??= performance.now() + lawMs;
        const isOver = performance.now() >= endMs && store.get(isUnlimited) !== true;
        return isOver ? new PreconditionFailure(true) : run(value);
      },
    };
  });
}

/** For laws that count what they met: all of their cases in every run. */
export const everyCase: {
  readonly plugins: ((index: number, store: PluginStore) => Readonly<Record<string, never>>)[];
} = {
  plugins: [
    (_, store) => {
      store.set(isUnlimited, true);
      return {};
    },
  ],
};
