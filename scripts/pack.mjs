/**
 * Makes the package that is published: `node scripts/pack.mjs [folder]`, by default `dist-packages`.
 * There, `branchlog/` is what `npm publish` takes, and the tarball beside it what it would upload.
 * The packages of this workspace are its parts: they are inside, and import each other by their
 * places, so that every package manager installs the tarball alone. `npm run pack` builds them first.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix, relative, resolve, sep } from "node:path";

import ts from "typescript";

import { readManifest, root } from "./checks/packages.mjs";

const target = resolve(process.argv[2] ?? join(root, "dist-packages"));
const staged = join(target, "branchlog");
const source = join(root, "packages", "branchlog");
const bytesMax = 6_000_000;

/** Without the command, which is a bundle. */
const parts = readdirSync(join(root, "packages"))
  .filter((folder) => !["bench", "branchlog", "cli"].includes(folder))
  .map((folder) => ({ folder, own: readManifest(join(root, "packages", folder)) }))
  .filter(({ own }) => own !== null);

rmSync(staged, { recursive: true, force: true });
removeOldTarballs();
mkdirSync(staged, { recursive: true });
for (const { folder } of parts) {
  const from = join(root, "packages", folder);
  copyBuilt(join(from, "dist"), join(staged, "parts", folder, "dist"));
}
cpSync(join(root, "packages", "web", "assets"), join(staged, "parts", "web", "assets"), {
  recursive: true,
});
copyBuilt(join(source, "dist"), join(staged, "dist"));
copyCommand();
copyDocuments();
writeFileSync(join(staged, "package.json"), `${JSON.stringify(manifest(), null, 2)}\n`);
const [{ filename, size, unpackedSize, entryCount }] = JSON.parse(
  execFileSync("npm", ["pack", "--json", "--pack-destination", target], {
    cwd: staged,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  }),
);
if (unpackedSize > bytesMax) {
  throw new Error(`The package has ${unpackedSize} bytes unpacked, more than ${bytesMax}.`);
}
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
console.log(`Packed ${join(target, filename)}
${megabytes(size)}, ${megabytes(unpackedSize)} unpacked, ${entryCount} files; it installs alone:

  npm install ${relative(process.cwd(), join(target, filename)) || filename}`);

/** Those of other versions, and the parts of earlier ones. */
function removeOldTarballs() {
  if (!existsSync(target)) return;
  const old = readdirSync(target).filter((name) => /^branchlog-.*\.tgz$/.test(name));
  for (const name of old) rmSync(join(target, name));
}

/** Modules without comments, which their types have, and without maps to sources that are not there. */
function copyBuilt(from, to) {
  if (!existsSync(from)) throw new Error(`${from} is not built. Use "npm run pack".`);
  for (const name of readdirSync(from, { recursive: true })) {
    const path = join(to, name);
    if (!/\.(?:js|d\.ts)$/.test(name)) continue;
    const text = readFileSync(join(from, name), "utf8");
    const isModule = name.endsWith(".js");
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, withPlaces(isModule ? bare(text) : withoutMap(text), path));
  }
}

function bare(text) {
  const compilerOptions = { target: "esnext", module: "esnext", removeComments: true };
  return ts.transpileModule(text, { compilerOptions }).outputText;
}

function withoutMap(text) {
  return text.replace(/^\/\/# sourceMappingURL=.*\n?/m, "");
}

/** Imports of parts by the places of their modules. */
function withPlaces(text, path) {
  return text.replaceAll(/(["'])(@branchlog\/[\w/-]+)\1/g, (_, quote, name) => {
    const place = relative(dirname(path), placeOf(name)).split(sep).join(posix.sep);
    return `${quote}${place.startsWith(".") ? place : `./${place}`}${quote}`;
  });
}

function placeOf(name) {
  const [scope, short, ...rest] = name.split("/");
  const part = parts.find((one) => one.own.name === `${scope}/${short}`);
  const entry = part?.own.exports[[".", ...rest].join("/")]?.default;
  if (entry === undefined) throw new Error(`A module imports ${name}, which no part exports.`);
  return join(staged, "parts", part.folder, entry);
}

/** SQLite is a dependency here, which the library has as well. */
function copyCommand() {
  const [from, to] = [join(source, "bundle"), join(staged, "bundle")];
  if (!existsSync(join(from, "main.js"))) throw new Error('It is not built. Use "npm run pack".');
  // The page is with its part.
  const isOwn = (path) => !path.endsWith(".wasm") && path !== join(from, "assets");
  cpSync(from, to, { recursive: true, filter: isOwn });
  writeFileSync(join(to, "sqlite.cjs"), 'module.exports = require("node-sqlite3-wasm");\n');
  cpSync(join(source, "bin"), join(staged, "bin"), { recursive: true });
}

/** For those who are offline. */
function copyDocuments() {
  for (const name of ["README.md", "LICENSE"]) cpSync(join(root, name), join(staged, name));
  cpSync(join(source, "CHANGELOG.md"), join(staged, "CHANGELOG.md"));
  mkdirSync(join(staged, "docs"));
  for (const name of readdirSync(join(root, "docs"))) {
    if (/\.(?:md|json)$/.test(name)) cpSync(join(root, "docs", name), join(staged, "docs", name));
  }
}

function manifest() {
  const { scripts: _, devDependencies: __, files: ___, ...own } = readManifest(source);
  const exports = Object.entries(own.exports).map(([name, entry]) => {
    if (typeof entry === "string") return [name, entry];
    const { "@branchlog/source": _source, ...built } = entry;
    return [name, built];
  });
  const all = [own, ...parts.map((part) => part.own)];
  const joined = (key) => Object.assign({}, ...all.map((one) => one[key] ?? {}));
  const versions = catalog();
  const dependencies = Object.entries(joined("dependencies"))
    .filter(([name]) => !name.startsWith("@branchlog/"))
    .map(([name, version]) => [name, version === "catalog:" ? versions.get(name) : version])
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  const registering = parts.flatMap(({ folder, own: { sideEffects = [] } }) =>
    Array.isArray(sideEffects)
      ? sideEffects
          .filter((path) => path.startsWith("./dist"))
          .map((path) => `./${posix.join("parts", folder, path)}`)
      : [],
  );
  return {
    ...own,
    exports: Object.fromEntries(exports),
    sideEffects: [...own.sideEffects.filter((path) => path.startsWith("./dist")), ...registering],
    dependencies: Object.fromEntries(dependencies),
    peerDependencies: joined("peerDependencies"),
    peerDependenciesMeta: joined("peerDependenciesMeta"),
  };
}

/** The versions that pnpm-workspace.yaml says once for all packages. */
function catalog() {
  const text = readFileSync(join(root, "pnpm-workspace.yaml"), "utf8");
  const block = /^catalog:\n((?: {2}.*\n|\n)*)/m.exec(text)?.[1] ?? "";
  const lines = block.matchAll(/^ {2}"?([^\s"#][^\s":]*(?:\/[^\s":]+)?)"?: (\S+)$/gm);
  return new Map([...lines].map(([, name, version]) => [name, version]));
}
