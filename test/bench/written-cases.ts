/** Cases that tests write as modules, for the processes that the suite starts. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { BenchCase } from "../../packages/bench/src/bench-case.ts";
import type { SuiteOptions } from "../../packages/bench/src/run-cases.ts";

const source = new URL("../../packages/bench/src/", import.meta.url);

/** Where the modules of this process are: the files of tests that run in it share this one. */
export const folder = mkdtempSync(join(process.env["BRANCHLOG_RUN_DIR"] ?? tmpdir(), "cases-"));

export const moduleUrl = (name: string): string => pathToFileURL(join(folder, `${name}.ts`)).href;

/** Writes a case module and loads it, as the command loads its cases. */
export async function writeCase(name: string, parts: string): Promise<BenchCase> {
  const text = `
    import { writeFileSync } from "node:fs";
    import { getHeapStatistics } from "node:v8";
    import { defineCase } from ${JSON.stringify(new URL("bench-case.ts", source).href)};
    export const benchCase = defineCase({
      name: ${JSON.stringify(name)}, question: "What?", goal: "none.", nodeFlags: [],
      figures: () => ({}), check: () => {},
      subjects: [{ name: "one", role: "ours", prepare: () => () => 1 }],
      ${parts}
    });`;
  writeFileSync(join(folder, `${name}.ts`), text);
  const loaded = (await import(/* @vite-ignore */ moduleUrl(name))) as { benchCase: BenchCase };
  return loaded.benchCase;
}

/** The children run from the sources, so that these tests need no build. */
export const launch = {
  childUrl: new URL("case-child.ts", source).href,
  launchFlags: ["--import", "tsx"],
};

export const suiteOptions: SuiteOptions = {
  ...launch,
  scale: "quick",
  runs: 1,
  caseUrlOf: moduleUrl,
  ensureInput: () => {
    throw new Error("no case of this test needs an input");
  },
};
