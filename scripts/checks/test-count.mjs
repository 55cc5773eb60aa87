/** Counts the tests in the file that vitest's JSON reporter leaves behind. */
import { existsSync, readFileSync } from "node:fs";

/**
 * A test file that could not be loaded counts as one failure, and so does a run that failed
 * without a failed test (an unhandled error, a crash): a failed run never counts as none.
 * @param {string} path
 * @param {boolean} ok Whether vitest exited with 0.
 * @returns {import("./steps.mjs").Counts}
 */
export function countTests(path, ok) {
  if (!existsSync(path)) return { passed: 0, failed: ok ? 0 : 1, skipped: 0 };
  const results = JSON.parse(readFileSync(path, "utf8"));
  const unloaded = results.testResults.filter(
    (file) => file.status === "failed" && file.assertionResults.length === 0,
  ).length;
  const failed = results.numFailedTests + unloaded;
  return {
    passed: results.numPassedTests,
    failed: ok ? failed : Math.max(failed, 1),
    skipped: results.numPendingTests + results.numTodoTests,
  };
}
