import { defineConfig } from "vitest/config";

// Tests against the real omp on Bun, which are large: they run on dist and install what they need.
export default defineConfig({
  test: {
    include: ["test/e2e-omp/**/*.test.ts"],
    pool: "forks",
    maxWorkers: 1,
    testTimeout: 300_000,
    hookTimeout: 1_800_000,
  },
});
