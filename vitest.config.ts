import { defineConfig } from "vitest/config";

// Tests run on the sources (the "@branchlog/source" condition); tests that spawn processes use
// dist.
const conditions = ["@branchlog/source"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/e2e/**", "test/e2e-omp/**", "test/builds/**", "**/node_modules/**"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
