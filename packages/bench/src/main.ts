/** The command `pnpm bench`: builds, makes the inputs, runs the cases, writes the reports. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { argv, execPath, exit, stderr, stdout } from "node:process";
import { fileURLToPath } from "node:url";
import { cases } from "./case-list.ts";
import { type BenchOptions, type ComparedPaths, parseCommand, usage } from "./command-line.ts";
import { compareReports, comparisonMarkdown } from "./comparison.ts";
import { ensureInput } from "./input-cache.ts";
import { readMachine } from "./machine.ts";
import { installPeers } from "./peer-folders.ts";
import { type BenchReport, toMarkdown } from "./report.ts";
import { runSuite } from "./suite.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
// Children run what is built, in plain node, whichever way this file is run.
const built = new URL("../dist/", import.meta.url);
const names = cases.map(({ name }) => name);

try {
  const command = parseCommand(argv.slice(2), names);
  if (command === "help") stdout.write(usage(names));
  else if (command === "list") stdout.write(`${names.join("\n")}\n`);
  else if ("beforePath" in command) exit(compare(command) ? 0 : 1);
  else exit((await run(command)) ? 0 : 1);
} catch (error) {
  stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
  exit(1);
}

/** Whether nothing got worse. */
function compare({ beforePath, afterPath }: ComparedPaths): boolean {
  const comparison = compareReports(readReport(beforePath), readReport(afterPath));
  stdout.write(comparisonMarkdown(comparison));
  return !comparison.isWorse;
}

function readReport(path: string): BenchReport {
  // Decoding boundary: what has cases was written by a run.
  const report = JSON.parse(readFileSync(path, "utf8")) as Partial<BenchReport>;
  const { machine, scale, cases: reports } = report;
  if (machine !== undefined && scale !== undefined && reports !== undefined) {
    return { machine, scale, cases: reports };
  }
  throw new RangeError(`${path} is no report of a run`);
}

async function run(options: BenchOptions): Promise<boolean> {
  if (options.build) build();
  for (const set of options.peerSets) {
    stderr.write(`installing ${set}, unless they are there\n`);
    installPeers(set);
  }
  const chosen = cases.filter(
    ({ name }) => options.names.length === 0 || options.names.includes(name),
  );
  const reports = await runSuite(chosen, {
    scale: options.scale,
    runs: options.runs,
    childUrl: new URL("case-child.js", built).href,
    caseUrlOf: (name) => new URL(`cases/${name}.js`, built).href,
    ensureInput: (spec) => ensureInput(root, options.cacheFolder, spec),
    peerSets: new Set(options.peerSets),
    onStart: ({ name, question }) => stderr.write(`${name}: ${question}\n`),
    onReport: ({ failure }) => {
      if (failure !== undefined) stderr.write(`FAILED ${failure}\n`);
    },
  });
  const report: BenchReport = { machine: readMachine(root), scale: options.scale, cases: reports };
  stdout.write(toMarkdown(report));
  const isWhole = chosen.length === cases.length && options.scale === "full";
  const hasFailed = reports.some(({ failure }) => failure !== undefined);
  if (options.jsonPath !== undefined) write(resolve(options.jsonPath), toJson(report));
  if (isWhole && !hasFailed) {
    write(join(root, "docs", "benchmarks", "results.json"), toJson(report));
    write(join(root, "docs", "benchmarks", "results.md"), toMarkdown(report));
  }
  return !hasFailed;
}

function build(): void {
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
  const child = spawnSync(execPath, [compiler, "-b", join(root, "packages", "bench")], {
    encoding: "utf8",
  });
  if (child.status !== 0) throw new Error(`the build failed\n${child.stdout}`);
}

function toJson(report: BenchReport): string {
  return `${JSON.stringify(report, null, 2)}\n`;
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
