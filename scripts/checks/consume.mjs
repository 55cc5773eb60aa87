/**
 * Uses the package as another project would. The commands under "Install" in the README, as they
 * are there, pack and install it in an empty project with this clone beside it; the first example
 * of the README runs, twice, strict TypeScript compiles it and small programs of both module kinds
 * against it, plain node runs these, a wrong error code is a type error, and the command starts and
 * serves the page. Other empty projects install it with pnpm and with Bun, which also runs the
 * example.
 * Their dependencies come from npm's cache, and from the registry only what is not there yet.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, realpathSync } from "node:fs";
import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import ts from "typescript";

import { firstExample } from "./first-example.mjs";
import { publishedPackage, readManifest, root } from "./packages.mjs";

/** What is set for the machine, not for one command: with another store, pnpm installs anew. */
const machineSettings = /^npm_config_(?:cache|registry|store_dir|userconfig)$/i;

/** Started by npx, at versions that run on every Node of ours. */
const otherManagers = [
  { name: "pnpm", start: readManifest(root).packageManager },
  { name: "bun", start: "bun@1.4.5" },
];

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

  const tarball = resolve(project, fileOf(readManifest(project).dependencies.branchlog));
  for (const { name, start } of otherManagers) {
    const other = emptyProject(name);
    const within = (line) =>
      run(scratch, "npx", ["--yes", "-p", start, "-c", `cd ${name} && ${line}`]);
    within(`${name} add "${tarball}"`);
    runExample(other, () => within(`${name === "bun" ? "bun" : "node"} readme.mjs`));
    assert.equal(within("node_modules/.bin/branchlog --version").trim(), publishedVersion());
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function emptyProject(name) {
  const project = join(scratch, name);
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), JSON.stringify({ name, private: true }));
  return project;
}

/** Of `file:../branchlog.tgz`. */
function fileOf(dependency) {
  return dependency.slice("file:".length);
}

function installCommands() {
  const commands = /^## Install\n[^]*?^```\n([^]*?)^```$/m.exec(readme)?.[1] ?? "";
  assert.match(commands, /npm run pack[^]*npm install/);
  return commands;
}

/** The first example of the README, in a file of its own: what it prints is beside its calls. */
function runExample(project, start = () => run(project, "node", ["readme.mjs"])) {
  const code = firstExample();
  writeFileSync(join(project, "readme.mts"), code);
  const { outputText } = ts.transpileModule(code, { compilerOptions: { target: "ES2022" } });
  writeFileSync(join(project, "readme.mjs"), outputText);
  const said = [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, line]) => line);
  assert.notEqual(said.length, 0);
  for (const _ of ["first", "second"]) assert.deepEqual(start().trimEnd().split("\n"), said);
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
  assert.equal(run(project, "npx", ["branchlog", "--version"]).trim(), publishedVersion());
}

function publishedVersion() {
  return publishedPackage().version;
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
