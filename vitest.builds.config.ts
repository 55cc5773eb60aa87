import { defineConfig } from "vitest/config";

// This build against another one: they run on the dist folders of both, for many minutes.
export default defineConfig({
  test: {
    include: ["test/builds/**/*.test.ts"],
    pool: "forks",
    maxWorkers: 1,
    testTimeout: 60 * 60 * 1000,
    hookTimeout: 60_000,
  },
});
