/**
 * Uses the packed packages as somebody else would: `node consume.mjs <folder with the tarballs>`.
 * npm installs them into a fresh project outside the workspace, strict TypeScript compiles a small
 * program against them, plain node runs it, and a wrong error code must be a type error.
 * Their dependencies come from npm's cache, and from the registry only what is not there yet.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { publishedPackages, readManifest, root, tarballName } from "./packages.mjs";

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("Usage: node scripts/checks/consume.mjs <folder>");

const tsc = join(root, "node_modules", ".bin", "tsc");
const project = realpathSync(mkdtempSync(join(tmpdir(), "branchlog-consumer-")));
try {
  install(folder);
  compile();
  execFileSync("node", ["dist/consumer.js"], { cwd: project, stdio: "inherit" });
  rejectWrongCode();
} finally {
  rmSync(project, { recursive: true, force: true });
}

function install(tarballs) {
  const packages = publishedPackages().map((published) => [
    published.name,
    `file:${join(tarballs, tarballName(published))}`,
  ]);
  const nodeTypes = readManifest(join(root, "node_modules", "@types", "node"));
  const manifest = {
    name: "consumer",
    private: true,
    type: "module",
    dependencies: Object.fromEntries(packages),
    devDependencies: { [nodeTypes.name]: nodeTypes.version },
  };
  writeFileSync(join(project, "package.json"), JSON.stringify(manifest, null, 2));
  const options = ["--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund"];
  execFileSync("npm", ["install", ...options], {
    cwd: project,
    stdio: "inherit",
    env: withoutNpmSettings(process.env),
  });
}

/** `npm test` hands its settings to its children; a fresh project has none. */
function withoutNpmSettings(environment) {
  const kept = Object.entries(environment).filter(([name]) => !/^npm_/i.test(name));
  return Object.fromEntries(kept);
}

function compile() {
  addSource("tsconfig.json");
  addSource("consumer.ts");
  execFileSync(tsc, ["-p", project], { stdio: "inherit" });
}

function rejectWrongCode() {
  addSource("wrong-code.ts");
  const { status, stdout } = spawnSync(tsc, ["-p", project, "--noEmit"], { encoding: "utf8" });
  const errors = stdout.split("\n").filter((line) => line.includes("error TS"));
  const expected = errors.length === 1 && errors[0].includes("wrong-code.ts");
  if (status === 0 || !expected || !errors[0].includes('"ERR_NO_SUCH_CODE"')) {
    throw new Error(`A wrong error code must be the one type error, but tsc said:\n${stdout}`);
  }
}

function addSource(name) {
  copyFileSync(join(root, "scripts", "consumer", name), join(project, name));
}
