/**
 * How many small changes of the code the tests notice: `node scripts/mutants.mjs [stage …]`, where
 * `append/landing` is one file of a stage. Stryker changes one place at a time, in a copy of the
 * workspace, and runs the tests of the stage that reach that place; a change that all of them pass
 * is a survivor. Results are kept in `.stryker/`, and a later run repeats only what code or tests
 * changed since.
 */
import { dirname, join } from "node:path";
import { Stryker } from "@stryker-mutator/core";

import { root } from "./checks/packages.mjs";
import { stages } from "./mutants/stages.mjs";

const names = process.argv.slice(2);
const chosen = (names.length > 0 ? names : Object.keys(stages)).map((name) => choice(name));
process.chdir(root);
for (const { stage, mutate, tests } of chosen) await run(stage, mutate, tests);

function choice(name) {
  const [stage, file] = name.split("/");
  if (!Object.hasOwn(stages, stage)) {
    throw new Error(`No stage is called "${stage}". There are: ${Object.keys(stages).join(", ")}.`);
  }
  const { mutate, tests } = stages[stage];
  if (file === undefined) return { stage, tests, mutate };
  const folders = new Set(mutate.map((pattern) => dirname(pattern)));
  return { stage, tests, mutate: [...folders].map((folder) => `${folder}/${file}.ts`) };
}

async function run(stage, mutate, tests) {
  const results = join(".stryker", stage);
  // The configuration of vitest reads it, in the processes that Stryker starts.
  process.env.BRANCHLOG_MUTANT_TESTS = tests.join(" ");
  const stryker = new Stryker({
    mutate: [...mutate],
    testRunner: "vitest",
    plugins: ["@stryker-mutator/vitest-runner"],
    vitest: { configFile: "vitest.mutants.config.ts", related: false },
    coverageAnalysis: "perTest",
    concurrency: Number(process.env.BRANCHLOG_MUTANT_PROCESSES ?? 1),
    // Messages are for people: what tests compare is the code of an error.
    mutator: { excludedMutations: ["StringLiteral"] },
    ignorePatterns: [".stryker", "dist-packages", "docs/benchmarks", "dist"],
    tempDirName: join(results, "copy"),
    // A change of what is computed when a module is loaded would need a process of its own.
    ignoreStatic: true,
    incremental: true,
    incrementalFile: join(results, "results.json"),
    reporters: ["progress-append-only", "clear-text", "html"],
    clearTextReporter: { logTests: false, reportTests: false, allowColor: false },
    htmlReporter: { fileName: join(results, "report.html") },
    allowConsoleColors: false,
    // Walks that never end are among the changes.
    timeoutMS: 10_000,
  });
  await stryker.runMutationTest();
}
