/** Arguments that are the address of a session in a database, the database, or a session file. */
import { copyFileSync, existsSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { databaseOf, dumpOf } from "../agents/opencode/opencode-fixtures.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { branchlog, fixture, jsonLines, MemoryOutput } from "./command-run.ts";

const id = "ses_dd9aa6119ffe5CHsRM7LE678XU";
let [database, address] = ["", ""];

beforeEach(async () => {
  database = await databaseOf(temporaryDirectory(), dumpOf("1.18.33"));
  address = `${database}#${id}`;
});

interface Line {
  readonly path?: string;
  readonly turns?: number;
  readonly sessions?: number;
}

async function linesOf(...words: readonly string[]): Promise<readonly Line[]> {
  const { code, out, err } = await branchlog([...words, "--json"]);
  expect([code, err]).toEqual([0, ""]);
  // Decoding boundary: what the command has just printed.
  return jsonLines(out) as readonly Line[];
}

describe("the address of a session in a database", () => {
  it.each([
    "info",
    "turns",
    "context",
    "entries",
    "tree",
    "tail",
    "verify",
    "search notes",
    "name",
  ])("is an argument of %s", async (command) => {
    const { code, err } = await branchlog([...command.split(" "), address]);
    expect([code, err]).toEqual([0, ""]);
  });

  it("alone shows the session, as its path or as a file of the working directory", async () => {
    const { out, code } = await branchlog([address]);
    expect([code, out.includes(`opencode --session ${id}`)]).toEqual([0, true]);
    const shown = new MemoryOutput({ isTerminal: true });
    await branchlog([address], { out: shown });
    expect(shown.text).toContain("of opencode, read-only here");
  });

  it("shows that session in a list, and counts only it", async () => {
    expect((await linesOf("list", address)).map(({ path }) => path)).toEqual([address]);
    const all = (await linesOf("list", database)).map(({ path }) => path);
    expect([all.length, all.includes(address)]).toEqual([3, true]);
    const [own] = await linesOf("stats", address);
    const [ofAll] = await linesOf("stats", database);
    expect([own?.sessions, own?.turns]).toEqual([1, 5]);
    expect([ofAll?.sessions, ofAll?.turns]).toEqual([3, 7]);
  });

  it("is imported, exported and verified with the others of its database", async () => {
    for (const words of [["import"], ["export", "--to", "hf"]]) {
      const target = join(temporaryDirectory(), "new");
      const { code, err } = await branchlog([...words, database, "-o", target]);
      expect([code, err]).toEqual([0, ""]);
      // A list, from which exports are, leaves out the subagent.
      expect(readdirSync(target).length).toBe(words.length === 1 ? 4 : 3);
    }
    for (const place of [database, dirname(database)]) {
      const verified = (await linesOf("verify", place)).map(({ path }) => path);
      expect([verified.length, verified.includes(address)]).toEqual([4, true]);
    }
    writeFileSync(database, "SQLite format 3\0 and no more");
    const { code, out } = await branchlog(["verify", dirname(database)]);
    expect([code, out.includes("1 not read")]).toEqual([1, true]);
  });

  it("is the session that a served page opens", async () => {
    for (const [word, opened] of [
      [address, true],
      [database, false],
    ] as const) {
      const interrupt = new AbortController();
      let start: Promise<Response> | undefined;
      const out = new MemoryOutput({
        onWrite: (text) => {
          const { url } = JSON.parse(text) as { readonly url: string };
          start = fetch(url, { redirect: "manual" }).finally(() => interrupt.abort());
        },
      });
      await branchlog(["serve", word, "--json"], { out, signal: interrupt.signal });
      expect((await start)?.headers.get("location")?.startsWith("/s/")).toBe(opened);
    }
  });

  it.each([
    [["repair"], "is a session of opencode"],
    [["delete", "--yes"], "is stored by opencode together with other sessions"],
    [["archive"], "is stored by opencode together with other sessions"],
    [["name", "-"], "which only that agent writes to"],
    [["watch"], "branchlog tail -f follows it"],
  ])("is refused by %s, with the reason", async ([command = "", ...words], reason) => {
    const { code, err } = await branchlog([command, address, ...words]);
    expect(code).not.toBe(0);
    expect(err).toContain(reason);
  });
});

it("a session file shows that session in a list, as its name does", async () => {
  const directory = temporaryDirectory();
  for (const name of ["pi-linear", "pi-branches"]) {
    copyFileSync(fixture(`${name}.jsonl`), join(directory, `${name}.jsonl`));
  }
  const path = join(directory, "pi-linear.jsonl");
  expect((await linesOf("list", path)).map((line) => line.path)).toEqual([path]);
});

it("a database of another program is no session, whatever texts are in it", async () => {
  for (const name of ["other.db", "other.jsonl"]) {
    const path = join(temporaryDirectory(), name);
    copyFileSync(database, path);
    const { code, err } = await branchlog(["info", path]);
    expect(code).toBe(1);
    expect(err).toContain("no line is a session header");
    expect(existsSync(`${path}.branchlog-index`)).toBe(false);
  }
});
