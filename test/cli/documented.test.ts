/** What docs/cli.md shows is what the command prints. Ids and times of new entries may differ. */
import { cpSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { commandNames } from "../../packages/cli/src/commands.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { following } from "./command-process.ts";
import { branchlog, fixture, MemoryOutput } from "./command-run.ts";

const documentPath = new URL("../../docs/cli.md", import.meta.url);

/** A command line of the document and what it says comes of it. */
interface Example {
  readonly line: string;
  readonly shown: string;
}

function examplesOf(text: string): Example[] {
  const blocks = Array.from(
    text.matchAll(/^```console\n([^]*?)^```$/gm),
    ([, block = ""]) => block,
  );
  return blocks.flatMap((block) => {
    const parts = block.split(/^\$ /m).slice(1);
    return parts.map((part) => {
      const end = part.indexOf("\n");
      return { line: part.slice(0, end), shown: part.slice(end + 1) };
    });
  });
}

/** The arguments of a line, quotes understood as a shell does. */
function wordsOf(line: string): string[] {
  const words = line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g);
  return Array.from(words, ([, single, double, plain]) => single ?? double ?? plain ?? "");
}

/** Runs an example where the files of the document are; the result as a reader would see it. */
async function resultOf({ line, shown }: Example, directory: string): Promise<string> {
  const [program, ...words] = wordsOf(line);
  expect(program).toBe("branchlog");
  if (words[0] === "watch") return beginningOf(["watch", join(directory, words[1] ?? "")], shown);
  const isPlace = (word: string): boolean => /\.(?:jsonl|yaml)$/.test(word) || word === "work";
  const files = words.map((word) => (isPlace(word) ? join(directory, word) : word));
  // A list is for people on a terminal; the others print the same in a pipe.
  const terminal = new MemoryOutput({ columns: 120, isTerminal: true });
  const isList = words[0] === "list";
  const { out, err } = await branchlog(files, {
    columns: 120,
    ...(isList ? { out: terminal } : {}),
  });
  return `${out}${terminal.text}${err}`.replaceAll(directory, "/home/you");
}

/**
 * As much as is shown of what a command prints that does not end. Its lines come in the order in
 * which files were read, which is another under load; the document has them by their times.
 */
async function beginningOf(words: readonly string[], shown: string): Promise<string> {
  const { child, lines } = following(words);
  const found = await lines(shown.split("\n").length - 1);
  child.kill();
  return found
    .toSorted()
    .map((line) => `${line}\n`)
    .join("");
}

/** Without what is new in every run. */
function settled(text: string): string {
  return text
    .replaceAll(/^appended \w{8} below \w{8}/gm, "appended … below …")
    .replaceAll(/"(id|parentId)":"\w{8}"/g, '"$1":"…"')
    .replaceAll(/^created [\w-]{36}$/gm, "created …")
    .replaceAll(/^opened in .*$/gm, "opened in …");
}

function prepare(): string {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, "fixtures"));
  cpSync(fixture(""), join(directory, "fixtures"), {
    recursive: true,
    filter: (path) => !path.includes("generator"),
  });
  mkdirSync(join(directory, "work"));
  for (const name of ["pi-linear.jsonl", "pi-branches.jsonl"]) {
    cpSync(fixture(name), join(directory, "work", name));
  }
  const lines = readFileSync(fixture("pi-linear.jsonl"), "utf8").split("\n");
  const damaged = lines.with(3, (lines[3] ?? "").slice(0, 100)).join("\n");
  const path = join(directory, "damaged.jsonl");
  writeFileSync(path, `${damaged}{"type":"mess`);
  // Of a file that changed just now, the end would be pending.
  utimesSync(path, new Date(0), new Date(0));
  return directory;
}

describe("docs/cli.md", () => {
  const text = readFileSync(documentPath, "utf8");

  it("shows every command", () => {
    const shown = examplesOf(text).map(({ line }) => wordsOf(line)[1]);
    for (const name of commandNames) expect(shown).toContain(name);
  });

  it("docs/cli.md shows the output of the commands", async () => {
    const directory = prepare();
    for (const example of examplesOf(text)) {
      const { line, shown } = example;
      const result = await resultOf(example, directory);
      expect(`$ ${line}\n${settled(shown)}`).toBe(`$ ${line}\n${settled(result)}`);
    }
  });
});
