/**
 * Run by kernel-mutants.test.ts: compiles the scan kernel with each of the edits in a file, to
 * modules that are numbered as they are. An edit that fits nowhere fails.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

import { compileKernel } from "../../../scripts/checks/compile-kernel.mjs";

const [editsPath, directory] = process.argv.slice(2);
for (const [number, { file, from, to }] of JSON.parse(readFileSync(editsPath, "utf8")).entries()) {
  let isDone = false;
  const code = await compileKernel((name, text) => {
    if (name !== file || !text.includes(from)) return text;
    isDone = true;
    return text.replace(from, to);
  });
  if (!isDone) throw new Error(`${file} has no ${from}`);
  writeFileSync(join(directory, `${number}.wasm`), code);
}
