/** The commands that write: what is acknowledged is in the log, and nothing else is. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { openSession } from "@branchlog/core";
import { branchlog, copyOf, jsonLines, MemoryOutput } from "./command-run.ts";

const custom = (customType: string): string => JSON.stringify({ type: "custom", customType });

async function customTypes(file: string): Promise<string[]> {
  const { code, out, err } = await branchlog(["entries", file, "--type", "custom", "--json"]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return jsonLines(out).map((entry) => (entry as { customType: string }).customType);
}

it("append prints each acknowledged entry", async () => {
  const file = copyOf("pi-branches.jsonl");
  const { code, out } = await branchlog(["append", file, "--user", "Hello 🌲"]);
  expect(code).toBe(0);
  const [, id = ""] = /^appended (\w{8}) below 5b2e9d0a, revision 11\n$/.exec(out) ?? [];
  const session = await openSession(file);
  expect(session.tail).toBe(id);
  expect(await session.entry(id)).toMatchObject({
    parentId: "5b2e9d0a",
    message: {
      role: "user",
      content: [{ type: "text", text: "Hello 🌲" }],
      timestamp: Date.UTC(2026, 0, 1),
    },
  });
});

it("append --json prints the entry with its position", async () => {
  const file = copyOf("pi-branches.jsonl");
  const size = readFileSync(file).length;
  const { out } = await branchlog(["append", file, "--entry", custom("x"), "--json"]);
  expect(jsonLines(out)).toMatchObject([
    { parentId: "5b2e9d0a", revision: 11, position: { generation: 1, offset: size } },
  ]);
});

it("append rejects an unknown type, of one draft or of a line, unless it is allowed", async () => {
  const file = copyOf("pi-branches.jsonl");
  const before = readFileSync(file);
  const one = await branchlog(["append", file, "--entry", '{"type":"mesage"}']);
  expect([one.code, one.out]).toEqual([1, ""]);
  expect(one.err).toContain('Did you mean "message"?');
  expect(one.err).toContain("branchlog append --allow-unknown-type");
  expect(readFileSync(file).equals(before)).toBe(true);
  const input = [`${custom("a")}\n{"type":"lable"}\n{"type":"x:note"}\n`];
  const lines = await branchlog(["append", file, "-"], { input });
  expect(lines.code).toBe(1);
  expect(lines.err).toContain("Line 2 of the input");
  expect(lines.err).toContain('Did you mean "label"?');
  expect(await customTypes(file)).toEqual(["a"]);
  const allowed = await branchlog(["append", file, "-", "--allow-unknown-type"], { input });
  expect([allowed.code, allowed.out.split("\n").length]).toEqual([0, 4]);
  const verified = await branchlog(["verify", file]);
  expect(verified.code).toBe(0);
  expect(verified.out).toContain("1 unknown type\n  lable: 1 entry, the first is ");
  expect(verified.out).toContain("; did you mean label?\nnoted: unknown-type 1\nno damage\n");
  expect((await branchlog(["info", file])).out).toContain("\nnoted.unknown-type\t1\n");
});

it.each([
  ["an entry", "5b2e9d02", "5b2e9d02"],
  ["the tail", "tail", "5b2e9d0a"],
  ["nothing", "none", null],
])("appends below %s", async (_what, parent, parentId) => {
  const file = copyOf("pi-branches.jsonl");
  const words = ["append", file, "--user", "x", "--parent", parent, "--json"];
  expect(jsonLines((await branchlog(words)).out)).toMatchObject([{ parentId }]);
});

it("append reports the actual tail and writes nothing when another was expected", async () => {
  const file = copyOf("pi-branches.jsonl");
  const before = readFileSync(file);
  const words = ["append", file, "--user", "x", "--expected-tail", "5b2e9d01", "--json"];
  const { code, out, err } = await branchlog(words);
  expect([code, out]).toEqual([1, ""]);
  expect(jsonLines(err)).toMatchObject([{ error: { code: "ERR_CONFLICT", tail: "5b2e9d0a" } }]);
  expect(readFileSync(file).equals(before)).toBe(true);
  const expected = words.with(5, "5b2e9d0a");
  expect((await branchlog(expected)).code).toBe(0);
});

it.each([
  ["{bad", 2],
  ["[1]", 2],
  ['{"customType":"no type"}', 2],
  ['{"type":"session"}', 1],
  ['{"type":"custom","id":"mine"}', 1],
])("append rejects the draft %s and writes nothing", async (draft, code) => {
  const file = copyOf("pi-branches.jsonl");
  const before = readFileSync(file);
  expect(await branchlog(["append", file, "--entry", draft])).toMatchObject({ code, out: "" });
  expect(readFileSync(file).equals(before)).toBe(true);
});

describe("append from standard input", () => {
  const drafts = (...names: string[]): string => names.map((name) => `${custom(name)}\n`).join("");

  it("append chains drafts from standard input in any chunking", async () => {
    const text = `${drafts("a", "b")}\r\n\n${custom("c")}`;
    for (const cut of [1, 20, 50, text.length]) {
      const file = copyOf("pi-branches.jsonl");
      const input = [text.slice(0, cut), text.slice(cut)];
      const { code, out } = await branchlog(["append", file, "-", "--json"], { input });
      expect(code).toBe(0);
      const results = jsonLines(out) as { id: string; parentId: string }[];
      expect(results.map(({ parentId }) => parentId)).toEqual([
        "5b2e9d0a",
        results[0]?.id,
        results[1]?.id,
      ]);
      expect(await customTypes(file)).toEqual(["a", "b", "c"]);
    }
  });

  it("append applies parent and expected tail to the first draft only", async () => {
    const file = copyOf("pi-branches.jsonl");
    const words = ["append", file, "-", "--parent", "5b2e9d02", "--expected-tail", "5b2e9d0a"];
    const input = [drafts("a"), drafts("b")];
    const { code, out } = await branchlog([...words, "--json"], { input });
    expect(code).toBe(0);
    const results = jsonLines(out) as { id: string; parentId: string }[];
    expect(results.map(({ parentId }) => parentId)).toEqual(["5b2e9d02", results[0]?.id]);
  });

  it.each([
    ["is no JSON", "nope"],
    ["is not an object", "[1]"],
    ["has no type", "{}"],
    ["the engine refuses", '{"type":"custom","id":"mine"}'],
  ])("append stops at a line that %s; drafts before it are in the log", async (_what, bad) => {
    const file = copyOf("pi-branches.jsonl");
    const input = [`${drafts("a", "b")}${bad}\n${drafts("c")}`];
    const { code, out, err } = await branchlog(["append", file, "-", "--json"], { input });
    expect(code).toBe(1);
    expect(jsonLines(out)).toHaveLength(2);
    expect(err).toContain("Line 3 of the input: ");
    expect(err).toContain("entries appended before: 2");
    expect(jsonLines(err)).toMatchObject([{ error: { code: "ERR_INVALID_ARGUMENT" } }]);
    expect(await customTypes(file)).toEqual(["a", "b"]);
  });

  it("append writes thousands of drafts in order", async () => {
    const file = copyOf("pi-branches.jsonl");
    const names = Array.from({ length: 5_000 }, (_, i) => `n${i}`);
    const { code } = await branchlog(["append", file, "-"], { input: [drafts(...names)] });
    expect(code).toBe(0);
    expect(await customTypes(file)).toEqual(names);
  });

  it("append ends when it is interrupted, with the drafts received so far in the log", async () => {
    const file = copyOf("pi-branches.jsonl");
    const interrupt = new AbortController();
    const input = [drafts("a"), drafts("b")];
    const out = new MemoryOutput({ onWrite: () => interrupt.abort() });
    const result = await branchlog(["append", file, "-"], { input, out, signal: interrupt.signal });
    expect(result).toMatchObject({ code: 130, err: "" });
    expect(await customTypes(file)).toEqual(["a"]);
  });
});

describe("name", () => {
  it("name is set, printed and cleared", async () => {
    const file = copyOf("pi-branches.jsonl");
    expect(await branchlog(["name", file])).toMatchObject({ code: 0, out: "" });
    expect(jsonLines((await branchlog(["name", file, "--json"])).out)).toEqual([{ name: null }]);
    expect((await branchlog(["name", file, "  Fix\nthe cache "])).out).toMatch(/^appended /);
    expect((await branchlog(["name", file])).out).toBe("Fix the cache\n");
    expect((await branchlog(["name", file, "--clear"])).code).toBe(0);
    expect((await branchlog(["name", file])).out).toBe("");
  });

  it("cannot be empty", async () => {
    const file = copyOf("pi-branches.jsonl");
    expect((await branchlog(["name", file, " \n"])).code).toBe(2);
  });

  it("name sends no control sequences to the terminal", async () => {
    const file = copyOf("pi-branches.jsonl");
    await branchlog(["name", file, "\u001B[2Jgone"]);
    expect((await branchlog(["name", file])).out).toBe("\uFFFD[2Jgone\n");
  });
});
