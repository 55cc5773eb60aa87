import { defineConfig } from "vitest/config";

// Tests against real agents: they run on dist, one file at a time, and install what they need.
export default defineConfig({
  test: {
    include: ["test/e2e/**/*.test.ts"],
    pool: "forks",
    maxWorkers: 1,
    testTimeout: 300_000,
    hookTimeout: 60_000,
  },
});
