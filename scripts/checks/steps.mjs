/**
 * The list of checks: what each runs, what it waits for, and how many of the two cores it takes.
 * Tools come from the workspace's own node_modules; only packing asks for pnpm, through npx.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { publishedPackage, tarballName } from "./packages.mjs";
import { countTests } from "./test-count.mjs";

/**
 * @typedef {object} Counts
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped
 *
 * @typedef {object} Step
 * @property {string} name What the report calls it, and what the command line selects it by.
 * @property {readonly string[]} command The program and its arguments, run in the root.
 * @property {readonly string[]} [after] Steps that must have ended before.
 * @property {readonly string[]} [needs] Steps that must have passed before; otherwise skipped.
 * @property {boolean} [onDemand] Runs only when it is named.
 * @property {boolean} [isLong] Runs when it is named, and with `all`.
 * @property {number} [cores] Cores it keeps busy (default 1).
 * @property {number} [secondsMax] It is stopped, and failed, after this time (default 300).
 * @property {(ok: boolean) => Counts} [count] What it counts for (default: one check).
 */

/** @returns {{ steps: Step[], scratch: string }} All steps, and the folder they leave files in. */
export function createSteps() {
  const scratch = mkdtempSync(join(tmpdir(), "branchlog-check-"));
  const tarball = join(scratch, tarballName(publishedPackage()));
  /** @type {Step[]} */
  const steps = [
    {
      name: "lint",
      command: ["oxlint", "--type-aware", "--deny-warnings"],
      // The types of our packages, as examples import them, are those on dist.
      after: ["types"],
    },
    { name: "format", command: ["oxfmt", "--check"] },
    { name: "types", command: ["tsc", "-b"] },
    { name: "page types", command: ["tsc", "-p", "packages/web/tsconfig.page.json"] },
    { name: "page", command: ["node", "scripts/page.mjs"] },
    // The kernel that is committed is what its sources give.
    { name: "kernel", command: ["node", "scripts/build-kernel.mjs", "--check"] },
    {
      name: "unused",
      command: ["knip", "--no-progress", "--no-config-hints"],
      after: ["types"],
    },
    {
      name: "documented",
      command: ["typedoc", "--out", join(scratch, "site"), "--treatWarningsAsErrors"],
      after: ["types"],
      isLong: true,
    },
    {
      name: "site links",
      command: ["node", "scripts/checks/site-links.mjs", join(scratch, "site")],
      needs: ["documented"],
      isLong: true,
    },
    { name: "bundle", command: ["node", "scripts/bundle.mjs"], needs: ["page"] },
    {
      name: "pack",
      command: ["node", "scripts/pack.mjs", scratch],
      needs: ["types", "bundle"],
      isLong: true,
    },
    {
      name: "publint",
      command: ["publint", "run", tarball, "--strict"],
      needs: ["pack"],
      isLong: true,
    },
    {
      name: "attw",
      command: ["attw", tarball, "--profile", "esm-only", "--no-emoji"],
      needs: ["pack"],
      isLong: true,
    },
    {
      name: "consume",
      command: ["node", "scripts/checks/consume.mjs"],
      needs: ["types", "bundle"],
      isLong: true,
    },
    testStep("tests", "vitest.config.ts", scratch),
    // What waits for browsers, servers and benchmarks.
    { ...testStep("long tests", "vitest.long.config.ts", scratch), isLong: true },
    // Installs the agents it compares with, hundreds of megabytes, from the registry.
    { ...testStep("e2e", "vitest.e2e.config.ts", scratch), onDemand: true },
    // The same with omp and Bun, another 1.5 GB.
    { ...testStep("e2e-omp", "vitest.e2e-omp.config.ts", scratch), onDemand: true },
    // This build against the one that BRANCHLOG_OTHER_BUILD names.
    {
      ...testStep("builds", "vitest.builds.config.ts", scratch),
      onDemand: true,
      secondsMax: 14_400,
    },
    // The tests of faults with thousands of runs each.
    { ...testStep("soak", "vitest.soak.config.ts", scratch), onDemand: true, secondsMax: 14_400 },
  ];
  return { steps, scratch };
}

/** A run of vitest that counts for as many checks as it has tests. @returns {Step} */
function testStep(name, config, scratch) {
  const results = join(scratch, `${name}.json`);
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${results}`];
  return {
    name,
    command: ["vitest", "run", "--config", config, "--passWithNoTests", ...reporters],
    // Tests that start processes run on dist, which even failing types have written.
    // The page that the server gives out is built.
    after: ["types", "page"],
    cores: 2,
    secondsMax: 1800,
    count: (ok) => countTests(results, ok),
  };
}

/**
 * The named steps and what they wait for, in order; if no name is given, all but those on demand
 * and the long ones, which `all` takes as well.
 * @param {Step[]} steps
 * @param {string[]} names
 * @returns {Step[]}
 */
export function selectSteps(steps, names) {
  if (names.length === 0 || names[0] === "all") {
    return steps.filter(({ onDemand, isLong }) => !onDemand && (!isLong || names.length > 0));
  }
  const wanted = new Set();
  const add = (step) => {
    wanted.add(step);
    for (const name of [...(step.after ?? []), ...(step.needs ?? [])])
      add(steps.find((other) => other.name === name));
  };
  for (const name of names) {
    const found = steps.filter((step) => step.name === name || step.name.startsWith(`${name} `));
    if (found.length === 0) {
      const known = steps.map((step) => step.name).join(", ");
      throw new Error(`No check is called "${name}". There are: ${known}.`);
    }
    for (const step of found) add(step);
  }
  return steps.filter((step) => wanted.has(step));
}
