/** What commands print in a pipe: a record a line, fields separated by tabs, nothing cut. */
import { appendFileSync, copyFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import { recordLine } from "../../packages/cli/src/text/records.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { branchlog, fixture, MemoryOutput } from "./command-run.ts";

async function recordsOf(...words: readonly string[]): Promise<readonly (readonly string[])[]> {
  const { code, out, err } = await branchlog(words, { columns: 20 });
  expect([code, err]).toEqual([0, ""]);
  return out
    .split("\n")
    .slice(0, -1)
    .map((line) => line.split("\t"));
}

async function said(content: string): Promise<{ readonly path: string; readonly id: string }> {
  const path = join(temporaryDirectory(), "s.jsonl");
  const session: Session = await createSession(path, { cwd: "/w" });
  const message = { role: "user" as const, content, timestamp: 1 };
  return { path, id: (await session.append({ type: "message", message })).id };
}

const long = `first\tline\r\nsecond ${"long ".repeat(500)}end`;
const whole = `first line second ${"long ".repeat(500)}end`;

describe("a record", () => {
  it("has tab-separated fields, and an absent one is empty", () => {
    expect(recordLine(["a", undefined, null, 0, ""])).toBe("a\t\t\t0\t\n");
  });

  it("stays one line of as many fields when a field has tabs, line ends or control characters", () => {
    const hostile = "a\tb\r\nc\rd\u2028e\u001B[31mf\u202Eg";
    expect(recordLine([hostile, "x"])).toBe("a b c d e\uFFFD[31mf\uFFFDg\tx\n");
  });

  it("keeps the spaces of a path", () => {
    expect(recordLine(["/a  b/c "])).toBe("/a  b/c \n");
  });
});

describe("in a pipe", () => {
  it.each(["entries", "tail"])("%s prints id, time, type, role and whole text", async (command) => {
    const { path, id } = await said(long);
    const [[first, time, ...rest] = []] = await recordsOf(command, path);
    expect([first, ...rest]).toEqual([id, "message", "user", whole]);
    expect(new Date(time ?? "").toISOString()).toBe(time);
  });

  it("tree prints every entry with parent, label and leaf, as deep as --depth says", async () => {
    const file = join(temporaryDirectory(), "s.jsonl");
    copyFileSync(fixture("pi-branches.jsonl"), file);
    await branchlog(["label", file, "5b2e9d02", "good\tone"]);
    const records = await recordsOf("tree", file);
    expect(records).toHaveLength(11);
    expect(records.every((fields) => fields.length === 8)).toBe(true);
    const second = ["message", "assistant", "5b2e9d01", "good one", "", "Two ways: LRU or TTL."];
    expect(records[1]).toEqual(["5b2e9d02", "2025-06-04T09:00:03.000Z", ...second]);
    expect(records.filter((fields) => fields[6] === "leaf")).toHaveLength(1);
    const shallow = (await recordsOf("tree", file, "--depth", "0")).map(([id]) => id);
    expect(shallow).toHaveLength(8);
    expect(shallow).not.toContain("5b2e9d07");
  });

  it("search prints entry, time, kind, role, tool, path and text", async () => {
    const { path, id } = await said("Why is\nthe build red?");
    const [[entry, , ...rest] = []] = await recordsOf("search", "build", path, "-C", "1");
    expect([entry, ...rest]).toEqual([id, "message", "user", "", path, "Why is the build red?"]);
  });

  it("turns prints number, time, verdict, cost and whole texts, and no summary", async () => {
    const file = fixture("connectonion-dumped.yaml");
    const [first, second, ...others] = await recordsOf("turns", file);
    expect(others).toEqual([]);
    expect(first?.slice(0, 7)).toEqual([
      "1",
      "2026-01-05T09:00:03",
      "",
      "2310",
      "812",
      "0.0021",
      "co/gemini-2.5-pro",
    ]);
    expect(second).toEqual(
      ["2", "2026-01-05T09:01:10", "yes", "990", "40", "0.0001", "co/gemini-2.5-pro"].concat([
        "yes",
        "12:30:45",
        "A time of day",
      ]),
    );
  });

  it("prints no colours even if requested", async () => {
    const file = fixture("pi-branches.jsonl");
    for (const command of ["info", "tree", "entries", "tail", "turns", "list"]) {
      const out = new MemoryOutput({ hasColours: true });
      await branchlog([command, file], { out });
      expect(out.text).not.toContain("\u001B");
    }
  });

  it("prints data of any depth", async () => {
    const { path } = await said("x");
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const facts = '"customType":"c","id":"deep","parentId":null,"timestamp":""';
    appendFileSync(path, `{"type":"custom",${facts},"data":${deep}}\n`);
    for (const command of ["entries", "tail", "tree"]) {
      const last = (await recordsOf(command, path)).at(-1);
      expect(last?.slice(0, 4)).toEqual(["deep", "", "custom", ""]);
      expect(last?.at(-1)).toMatch(/^c \[{501}…\]{501}$/);
    }
  });
});
