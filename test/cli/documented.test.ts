/** What docs/cli.md and the README show is what the command prints. Ids and times of new entries may differ. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it, vi } from "vitest";
import { findingKinds } from "@branchlog/tools";
import { commandNames } from "../../packages/cli/src/commands.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { branchlog, fixture, MemoryOutput, onTerminal } from "./command-run.ts";

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

/**
 * Runs an example where the files of the document are, on a terminal or with `| cat` in a pipe; the
 * result as a reader would see it.
 */
async function resultOf({ line }: Example, directory: string): Promise<string> {
  const [program, ...words] = wordsOf(line);
  expect(program).toBe("branchlog");
  const isPlace = (word: string): boolean => /\.(?:jsonl?|yaml)$/.test(word) || word === "work";
  const files = words.map((word) => (isPlace(word) ? join(directory, word) : word));
  const isPiped = files.join(" ").endsWith(" | cat");
  const [runs, given] = isPiped ? [branchlog, files.slice(0, -2)] : [onTerminal, files];
  const text =
    words[0] === "watch" || words[0] === "serve"
      ? await beginningOf(files)
      : await runs(given, { columns: 120 }).then(({ out, err }) => `${out}${err}`);
  return text.replaceAll(directory, "/home/you");
}

/**
 * What a command prints that does not end, until it waits. Its lines come in the order in which
 * files were read, which is another under load; the document has them by their times.
 */
async function beginningOf(words: readonly string[]): Promise<string> {
  const interrupt = new AbortController();
  const onWrite = (text: string): void => {
    if (text.includes("watching") || text.includes("Ctrl-C")) interrupt.abort();
  };
  const out = new MemoryOutput({ columns: 120, isTerminal: true, onWrite });
  await branchlog(words, { out, err: new MemoryOutput({ onWrite }), signal: interrupt.signal });
  if (words[0] === "serve") return out.text;
  const lines = out.text.split("\n").slice(0, -1);
  return lines
    .map((line) => `${line}\n`)
    .toSorted()
    .join("");
}

/** Without what is new in every run. */
function settled(text: string): string {
  return (
    text
      .replaceAll(/^appended \w{8} below \w{8}/gm, "appended … below …")
      .replaceAll(/"(id|parentId)":"\w{8}"/g, '"$1":"…"')
      .replaceAll(/^created [\w-]{36}$/gm, "created …")
      .replaceAll(/^opened in .*$/gm, "opened in …")
      .replaceAll(/\b(undo|restore|undone: archive) [\w-]{36}$/gm, "$1 …")
      .replaceAll(/^[\w-]{36} {2}now/gm, "…  now")
      // Releases of Brotli differ.
      .replaceAll(/^(archived .*) in .*$/gm, "$1 in …")
      .replaceAll(/127\.0\.0\.1:\d+\/\?token=[\w-]+/g, "127.0.0.1:…/?token=…")
  );
}

function prepare(): string {
  const directory = temporaryDirectory();
  vi.stubEnv("BRANCHLOG_CACHE_DIR", join(directory, "cache"));
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

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("docs/cli.md", () => {
  const text = readFileSync(documentPath, "utf8");

  it("has the commands and options of the help", () => {
    const script = fileURLToPath(new URL("../../scripts/cli-document.mjs", import.meta.url));
    const { status, stderr } = spawnSync(process.execPath, [script, "--check"], {
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([0, ""]);
  });

  it("lists every kind of finding, with its weight", () => {
    const [, table = ""] = /### Findings\n([^]*?)\n\n<!--/.exec(text) ?? [];
    for (const [weight, kinds] of Object.entries(findingKinds)) {
      const row = table.split("\n").find((line) => line.startsWith(`| \`${weight}\``)) ?? "";
      for (const kind of kinds) expect(row).toContain(`\`${kind}\``);
    }
  });

  it("shows every command", () => {
    const shown = examplesOf(text).map(({ line }) => wordsOf(line)[1]);
    for (const name of commandNames) expect(shown).toContain(name);
  });

  it.each([
    ["docs/cli.md", text],
    ["README.md", readFileSync(new URL("../../README.md", import.meta.url), "utf8")],
    ["docs/how-to.md", readFileSync(new URL("../../docs/how-to.md", import.meta.url), "utf8")],
  ])("%s shows the output of the commands", async (_, document) => {
    const directory = prepare();
    vi.stubEnv("HOME", temporaryDirectory());
    vi.stubEnv("BRANCHLOG_DATA_DIR", temporaryDirectory());
    for (const example of examplesOf(document)) {
      const { line, shown } = example;
      const result = await resultOf(example, directory);
      expect(`$ ${line}\n${settled(shown)}`).toBe(`$ ${line}\n${settled(result)}`);
    }
  });
});
