/**
 * Makes the page of `branchlog serve` from its sources: `node scripts/page.mjs`, into
 * `packages/web/assets`. Four files without anything inline, as the policy of the server demands.
 */
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import { rolldown } from "rolldown";

import { root } from "./checks/packages.mjs";
import { licences } from "./bundle/licences.mjs";

const web = join(root, "packages", "web");
const source = join(web, "src", "page");
const target = join(web, "assets");
const { resolve } = createRequire(join(web, "package.json"));

/** What all files together may have, compressed. */
const gzippedMax = 170_000;

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
const modules = [
  ...(await bundle("main.tsx", "page.js")),
  ...(await bundle("highlight-worker.ts", "highlight.js")),
];
const styles = readdirSync(source).filter((name) => name.endsWith(".css"));
// What is common to all views comes first.
styles.sort((one, other) => Number(other === "page.css") - Number(one === "page.css"));
const style = styles.map((name) => readFileSync(join(source, name), "utf8")).join("\n");
const chartStyle = readFileSync(join(resolve("uplot"), "..", "uPlot.min.css"), "utf8");
writeFileSync(join(target, "page.css"), `${chartStyle}\n${minified(style)}`);
copyFileSync(join(source, "index.html"), join(target, "index.html"));
writeFileSync(join(target, "licences.txt"), licences(modules));

let total = 0;
for (const name of ["index.html", "page.js", "page.css", "highlight.js"]) {
  const bytes = readFileSync(join(target, name));
  const gzipped = gzipSync(bytes, { level: 9 }).length;
  total += gzipped;
  console.log(`${name}: ${bytes.length} bytes, ${gzipped} gzipped`);
}
console.log(`all: ${total} gzipped, at most ${gzippedMax}`);
if (total > gzippedMax) process.exitCode = 1;

/** One file with all that it imports. @returns {Promise<readonly string[]>} Its modules. */
async function bundle(input, name) {
  const build = await rolldown({
    input: join(source, input),
    platform: "browser",
    tsconfig: false,
    transform: {
      jsx: { runtime: "automatic", importSource: "preact" },
      define: { "process.env.NODE_ENV": '"production"' },
    },
  });
  const { output } = await build.write({
    file: join(target, name),
    format: "esm",
    minify: true,
    codeSplitting: false,
  });
  return output.flatMap((file) => file.moduleIds ?? []);
}

/** Without comments and indentation. */
function minified(css) {
  return css
    .replaceAll(/\/\*[^]*?\*\//g, "")
    .replaceAll(/\s*\n\s*/g, "")
    .replaceAll(/\s*([{};,])\s*/g, "$1");
}
