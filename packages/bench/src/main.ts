/** The command `pnpm bench`: builds, makes the inputs, runs the cases, writes the reports. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join, resolve } from "node:path";
import process, { argv, execPath, exit, stderr, stdout } from "node:process";
import { fileURLToPath } from "node:url";
import { cases, modulePathOf } from "./case-list.ts";
import { type BenchOptions, type ComparedPaths, parseCommand, usage } from "./command-line.ts";
import { compareReports, comparisonMarkdown } from "./comparison.ts";
import { growthMarkdown, type GrowthReport } from "./growth/growth-report.ts";
import { type GrowthOptions, measureGrowth } from "./growth/measure-growth.ts";
import { ensureInput } from "./input-cache.ts";
import { readMachine } from "./machine.ts";
import { installPeers } from "./peer-folders.ts";
import { type BenchReport, createReport, toMarkdown } from "./report.ts";
import { endRuns, sweepScratch } from "./running-processes.ts";
import { runSuite } from "./suite.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
// Children run what is built, in plain node, whichever way this file is run.
const built = new URL("../dist/", import.meta.url);
const documents = join(root, "docs", "benchmarks");
const names = cases.map(({ name }) => name);

try {
  const command = parseCommand(argv.slice(2), names);
  if (command === "help") stdout.write(usage(names));
  else if (command === "list") stdout.write(`${names.join("\n")}\n`);
  else if ("beforePath" in command) exit(compare(command) ? 0 : 1);
  else if (command.growth) await runGrowth(command);
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
  const { schemaVersion = 0, machine, scale, cases: reports } = report;
  if (machine !== undefined && scale !== undefined && reports !== undefined) {
    return { schemaVersion, machine, scale, cases: reports };
  }
  throw new RangeError(`${path} is no report of a run`);
}

async function run(options: BenchOptions): Promise<boolean> {
  prepareRuns(options);
  for (const set of options.peerSets) {
    stderr.write(`installing ${set}, unless they are there\n`);
    installPeers(set);
  }
  const usual = cases.filter(({ needs }) => needs === undefined || options.huge);
  const { names: wanted } = options;
  const chosen = wanted.length === 0 ? usual : cases.filter(({ name }) => wanted.includes(name));
  const reports = await runSuite(chosen, {
    ...suiteOptions(options),
    onStart: ({ name, question }) => stderr.write(`${name}: ${question}\n`),
    onReport: ({ failure }) => {
      if (failure !== undefined) stderr.write(`FAILED ${failure}\n`);
    },
  });
  const report = createReport(readMachine(root), options.scale, reports);
  stdout.write(toMarkdown(report));
  const isWhole = wanted.length === 0 && options.scale === "full";
  const hasFailed = reports.some(({ failure }) => failure !== undefined);
  if (options.jsonPath !== undefined) write(resolve(options.jsonPath), toJson(report));
  if (isWhole && !hasFailed) {
    // Only where pictures are drawn: the library is large.
    const { casePlot } = await import("./plots.ts");
    const plotOf = (name: string): string => `${name}.svg`;
    write(join(documents, "results.json"), toJson(report));
    write(join(documents, "results.md"), toMarkdown(report, plotOf));
    for (const one of reports) write(join(documents, plotOf(one.name)), casePlot(one));
  }
  return !hasFailed;
}

function suiteOptions(options: BenchOptions): GrowthOptions {
  const { scale, runs, cacheFolder, peerSets } = options;
  return {
    scale,
    runs,
    childUrl: new URL("case-child.js", built).href,
    caseUrlOf: (name) => new URL(`${modulePathOf(name)}.js`, built).href,
    ensureInput: (spec) => ensureInput(spec, cacheFolder),
    peerSets: new Set(peerSets),
  };
}

async function runGrowth(options: BenchOptions): Promise<void> {
  prepareRuns(options);
  const { scale, jsonPath } = options;
  const operations = await measureGrowth({
    ...suiteOptions(options),
    onSize: (what) => void stderr.write(`${what}\n`),
  });
  const report: GrowthReport = { schemaVersion: 1, machine: readMachine(root), scale, operations };
  stdout.write(growthMarkdown(report));
  if (jsonPath !== undefined) write(resolve(jsonPath), toJson(report));
  if (scale === "quick") return;
  const { growthPlots } = await import("./plots.ts");
  const plots = growthPlots(operations);
  write(join(documents, "growth.md"), growthMarkdown(report, Object.keys(plots)));
  for (const [file, svg] of Object.entries(plots)) write(join(documents, file), svg);
}

/** Throws if the results could not be written; from then on, an interrupt leaves nothing behind. */
function prepareRuns({ jsonPath, build: needsBuild }: BenchOptions): void {
  if (jsonPath !== undefined) {
    const path = resolve(jsonPath);
    const isFolder = (at: string): boolean =>
      statSync(at, { throwIfNoEntry: false })?.isDirectory() === true;
    if (isFolder(path)) throw new RangeError(`--json ${jsonPath} is a directory, not a file`);
    if (!isFolder(dirname(path))) throw new RangeError(`--json: no directory ${dirname(path)}`);
  }
  sweepScratch();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      endRuns();
      exit(128 + constants.signals[signal]);
    });
  }
  if (needsBuild) build();
}

function build(): void {
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
  const child = spawnSync(execPath, [compiler, "-b", join(root, "packages", "bench")], {
    encoding: "utf8",
  });
  if (child.status !== 0) throw new Error(`the build failed\n${child.stdout}`);
}

function toJson(report: object): string {
  return `${JSON.stringify(report, null, 2)}\n`;
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
