import { defineConfig } from "vitest/config";

// The tests of faults, for hours: thousands of kills and losses of power, every order of steps.
const conditions = ["@branchlog/source"];
const hoursMs = 60 * 60 * 1000;

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: [
      "test/faults/**/*.test.ts",
      "test/core/append/interleavings.test.ts",
      "test/core/catalog/forged-catalogs.test.ts",
      "test/core/store/stopped-holders.test.ts",
    ],
    env: { BRANCHLOG_SOAK: "1", BRANCHLOG_SCHEDULES_MAX: "50000" },
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 2 * hoursMs,
    hookTimeout: 60_000,
  },
});
