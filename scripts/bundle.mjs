/**
 * Makes the command that is published, from the sources: `node scripts/bundle.mjs [folder]`, by
 * default `packages/branchlog/bundle`. Few modules that load on demand, since reading and compiling
 * hundreds of them took most of the time of a short command.
 */
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { rolldown } from "rolldown";

import { licences } from "./bundle/licences.mjs";
import { readManifest, root } from "./checks/packages.mjs";

const target = resolve(process.argv[2] ?? join(root, "packages", "branchlog", "bundle"));

const source = join(root, "packages", "cli", "src");

/** Its entry for Node is CommonJS, of which nothing can be left out. */
const rxjs = createRequire(join(root, "packages", "core", "package.json"))
  .resolve("rxjs")
  .replace(/([/\\])cjs\1/, "$1esm$1");

/** It finds its WebAssembly beside itself, which a part of a module cannot. */
const sqlite = createRequire(join(root, "packages", "library", "package.json")).resolve(
  "node-sqlite3-wasm",
);

const build = await rolldown({
  input: { main: join(source, "main.ts"), "man-page": join(source, "man-page.ts") },
  platform: "node",
  tsconfig: false,
  // The oldest Node that is supported, as `target` of the compiler does for dist.
  transform: { target: "node20.19" },
  plugins: [
    {
      name: "sqlite-beside",
      resolveId: (id) =>
        id === "node-sqlite3-wasm" ? { id: "./sqlite.cjs", external: true } : null,
    },
  ],
  resolve: { conditionNames: ["@branchlog/source"], alias: { rxjs } },
});
rmSync(target, { recursive: true, force: true });
const { output } = await build.write({
  dir: target,
  format: "esm",
  entryFileNames: "[name].js",
  // Names of functions stay, for the stack traces of BRANCHLOG_DEBUG.
  minify: { compress: true, mangle: { keepNames: true }, codegen: true },
});
cpSync(sqlite, join(target, "sqlite.cjs"));
const wasm = "node-sqlite3-wasm.wasm";
cpSync(join(dirname(sqlite), wasm), join(target, wasm));
// The page, which scripts/page.mjs has made before.
cpSync(join(root, "packages", "web", "assets"), join(target, "assets"), { recursive: true });
writeFileSync(
  join(target, "licences.txt"),
  licences([...output.flatMap((file) => file.moduleIds ?? []), sqlite]),
);
const { manPage } = await import(pathToFileURL(join(target, "man-page.js")).href);
const { version } = readManifest(join(root, "packages", "branchlog"));
writeFileSync(join(target, "branchlog.1"), manPage(version));
