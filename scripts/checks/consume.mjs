/**
 * Uses the packages as another project would. The commands under "Install" in the README, as they
 * are there, pack and install them in an empty project with this clone beside it; the first example
 * of the README runs, strict TypeScript compiles it and small programs of both module kinds against
 * them, plain node runs these, a wrong error code is a type error, and the command starts. Another empty
 * project links the packages of this clone instead.
 * Their dependencies come from npm's cache, and from the registry only what is not there yet.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, realpathSync } from "node:fs";
import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import ts from "typescript";

import { publishedPackages, readManifest, root } from "./packages.mjs";

/** What is set for the machine, not for one command: with another store, pnpm installs anew. */
const machineSettings = /^npm_config_(?:cache|registry|store_dir|userconfig)$/i;

const readme = readFileSync(join(root, "README.md"), "utf8");
const tsc = join(root, "node_modules", ".bin", "tsc");
const scratch = realpathSync(mkdtempSync(join(tmpdir(), "branchlog-consumer-")));
try {
  symlinkSync(root, join(scratch, "branchlog"));
  const project = emptyProject("tarballs");
  run(project, "sh", ["-e", "-c", installCommands()]);
  runExample(project);
  compile(project);
  run(project, "node", ["dist/consumer.mjs"]);
  run(project, "node", ["dist/commonjs.cjs"]);
  rejectWrongCode(project);
  startCommand(project);

  const linked = emptyProject("links");
  const folders = publishedPackages().map(({ folder }) => `../branchlog/packages/${folder}`);
  run(linked, "npm", ["install", ...folders]);
  runExample(linked);
  startCommand(linked);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function emptyProject(name) {
  const project = join(scratch, name);
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), JSON.stringify({ name, private: true }));
  return project;
}

function installCommands() {
  const commands = /^## Install\n[^]*?^```\n([^]*?)^```$/m.exec(readme)?.[1] ?? "";
  assert.match(commands, /npm run pack[^]*npm install/);
  return commands;
}

/** The first example of the README, in a file of its own: what it prints is beside its calls. */
function runExample(project) {
  const code = /^<!-- runs -->\n```ts\n([^]*?)^```$/m.exec(readme)?.[1] ?? "";
  writeFileSync(join(project, "readme.mts"), code);
  const { outputText } = ts.transpileModule(code, { compilerOptions: { target: "ES2022" } });
  writeFileSync(join(project, "readme.mjs"), outputText);
  const said = [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, line]) => line);
  assert.notEqual(said.length, 0);
  assert.deepEqual(run(project, "node", ["readme.mjs"]).trimEnd().split("\n"), said);
}

function compile(project) {
  const types = readManifest(join(root, "node_modules", "@types", "node"));
  run(project, "npm", ["install", "--save-dev", `${types.name}@${types.version}`]);
  for (const name of ["tsconfig.json", "consumer.mts", "commonjs.cts"]) addSource(project, name);
  run(project, tsc, ["-p", project]);
}

function rejectWrongCode(project) {
  addSource(project, "wrong-code.mts");
  const { status, stdout } = spawnSync(tsc, ["-p", project, "--noEmit"], { encoding: "utf8" });
  const errors = stdout.split("\n").filter((line) => line.includes("error TS"));
  const expected = errors.length === 1 && errors[0].includes("wrong-code.mts");
  if (status === 0 || !expected || !errors[0].includes('"ERR_NO_SUCH_CODE"')) {
    throw new Error(`A wrong error code must be the one type error, but tsc said:\n${stdout}`);
  }
}

function startCommand(project) {
  const { version } = readManifest(join(root, "packages", "branchlog"));
  assert.equal(run(project, "npx", ["branchlog", "--version"]).trim(), version);
}

function addSource(project, name) {
  copyFileSync(join(root, "scripts", "consumer", name), join(project, name));
}

/** Runs a program in a project. `npm test` hands its settings to its children; a project has none. */
function run(cwd, program, args) {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^npm_/i.test(name) || machineSettings.test(name),
  );
  const env = { ...Object.fromEntries(own), npm_config_prefer_offline: "true" };
  const { status, error, stdout, stderr } = spawnSync(program, args, {
    cwd,
    env,
    encoding: "utf8",
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} failed:\n${stdout}${stderr}`);
  return stdout;
}
