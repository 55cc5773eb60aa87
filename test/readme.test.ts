/**
 * Compiles the examples of the READMEs and of the guide under the strictest options of a consumer,
 * runs those that are marked, and compares what they print.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readDocument } from "./tidy/documents.ts";
import { root } from "./tidy/source-file.ts";

/** A block of code; whether it runs, by the mark `<!-- runs -->`, and the lines that it prints. */
interface Example {
  readonly name: string;
  readonly code: string;
  readonly runs: boolean;
  readonly prints: readonly string[];
}

const folder = mkdtempSync(join(tmpdir(), "branchlog-readme-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function examplesIn(markdown: string): Example[] {
  const blocks = markdown.matchAll(/^(<!-- runs -->\n)?```[jt]s\n([^]*?)^```$/gm);
  return Array.from(blocks, ([, mark, code = ""]) => {
    const name = /from "(branchlog[^"]*)"/.exec(code)?.[1] ?? "an example";
    return { name, code, runs: mark !== undefined, prints: printedLines(code) };
  });
}

/** Comments after `console.log(…);`, and lines that are nothing but a comment. */
function printedLines(code: string): string[] {
  return code.split("\n").flatMap((line) => {
    const said = /^(?:.*console\.log\(.*\);|) ?\/\/ (.*)$/.exec(line)?.[1];
    return said === undefined ? [] : [said];
  });
}

/** Runs Node in the folder, which has the packages of the workspace. */
async function node(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder });
  return stdout;
}

/** What a program printed that failed. */
function outputOf(error: unknown): unknown {
  return error instanceof Error && "stdout" in error ? error.stdout : error;
}

const readmes = readdirSync(join(root, "packages")).map((name) => `packages/${name}/README.md`);
const documents = [
  "README.md",
  "docs/guide.md",
  "docs/cookbook.md",
  "docs/entry-points.md",
  "docs/sdks.md",
  ...readmes.filter((path) => existsSync(join(root, path))),
];
const examples = documents
  .flatMap((path) => examplesIn(readDocument(path).text))
  .map((example, i) => ({ ...example, file: `example-${i}.mts` }));

const compilerOptions = {
  target: "ES2022",
  lib: ["ES2023", "ESNext.Disposable"],
  module: "NodeNext",
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  types: ["node"],
  noEmit: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
};

symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
for (const { file, code } of examples) writeFileSync(join(folder, file), code);

describe("the README", () => {
  const { text } = readDocument("README.md");

  it("has at most 150 lines", () => {
    expect(text.split("\n").length).toBeLessThanOrEqual(151);
  });

  it("has examples with their output", () => {
    const sample = "<!-- runs -->\n```ts\nlet a = 1; // one\nconsole.log(a); // 1\n// 2\n```\n";
    expect(examplesIn(sample)[0]?.prints).toEqual(["1", "2"]);
    expect(examplesIn(text).length).toBeGreaterThanOrEqual(2);
    for (const { prints } of examplesIn(text)) expect(prints).not.toEqual([]);
  });

  it("and those of packages have examples that compile under strict options", async () => {
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
    expect(await node(tsc, "--project", folder).catch(outputOf)).toBe("");
  });

  // Several in one process, as starting one takes longer than an example.
  const running = examples.filter(({ runs }) => runs);
  let printed: ReadonlyMap<string, string>;
  beforeAll(async () => {
    const program = join(root, "test", "support", "examples-process.mjs");
    const options = ["--import", "tsx", "--conditions=@branchlog/source"];
    const output = await node(...options, program, ...running.map(({ file }) => file));
    const pieces = output.matchAll(/^\f(.*)\n([^\f]*)/gm);
    printed = new Map(Array.from(pieces, ([, file = "", lines = ""]) => [file, lines]));
  });

  it.each(running)("and those of packages have examples that run: $name", ({ file, prints }) => {
    expect(printed.get(file)).toBe(prints.map((line) => `${line}\n`).join(""));
  });
});
