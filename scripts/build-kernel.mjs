/**
 * Compiles the scan kernel into `packages/streaming/src/scan-kernel-code.ts`, which is committed:
 * `node scripts/build-kernel.mjs`. With `--check` it writes nothing, and fails if what is committed
 * is not what the compiler gives.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { compileKernel } from "./checks/compile-kernel.mjs";
import { root } from "./checks/packages.mjs";

const path = join(root, "packages/streaming/src/scan-kernel-code.ts");
const text = moduleOf(await compileKernel());
if (!process.argv.includes("--check")) {
  await writeFile(path, text);
} else if ((await readFile(path, "utf8")) !== text) {
  console.error(`${path} is not what its sources give. Run: node scripts/build-kernel.mjs`);
  process.exitCode = 1;
}

function moduleOf(code) {
  const lines = code.toString("base64").match(/.{1,92}/g);
  return `/**
 * The scan kernel, compiled from \`../kernel\` by \`node scripts/build-kernel.mjs\`: a WebAssembly
 * module in base64. It is a module of its own so that every bundler takes it along.
 */
export const kernelCode: string =
${lines.map((line) => `  "${line}"`).join(" +\n")};
`;
}
