/**
 * Packs the published packages into a folder, as publishing would: `node scripts/pack.mjs [folder]`,
 * by default `dist-packages`. Prints how another project installs them; `npm run pack` also installs
 * and builds what they need. pnpm packs because it replaces `workspace:` and `catalog:` by versions;
 * it is started through npx at the version that package.json pins: the machine needs nothing but npm.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";

import { publishedPackages, readManifest, root, tarballName } from "./checks/packages.mjs";

const target = resolve(process.argv[2] ?? join(root, "dist-packages"));
/** Half of it is SQLite as WebAssembly, in that of the command. */
const bytesMax = 1_500_000;
const packages = publishedPackages();
mkdirSync(target, { recursive: true });
removeOldTarballs();
for (const published of packages) pack(published);
console.log(instructions());

/** Those of other versions: `*.tgz` of the folder is what a project installs. */
function removeOldTarballs() {
  const old = readdirSync(target).filter((name) => /^branchlog-.*\.tgz$/.test(name));
  for (const name of old) rmSync(join(target, name));
}

function pack(published) {
  const folder = join(root, "packages", published.folder);
  const entryPoints = Object.values(readManifest(folder).exports);
  const built = entryPoints.flatMap((entryPoint) => entryPoint.default ?? []);
  if (published.folder === "branchlog") built.push("bundle/main.js");
  if (!built.every((file) => existsSync(join(folder, file)))) {
    throw new Error(`${folder} is not built. Use "npm run pack", which builds first.`);
  }
  const { status, error, stdout, stderr } = withDocuments(published, () => packedBy(folder));
  if (error !== undefined) throw error;
  if (status === 0 && existsSync(tarball(published))) return requireSmall(tarball(published));
  throw new Error(`pnpm did not make ${tarball(published)}:\n${stdout}${stderr}`);
}

/** What does not belong in a package makes it large first. */
function requireSmall(path) {
  const { size } = statSync(path);
  if (size > bytesMax) throw new Error(`${path} has ${size} bytes, more than ${bytesMax}.`);
}

function packedBy(folder) {
  const pnpm = readManifest(root).packageManager;
  const args = ["--yes", pnpm, "pack", "--pack-destination", target];
  return spawnSync("npx", args, { cwd: folder, encoding: "utf8" });
}

/** The main package has the documents of the repository inside, for those who are offline. */
function withDocuments({ folder }, work) {
  if (folder !== "branchlog") return work();
  const own = join(root, "packages", folder);
  const copies = [join(own, "README.md"), join(own, "docs")];
  try {
    cpSync(join(root, "README.md"), copies[0]);
    for (const name of readdirSync(join(root, "docs"))) {
      if (/\.(?:md|json)$/.test(name)) cpSync(join(root, "docs", name), join(copies[1], name));
    }
    return work();
  } finally {
    for (const copy of copies) rmSync(copy, { recursive: true, force: true });
  }
}

function tarball(published) {
  return join(target, tarballName(published));
}

/** npm takes what is named in one command for what they depend on; the others have to be told. */
function instructions() {
  const quoted = packages.map((published) => `"${tarball(published)}"`).join(" ");
  const overrides = packages.map(({ name, ...rest }) => [
    name,
    `file:${tarball({ name, ...rest })}`,
  ]);
  const pnpm = overrides.map(([name, file]) => `  "${name}": "${file}"`).join("\n");
  const yarn = JSON.stringify({ resolutions: Object.fromEntries(overrides) }, null, 2);
  return `Packed ${packages.map(({ name }) => name).join(", ")} into ${target}
They depend on one another by version, and no registry has them: install them in one command.

  npm install ${quoted}

pnpm: first add this to pnpm-workspace.yaml, then "pnpm add" (in its folder, "pnpm add -w") with the same files.

overrides:
${pnpm}

Yarn 1 and Bun: first add this to package.json, then "yarn add" or "bun add" with the same files.

${yarn}`;
}
