/**
 * Uses the packages as another project would. The commands under "Install" in the README, as they
 * are there, pack and install them in an empty project with this clone beside it; the first example
 * of the README runs, strict TypeScript compiles it and small programs of both module kinds against
 * them, plain node runs these, a wrong error code is a type error, and the command starts. Other empty
 * projects install them with pnpm and with Bun, which also runs the example, and one links the
 * packages of this clone instead.
 * Their dependencies come from npm's cache, and from the registry only what is not there yet.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, realpathSync } from "node:fs";
import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import ts from "typescript";

import { publishedPackages, readManifest, root } from "./packages.mjs";

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

  const tarballs = tarballsOf(project);
  const files = tarballs.map(([, path]) => `"${path}"`).join(" ");
  for (const { name, start } of otherManagers) {
    const other = emptyProject(name, overridesFor(name, tarballs));
    // npm would refuse the overrides of a project where it is started.
    const within = (line) =>
      run(scratch, "npx", ["--yes", "-p", start, "-c", `cd ${name} && ${line}`]);
    within(`${name} add ${files}`);
    runExample(other, () => within(`${name === "bun" ? "bun" : "node"} readme.mjs`));
    assert.equal(within("node_modules/.bin/branchlog --version").trim(), publishedVersion());
  }

  const linked = emptyProject("links");
  const folders = publishedPackages().map(({ folder }) => `../branchlog/packages/${folder}`);
  run(linked, "npm", ["install", ...folders]);
  runExample(linked);
  startCommand(linked);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function emptyProject(name, manifest = {}) {
  const project = join(scratch, name);
  mkdirSync(project);
  writeFileSync(
    join(project, "package.json"),
    JSON.stringify({ name, private: true, ...manifest }),
  );
  return project;
}

/** Where npm was told that each package is. */
function tarballsOf(project) {
  const { dependencies } = readManifest(project);
  const names = publishedPackages().map(({ name }) => name);
  return names.map((name) => [name, resolve(project, dependencies[name].slice("file:".length))]);
}

/** Packages that depend on one another by version, which no registry has. */
function overridesFor(name, tarballs) {
  const overrides = Object.fromEntries(tarballs.map(([one, path]) => [one, `file:${path}`]));
  return name === "pnpm" ? { pnpm: { overrides } } : { resolutions: overrides };
}

function installCommands() {
  const commands = /^## Install\n[^]*?^```\n([^]*?)^```$/m.exec(readme)?.[1] ?? "";
  assert.match(commands, /npm run pack[^]*npm install/);
  return commands;
}

/** The first example of the README, in a file of its own: what it prints is beside its calls. */
function runExample(project, start = () => run(project, "node", ["readme.mjs"])) {
  const code = /^<!-- runs -->\n```ts\n([^]*?)^```$/m.exec(readme)?.[1] ?? "";
  writeFileSync(join(project, "readme.mts"), code);
  const { outputText } = ts.transpileModule(code, { compilerOptions: { target: "ES2022" } });
  writeFileSync(join(project, "readme.mjs"), outputText);
  const said = [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, line]) => line);
  assert.notEqual(said.length, 0);
  assert.deepEqual(start().trimEnd().split("\n"), said);
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
  return readManifest(join(root, "packages", "branchlog")).version;
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
