/**
 * Runs every check of the workspace: `node scripts/check.mjs`, or only some of them by name:
 * `node scripts/check.mjs lint types`. One line per check, the full output of those that failed,
 * a table, and last the line `N passed, N failed`, which counts tests and other checks together.
 * Exits with 1 if anything failed. Expects an installed workspace; `npm test` sees to that.
 */
import { rmSync } from "node:fs";

import { Report } from "./checks/report.mjs";
import { runSteps, stopChildren } from "./checks/run-steps.mjs";
import { createSteps, selectSteps } from "./checks/steps.mjs";

const { steps, scratch } = createSteps();

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => {
    stopChildren();
    rmSync(scratch, { recursive: true, force: true });
    process.exit(1);
  });
}

try {
  const report = new Report(process.stdout, process.env);
  const results = await runSteps(selectSteps(steps, process.argv.slice(2)), {
    onResult: (result) => report.step(result),
  });
  process.exitCode = report.summary(results) ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
