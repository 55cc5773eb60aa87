/** Commands that write, and `export`, given the name or the id of a session instead of its path. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openSession } from "@branchlog/core";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { branchlog, jsonLines } from "./command-run.ts";

const startDirectory = process.cwd();
let directory: string;
let path: string;
let other: string;

const header = (id: string): string =>
  `{"type":"session","version":3,"id":"${id}","timestamp":"2025-12-31T12:00:00.000Z","cwd":"/w"}\n`;
const named = (name: string): string =>
  `{"type":"session_info","id":"1","parentId":null,"timestamp":"2025-12-31T12:00:00.000Z","name":"${name}"}\n`;

/** A home with two sessions of pi whose ids begin alike. */
beforeEach(() => {
  const home = temporaryDirectory();
  vi.stubEnv("HOME", home);
  directory = join(home, ".pi/agent/sessions/--w--");
  mkdirSync(directory, { recursive: true });
  path = join(directory, "a.jsonl");
  other = join(directory, "b.jsonl");
  writeFileSync(path, header("0197-a") + named("The one"));
  writeFileSync(other, header("0197-b") + named("The other"));
});
afterEach(() => {
  process.chdir(startDirectory);
  vi.unstubAllEnvs();
});

async function expectFine(...words: readonly string[]): Promise<string> {
  const { code, out, err } = await branchlog(words);
  expect([code, err]).toEqual([0, ""]);
  return out;
}

it.each(["The one", "the ONE", "0197-a", "0197-A"])(
  "a session called %s is appended to, named, labelled, repaired and exported",
  async (word) => {
    const before = readFileSync(other, "utf8");
    await expectFine("append", word, "--user", "hello");
    const { leaf } = await openSession(path);
    await expectFine("label", word, leaf ?? "", "here");
    expect(await expectFine("repair", word)).toContain(path);
    expect(await expectFine("export", word, "--to", "markdown")).toContain("hello");
    await expectFine(
      "export",
      word,
      "--to",
      "pi",
      "-o",
      join(temporaryDirectory(), "linear.jsonl"),
    );
    await expectFine("name", word, "Another");
    const session = await openSession(path);
    expect([session.name, session.label(leaf ?? "")?.label]).toEqual(["Another", "here"]);
    expect(readFileSync(other, "utf8")).toBe(before);
  },
);

describe.each([
  ["append", ["--user", "hello"]],
  ["name", ["A name"]],
  ["label", ["1", "here"]],
  ["repair", ["--apply"]],
])("%s", (command, more) => {
  it("a command does nothing and lists the sessions when several match", async () => {
    const before = [path, other].map((file) => readFileSync(file, "utf8"));
    const { code, err } = await branchlog([command, "0197", ...more, "--json"]);
    expect(code).toBe(1);
    const [failure] = jsonLines(err) as [{ error: { code: string; candidates: string[] } }];
    expect(failure.error.code).toBe("ERR_SESSION_AMBIGUOUS");
    expect(failure.error.candidates.toSorted()).toEqual([path, other]);
    expect([path, other].map((file) => readFileSync(file, "utf8"))).toEqual(before);
  });

  it("a command prefers an existing path to a name", async () => {
    process.chdir(temporaryDirectory());
    writeFileSync("The one", header("mine") + named("Mine"));
    const before = readFileSync(path, "utf8");
    await expectFine(command, "The one", ...more);
    expect(readFileSync(path, "utf8")).toBe(before);
  });

  it.each([
    ["gone.jsonl", "ERR_LOG_MISSING"],
    ["./The one", "ERR_LOG_MISSING"],
    ["nobody", "ERR_SESSION_NOT_FOUND"],
  ])("finds no session for %s", async (word, problem) => {
    process.chdir(temporaryDirectory());
    const before = readFileSync(path, "utf8");
    const { code, err } = await branchlog([command, word, ...more]);
    expect([code, err]).toEqual([1, expect.stringContaining(problem)]);
    expect(readFileSync(path, "utf8")).toBe(before);
  });
});

it("@latest is the session that changed last, of the working directory if it has one", async () => {
  writeFileSync(other, header("0197-b").replace("2025", "2026") + named("The other"));
  expect(await expectFine("name", "@latest")).toBe("The other\n");
  const here = temporaryDirectory();
  process.chdir(here);
  writeFileSync(path, header("0197-a").replace("/w", here) + named("The one"));
  expect(await expectFine("name", "@latest")).toBe("The one\n");
  // Both ids have this prefix.
  expect(await expectFine("name", "0197")).toBe("The one\n");
});

describe("completions", () => {
  const offered = async (...words: string[]): Promise<string[]> => {
    const lines = (await expectFine("--complete", ...words)).split("\n");
    return lines.filter((line) => line !== "").map((line) => line.replace(/\t.*$/u, ""));
  };

  it("offer names of sessions, and unique prefixes of their ids", async () => {
    process.chdir(temporaryDirectory());
    expect((await offered("info", "")).toSorted()).toEqual([
      "0197-a",
      "0197-b",
      "The one",
      "The other",
    ]);
    expect(await offered("info", "the on")).toEqual(["The one"]);
    expect((await offered("info", "01")).toSorted()).toEqual(["0197-a", "0197-b"]);
    writeFileSync("0197.jsonl", "");
    // The shell has a file.
    expect(await offered("info", "01")).toEqual([]);
    expect(await offered("info", "./")).toEqual([]);
  });

  it("offer the labels and ids of a session, and nothing for an unreadable session", async () => {
    await expectFine("label", path, "1", "good");
    const ids = await offered("context", path, "--at", "");
    expect(ids.slice(0, 3)).toEqual(["@leaf", "@tail", "good"]);
    expect(ids).toContain("1");
    expect(await offered("label", path, "g")).toEqual(["good"]);
    expect(await offered("context", "nobody", "--at", "")).toEqual([]);
  });
});

describe("an entry", () => {
  const entry = (id: string, parentId: string | null): string =>
    `${JSON.stringify({ type: "custom", customType: "x", id, parentId, timestamp: "2025-12-31T12:00:00.000Z" })}\n`;

  beforeEach(() => {
    writeFileSync(
      path,
      header("0197-a") + entry("aa01", null) + entry("aa02", "aa01") + entry("bb03", "aa02"),
    );
  });

  it("is named by a prefix of its id, its label, @leaf, @tail or ~N in every command", async () => {
    await expectFine("label", path, "bb", "good");
    expect(await expectFine("context", path, "--at", "good", "--json")).toBe(
      await expectFine("context", path, "--at", "bb03", "--json"),
    );
    const fork = join(temporaryDirectory(), "fork.jsonl");
    expect(await expectFine("fork", path, "--at", "good~1", "-o", fork)).toContain("up to aa02");
    const linear = join(temporaryDirectory(), "linear.jsonl");
    await expectFine("export", path, "--to", "pi", "-o", linear, "--at", "good~");
    expect((await openSession(linear, { access: "read" })).tail).toBe("aa02");
    expect(await expectFine("append", path, "--user", "x", "--parent", "good~2")).toContain(
      "below aa01",
    );
    expect(await expectFine("append", path, "--user", "x", "--parent", "@tail~1")).toContain(
      "below aa01",
    );
    const stale = await branchlog(["append", path, "--user", "x", "--expected-tail", "bb"]);
    expect([stale.code, stale.err]).toEqual([1, expect.stringContaining("ERR_CONFLICT")]);
    await expectFine("append", path, "--user", "x", "--expected-tail", "@tail");
    await expectFine("label", path, "good");
    expect((await openSession(path)).labels.size).toBe(0);
  });

  it.each([
    "context FILE --at aa",
    "fork FILE --at aa",
    "export FILE --to pi --at aa",
    "append FILE --user x --parent aa",
    "label FILE aa x",
  ])("an ambiguous prefix changes nothing and lists the candidates: %s", async (line) => {
    const before = readFileSync(path, "utf8");
    const words = line.split(" ").map((word) => (word === "FILE" ? path : word));
    const { code, out, err } = await branchlog(
      [...words, "--json"].slice(0, line.startsWith("export") ? -1 : undefined),
    );
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain("aa01");
    expect(err).toContain("aa02");
    expect(readFileSync(path, "utf8")).toBe(before);
  });
});
