/** Prints the first example of the README as a module, for runtimes that are tried with it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import ts from "typescript";

import { root } from "./packages.mjs";

/** @returns {string} Its TypeScript. */
export function firstExample() {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  return /^<!-- runs -->\n```ts\n([^]*?)^```$/m.exec(readme)?.[1] ?? "";
}

if (import.meta.filename === process.argv[1]) {
  const { outputText } = ts.transpileModule(firstExample(), {
    compilerOptions: { target: "ES2022" },
  });
  console.log(outputText);
}
