#!/usr/bin/env node
/**
 * The start of the command. Texts that need neither the parser nor the engine are printed at once;
 * everything else is a command, or reports what is wrong.
 */
import { readFileSync } from "node:fs";
import { isPrinted } from "./quick-output.ts";

const words = process.argv.slice(2);
const text = isVersion(words) ? `${packageVersion()}\n` : await quickTextOf(words);
if (text === undefined || !isPrinted(text)) {
  const { runProcess } = await import("./command-process.ts");
  await runProcess(words, packageVersion);
}

function isVersion([word, ...others]: readonly string[]): boolean {
  return others.length === 0 && (word === "--version" || word === "-V");
}

async function quickTextOf(given: readonly string[]): Promise<string | undefined> {
  const { quickText } = await import("./quick-text.ts");
  return quickText(given, { version: packageVersion, shell: process.env["SHELL"] });
}

function packageVersion(): string {
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  // Decoding boundary: our own package.json.
  return (JSON.parse(manifest) as { version: string }).version;
}
