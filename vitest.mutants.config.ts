import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer } from "vitest/node";
import type { TestSpecification } from "vitest/node";

/** By path: tests of single parts come before those of faults, which take longer. */
class ByPath extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files.toSorted((a, b) => (a.moduleId < b.moduleId ? -1 : 1)));
  }
}

// The tests that a run of Stryker in a copy of the workspace takes. There, the links in node_modules
// lead to the original, so the packages are named by their sources in the copy.
const source = (path: string): string =>
  fileURLToPath(new URL(`packages/${path}`, import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      {
        find: /^@branchlog\/core\/(pi|omp)$/,
        replacement: source("core/src/adapters/$1/index.ts"),
      },
      {
        find: /^@branchlog\/core\/(entries|live|types)$/,
        replacement: source("core/src/public-$1.ts"),
      },
      { find: /^@branchlog\/core\/testing$/, replacement: source("core/src/testing/index.ts") },
      { find: /^@branchlog\/core\/internal$/, replacement: source("core/src/internal.ts") },
      { find: /^@branchlog\/(\w+)$/, replacement: source("$1/src/index.ts") },
    ],
  },
  test: {
    include: (process.env["BRANCHLOG_MUTANT_TESTS"] ?? "test/core/**/*.test.ts").split(" "),
    // Titles hold the seed, and Stryker finds tests by their titles.
    env: { BRANCHLOG_SEED: "1" },
    // One context for all files: with one for each, importing takes longer than testing.
    isolate: false,
    sequence: { sequencer: ByPath },
    // Stryker itself ends what hangs; a dry run on a busy machine takes long.
    testTimeout: 300_000,
  },
});
