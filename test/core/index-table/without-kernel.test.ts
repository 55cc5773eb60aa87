/** Logs that are opened where there is no WebAssembly: slower, with the same result. */
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const fixtures = new URL("../../../fixtures/", import.meta.url);
const script = fileURLToPath(new URL("../../support/facts-process.mjs", import.meta.url));

interface Found {
  readonly facts: unknown;
  readonly hasKernel: boolean;
  readonly parses: number;
}

function found(...flags: string[]): Found {
  const names = readdirSync(fixtures).filter((name) => /^(pi|omp|mixed)-.*\.jsonl$/u.test(name));
  const paths = names.map((name) => fileURLToPath(new URL(name, fixtures)));
  const output = execFileSync(process.execPath, [...flags, script, ...paths], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  // Printed by that script.
  return JSON.parse(output.toString()) as Found;
}

it("logs are the same without WebAssembly, every line parsed", () => {
  const usual = found();
  const jitless = found("--jitless");
  expect([usual.hasKernel, jitless.hasKernel]).toEqual([true, false]);
  expect(jitless.facts).toEqual(usual.facts);
  expect(jitless.parses).toBeGreaterThan(usual.parses);
});
