import { configDefaults, defineConfig } from "vitest/config";

// Tests run on the sources (the "@branchlog/source" condition); tests that spawn processes use
// dist. What waits for browsers, servers and benchmarks is in vitest.long.config.ts.
const conditions = ["@branchlog/source"];
/** Of all tests. */
export const resolve = { resolve: { conditions }, ssr: { resolve: { conditions } } };

/**
 * Compare the memory of the process, which other tests would have used before, or count the bytes
 * that it reads: sessions that other tests left open read on when they save their checkpoints.
 */
const aloneTests = [
  "test/tools/convert/convert-memory.test.ts",
  "test/faults/memory.test.ts",
  "test/library/catalog/saved-catalog.test.ts",
  "test/core/checkpoint/{checkpoints,many-pages,record-sums}.test.ts",
  "test/core/index-table/index-table.test.ts",
  "test/core/live/watching-costs.test.ts",
  "test/library/live/live-sessions.test.ts",
  "test/core/log/title-slot-reads.test.ts",
  "test/core/session/{cost-growth,kept-context}.test.ts",
  "test/core/store/log-file.test.ts",
];

/** Run before each file of tests. */
const setupFiles = [
  "test/support/law-time.ts",
  "test/support/agents.ts",
  "test/support/cache-directory.ts",
];

/** Of all tests. */
export const common = {
  globalSetup: "test/support/run-directory.ts",
  setupFiles,
  pool: "forks",
  testTimeout: 60_000,
  hookTimeout: 60_000,
} as const;

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      {
        ...resolve,
        test: {
          ...common,
          name: "shared",
          include: ["test/**/*.test.ts"],
          exclude: [
            ...configDefaults.exclude,
            "test/{e2e,e2e-omp,builds}/**",
            "test/**/*.long.test.ts",
            ...aloneTests,
          ],
          // Loading the modules for each file anew took a fourth of the time.
          isolate: false,
        },
      },
      { ...resolve, test: { ...common, name: "alone", include: aloneTests } },
    ],
  },
});
