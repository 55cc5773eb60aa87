/** Runs the examples of the READMEs as a reader would, and compares what they print. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { readDocument } from "./tidy/documents.ts";
import { root } from "./tidy/source-file.ts";

/** A block of code under the mark `<!-- runs -->`, and the lines it says that it prints. */
interface Example {
  readonly name: string;
  readonly code: string;
  readonly prints: readonly string[];
}

const folder = mkdtempSync(join(tmpdir(), "branchlog-readme-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function examplesIn(markdown: string): Example[] {
  const blocks = markdown.matchAll(/^<!-- runs -->\n```js\n([^]*?)^```$/gm);
  return Array.from(blocks, ([, code = ""]) => {
    const name = /from "(@branchlog[^"]*)"/.exec(code)?.[1] ?? "an example";
    return { name, code, prints: printedLines(code) };
  });
}

/** Comments behind `console.log(…);`, and lines that are nothing but a comment. */
function printedLines(code: string): string[] {
  return code.split("\n").flatMap((line) => {
    const said = /^(?:.*console\.log\(.*\);|) ?\/\/ (.*)$/.exec(line)?.[1];
    return said === undefined ? [] : [said];
  });
}

/** Runs code on the sources; imports are resolved in the workspace, files land in the folder. */
async function run(code: string): Promise<string> {
  const source = `process.chdir(${JSON.stringify(folder)});\n${code}`;
  const options = ["--import", "tsx", "--conditions=@branchlog/source", "--input-type=module"];
  const { stdout } = await promisify(execFile)(process.execPath, [...options, "-e", source], {
    cwd: root,
  });
  return stdout;
}

const packages = ["streaming", "maintenance", "transfer", "connectonion"];
const documents = ["README.md", ...packages.map((name) => `packages/${name}/README.md`)];

describe("the README", () => {
  const { text } = readDocument("README.md");

  it("has at most 150 lines", () => {
    expect(text.split("\n").length).toBeLessThanOrEqual(151);
  });

  it("has examples, with what they print", () => {
    const sample = "<!-- runs -->\n```js\nlet a = 1; // one\nconsole.log(a); // 1\n// 2\n```\n";
    expect(examplesIn(sample)[0]?.prints).toEqual(["1", "2"]);
    expect(examplesIn(text).length).toBeGreaterThanOrEqual(3);
    for (const { prints } of examplesIn(text)) expect(prints).not.toEqual([]);
  });

  const examples = documents.flatMap((path) => examplesIn(readDocument(path).text));
  it.each(examples)(
    "and those of packages have examples that run: $name",
    async ({ code, prints }) => {
      expect(await run(code)).toBe(prints.map((line) => `${line}\n`).join(""));
    },
  );
});
