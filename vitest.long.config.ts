import { defineConfig } from "vitest/config";
import { common, resolve } from "./vitest.config.ts";

// The second part of the checks: tests that wait for browsers, for servers that fail over, for
// benchmarks and other programs.
export default defineConfig({
  ...resolve,
  test: { ...common, maxWorkers: 2, include: ["test/**/*.long.test.ts"], isolate: false },
});
