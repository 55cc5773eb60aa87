/** Our face for omp runs where omp runs: its own tests pass on Bun. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, it } from "vitest";
import { runtimePath } from "../../packages/bench/src/peers.ts";
import { installOmp } from "./support/omp-program.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

beforeAll(() => installOmp());

it("the tests of the drop-in pass on Bun as on Node", () => {
  const vitest = ["--bun", "node_modules/vitest/vitest.mjs", "run", "--reporter=json"];
  const shared = ["one-log", "session-lookup", "fixtures"].map(
    (name) => `test/agents/${name}.test`,
  );
  const args = [...vitest, "test/agents/omp", ...shared];
  const text = execFileSync(runtimePath("bun"), args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const report = JSON.parse(text.slice(text.indexOf("{"))) as Record<string, unknown>;
  expect(report).toMatchObject({ success: true, numFailedTests: 0, numPendingTests: 0 });
  expect(report["numPassedTests"]).toBeGreaterThan(40);
});
