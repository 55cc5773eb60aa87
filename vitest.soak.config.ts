import { configDefaults, defineConfig } from "vitest/config";

// Every test in full, for hours: thousands of kills and losses of power, every order of steps, laws
// with all of their cases.
const conditions = ["@branchlog/source"];
const hoursMs = 60 * 60 * 1000;

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ["test/**/*.test.ts"],
    // Of the tests against real agents only those that kill them.
    exclude: [
      ...configDefaults.exclude,
      "test/{e2e-omp,builds}/**",
      "test/e2e/*/**",
      "test/e2e/!(kills)*.test.ts",
    ],
    env: { BRANCHLOG_SOAK: "1", BRANCHLOG_SCHEDULES_MAX: "50000" },
    globalSetup: "test/support/run-directory.ts",
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 2 * hoursMs,
    hookTimeout: 60_000,
  },
});
