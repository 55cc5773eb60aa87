/** The command `pnpm bench`: builds, makes the inputs, runs the cases, writes the reports. */
import { spawnSync } from "node:child_process";
import { statSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join, resolve } from "node:path";
import process, { argv, execPath, exit, stderr, stdout } from "node:process";
import { fileURLToPath } from "node:url";
import { cases, modulePathOf } from "./case-list.ts";
import { type BenchOptions, parseCommand, usage } from "./command-line.ts";
import { installPeers } from "./peers.ts";
import { type CaseReport, createReport, readMachine, toMarkdown } from "./report.ts";
import { endRuns, runSuite } from "./run-cases.ts";
import { endStores, withStores } from "./store-server.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
// Children run what is built, in plain node, whichever way this file is run.
const built = new URL("../dist/", import.meta.url);
const names = cases.map(({ name }) => name);

try {
  const command = parseCommand(argv.slice(2), names);
  if (command === "help") stdout.write(usage(names));
  else {
    prepareRuns(command);
    exit((await run(command)) ? 0 : 1);
  }
} catch (error) {
  stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
  exit(1);
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
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      endRuns();
      void endStores().finally(() => exit(128 + constants.signals[signal]));
    });
  }
  if (!needsBuild) return;
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
  const project = join(root, "packages", "bench");
  const child = spawnSync(execPath, [compiler, "-b", project], { encoding: "utf8" });
  if (child.status !== 0) throw new Error(`the build failed\n${child.stdout}`);
}

async function run(options: BenchOptions): Promise<boolean> {
  const { names: wanted, scale, runs, growth, jsonPath, peerSets, stores } = options;
  for (const set of peerSets) {
    stderr.write(`installing ${set}, unless they are there\n`);
    installPeers(set);
  }
  const kind = growth ? "growth" : stores === undefined ? "usual" : "stores";
  const chosen = cases.filter(({ name, needs = "usual" }) =>
    wanted.length === 0 ? needs === kind : wanted.includes(name),
  );
  const suite = (): Promise<readonly CaseReport[]> =>
    runSuite(chosen, {
      scale,
      runs,
      caseUrlOf: (name) => new URL(`${modulePathOf(name)}.js`, built).href,
      peerSets: new Set(peerSets),
      onStart: ({ name, question }) => void stderr.write(`${name}: ${question}\n`),
    });
  const reports = await (stores === undefined ? suite() : withStores(stores, suite));
  const report = createReport(readMachine(root), scale, reports);
  stdout.write(toMarkdown(report));
  const failures = reports.flatMap(({ failure }) => (failure === undefined ? [] : [failure]));
  for (const failure of failures) stderr.write(`FAILED ${failure}\n`);
  if (jsonPath !== undefined) writeJson(jsonPath, report);
  const isWhole = wanted.length === 0 && scale === "full" && kind === "usual";
  if (!isWhole || failures.length > 0) return failures.length === 0;
  // Only where a picture is drawn: the library is large.
  const { resultsPicture } = await import("./picture.ts");
  writeJson(documentPath("results.json"), report);
  writeFileSync(documentPath("results.md"), toMarkdown(report, "results.svg"));
  writeFileSync(documentPath("results.svg"), resultsPicture(reports));
  return true;
}

function documentPath(name: string): string {
  return join(root, "docs", "benchmarks", name);
}

function writeJson(path: string, report: object): void {
  writeFileSync(resolve(path), `${JSON.stringify(report, null, 2)}\n`);
}
