/** `branchlog list` over the sessions of several agents: which, in which order, how many. */
import { copyFileSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { displayWidth } from "../../packages/cli/src/text/display-width.ts";
import { registeredAgents } from "@branchlog/core/rows";
import { agentNames, foreignAgentNames } from "../../packages/cli/src/session-filter.ts";
import { branchlog, fixture, jsonLines, MemoryOutput } from "./command-run.ts";

let root = "";
beforeEach(() => {
  root = temporaryDirectory();
  for (const name of ["claude/conversation", "claude/sidechains", "codex/rollback", "pi-linear"]) {
    mkdirSync(join(root, name), { recursive: true });
    copyFileSync(fixture(`${name}.jsonl`), join(root, name, "session.jsonl"));
  }
});

async function shown(...words: readonly string[]): Promise<readonly string[]> {
  const { code, out } = await branchlog(["list", root, "--json", ...words]);
  expect(code).toBe(0);
  // Decoding boundary: what the command has just printed.
  return jsonLines(out).map((line) => (line as { readonly agent: string }).agent);
}

describe("list", () => {
  it("has the sessions of every agent, or the requested ones", async () => {
    expect((await shown()).toSorted()).toEqual(["claude", "claude", "codex", "pi"]);
    expect(await shown("--agent", "codex")).toEqual(["codex"]);
    expect((await shown("--agent", "pi,codex")).toSorted()).toEqual(["codex", "pi"]);
  });

  it("accepts the name of every registered agent", () => {
    expect(registeredAgents().map(({ name }) => name)).toEqual(agentNames);
    const foreign = registeredAgents().filter(
      ({ transcripts, documents }) => transcripts ?? documents,
    );
    expect(foreign.map(({ name }) => name)).toEqual(foreignAgentNames);
  });

  it("gives titles the space of hidden ids", async () => {
    const id = "c1a0de21-0000-4000-8000-000000000001";
    const home = temporaryDirectory();
    mkdirSync(join(home, id, "subagents"), { recursive: true });
    const versions = "transcripts/versions/claude-2.1";
    copyFileSync(fixture(`${versions}.jsonl`), join(home, `${id}.jsonl`));
    const part = join(home, id, "subagents", "agent-a1675717a14cbb80d.jsonl");
    copyFileSync(fixture(`${versions}-agent.jsonl`), part);
    const out = new MemoryOutput({ columns: 80, isTerminal: true });
    await branchlog(["list", home], { out });
    expect(out.text).toMatch(/ {2}c1a0de21$/m);
  });

  it("sorts, and ends at the limit", async () => {
    const tokens = jsonLines(
      (await branchlog(["list", root, "--json", "--sort", "tokens"])).out,
    ).map((line) => (line as { readonly tokens?: number }).tokens ?? 0);
    expect(tokens.toSorted((one, other) => other - one)).toEqual(tokens);
    expect(await shown("--limit", "2")).toHaveLength(2);
  });

  it("omits sessions that did not change since a time", async () => {
    expect(await shown("--since", "1w")).toEqual([]);
    expect(await shown("--since", "2025-07-01")).not.toContain("pi");
    expect((await branchlog(["list", root, "--since", "1w"])).err).toContain(
      "no matching sessions",
    );
    const wrong = await branchlog(["list", root, "--since", "tomorrow"]);
    expect(wrong.code).toBe(2);
    expect(wrong.err).toContain("7d");
  });

  it("rejects a limit of 0 and an empty argument, with advice", async () => {
    expect(await branchlog(["list", root, "--limit", "0"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("--limit takes an integer of at least 1") as unknown,
    });
    expect(await branchlog(["list", ""])).toMatchObject({
      code: 2,
      err: expect.stringContaining("give a path, name or id") as unknown,
    });
  });

  it.each([40, 60, 80, 110])("fits a terminal of %d columns", async (columns) => {
    const out = new MemoryOutput({ isTerminal: true, columns });
    expect((await branchlog(["list", root], { out })).code).toBe(0);
    const lines = out.text.split("\n");
    expect(Math.max(...lines.map((line) => displayWidth(line)))).toBeLessThanOrEqual(columns);
    // Enough of a title to recognise the session by.
    const rows = lines.filter((line) => line.startsWith("  "));
    expect(rows).toHaveLength(4);
    for (const row of rows) expect(row).toMatch(/^ {2}\S.{10}/);
    expect(out.text.includes("claude")).toBe(columns >= 60);
  });

  it("shows enough of an id to distinguish it from those of unlisted sessions", async () => {
    const shared = "0197340a-00";
    const place = temporaryDirectory();
    for (const [at, end] of ["a", "b"].entries()) {
      const id = `${shared}${end}0-7000-8000-000000000000`;
      const path = join(place, `2026_${id}.jsonl`);
      const timestamp = `2026-01-0${at + 1}T00:00:00.000Z`;
      const header = { type: "session", id, timestamp, cwd: "/w" };
      writeFileSync(
        path,
        `${JSON.stringify(header)}
`,
      );
      utimesSync(path, new Date(timestamp), new Date(timestamp));
    }
    const out = new MemoryOutput({ isTerminal: true });
    await branchlog(["list", place, "--limit", "1"], { out });
    expect(out.text).toContain(`${shared}b`);
    expect(out.text).not.toContain(`${shared}a`);
  });
});
