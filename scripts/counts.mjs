/**
 * How large the code is, for people who change it: `node scripts/counts.mjs [--files]` prints lines
 * and files of each package, how many modules of `dist` run when a session is opened and when it is
 * appended to (with `--files`, which ones), the names of each entry point, and the tests that import
 * internals. Needs a build.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Session as Inspector } from "node:inspector/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

import { readManifest, root } from "./checks/packages.mjs";

const showsFiles = process.argv.includes("--files");
printSizes();
await printPaths();
await printNames();
printDeepImports();

function printSizes() {
  const sizes = new Map();
  for (const path of tracked("packages/*/src/**/*.ts", "packages/*/src/**/*.tsx")) {
    const [, name] = path.split("/");
    const size = sizes.get(name) ?? { lines: 0, files: 0 };
    size.lines += textOf(path).split("\n").length - 1;
    size.files += 1;
    sizes.set(name, size);
  }
  const all = { lines: 0, files: 0 };
  for (const [name, { lines, files }] of sizes) {
    print(name, `${lines} lines`, `${files} files`);
    all.lines += lines;
    all.files += files;
  }
  print("all packages", `${all.lines} lines`, `${all.files} files`);
}

async function printPaths() {
  const { openSession } = await import(entryPoint("core", "."));
  const folder = mkdtempSync(join(tmpdir(), "branchlog-counts-"));
  const path = join(folder, "session.jsonl");
  const stamp = "2026-01-01T00:00:00.000Z";
  const id = "019b7600-0000-7000-8000-000000000000";
  const header = { type: "session", version: 3, id, timestamp: stamp, cwd: folder };
  const message = { role: "user", content: "Hello", timestamp: 0 };
  const entry = { type: "message", id: "00000001", parentId: null, timestamp: stamp, message };
  writeFileSync(path, `${JSON.stringify(header)}\n${JSON.stringify(entry)}\n`);
  try {
    const session = await printModules("openSession", () => openSession(path));
    await printModules("append", () => session.append({ type: "message", message }));
    await session.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs `work`; prints the modules of which a function was called meanwhile. */
async function printModules(title, work) {
  const inspector = new Inspector();
  inspector.connect();
  await inspector.post("Profiler.enable");
  await inspector.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await inspector.post("Profiler.takePreciseCoverage");
  const done = await work();
  const { result } = await inspector.post("Profiler.takePreciseCoverage");
  inspector.disconnect();
  const base = pathToFileURL(join(root, "packages")).href;
  const modules = result
    .filter(({ url, functions }) => url.startsWith(base) && functions.some(isCalled))
    .map(({ url }) => url.slice(base.length + 1).replace("/dist/", "/src/"))
    .sort();
  print(title, `${modules.length} modules`);
  if (showsFiles) for (const module of modules) console.log(`  ${module}`);
  return done;
}

function isCalled({ functionName, ranges }) {
  return functionName !== "" && ranges[0].count > 0;
}

/** Values and types, as the declarations have them. */
async function printNames() {
  for (const { folder, exports } of manifests()) {
    for (const [subpath, target] of Object.entries(exports)) {
      if (target.types === undefined) continue;
      const names = namesIn(join("packages", folder, target.types));
      print(join(`@branchlog/${folder}`, subpath), `${names.length} names`);
    }
  }
}

/** Of declarations; those of a whole entry point that is exported again as well. */
function namesIn(path) {
  const text = textOf(path);
  const own = [...text.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, list]) =>
    list.split(",").filter((name) => name.trim() !== ""),
  );
  const again = [...text.matchAll(/export \* from "@branchlog\/(\w+)(\/[^"]+)?"/g)];
  return [
    ...own,
    ...again.flatMap(([, folder, subpath = ""]) => namesIn(typesOf(folder, subpath))),
  ];
}

function typesOf(folder, subpath) {
  const { exports } = readManifest(join(root, "packages", folder));
  return join("packages", folder, exports[`.${subpath}`].types);
}

function printDeepImports() {
  const tests = tracked("test/**/*.test.ts");
  const deep = tests.filter((path) => /from "[./]+\/packages\/\w+\/src\//.test(textOf(path)));
  const foreign = deep.filter((path) => !path.startsWith("test/core/"));
  print("tests", `${tests.length} files`);
  print("  that import internals", `${deep.length} files`);
  print("  outside of test/core", `${foreign.length} files`);
}

function manifests() {
  const paths = tracked("packages/*/package.json");
  return paths.map((path) => {
    const folder = dirname(path);
    const { exports = {} } = readManifest(join(root, folder));
    return { folder: folder.split("/")[1], exports };
  });
}

function entryPoint(folder, subpath) {
  const { exports } = readManifest(join(root, "packages", folder));
  return pathToFileURL(join(root, "packages", folder, exports[subpath].default)).href;
}

function tracked(...patterns) {
  const globs = patterns.map((pattern) => `:(glob)${pattern}`);
  const listed = execFileSync("git", ["ls-files", ...globs], { cwd: root });
  return listed.toString().split("\n").filter(Boolean);
}

function textOf(path) {
  return readFileSync(join(root, path), "utf8");
}

function print(title, ...facts) {
  console.log([title.padEnd(40), ...facts.map((fact) => fact.padStart(14))].join(""));
}
