/** `branchlog list` over the sessions of several agents: which, in which order, how many. */
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { branchlog, fixture, jsonLines } from "./command-run.ts";

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
  return jsonLines(out).map((line) => (line as { readonly dialect: string }).dialect);
}

describe("list", () => {
  it("has the sessions of every agent, or those that are asked for", async () => {
    expect((await shown()).toSorted()).toEqual(["claude", "claude", "codex", "pi"]);
    expect(await shown("--agent", "codex")).toEqual(["codex"]);
    expect((await shown("--agent", "pi,codex")).toSorted()).toEqual(["codex", "pi"]);
  });

  it("sorts, and ends after so many", async () => {
    const tokens = jsonLines(
      (await branchlog(["list", root, "--json", "--sort", "tokens"])).out,
    ).map((line) => (line as { readonly tokens?: number }).tokens ?? 0);
    expect(tokens.toSorted((one, other) => other - one)).toEqual(tokens);
    expect(await shown("--limit", "2")).toHaveLength(2);
  });

  it("leaves out what did not change since a time", async () => {
    expect(await shown("--since", "1w")).toEqual([]);
    expect(await shown("--since", "2025-07-01")).not.toContain("pi");
    expect((await branchlog(["list", root, "--since", "1w"])).err).toContain("no such sessions");
    const wrong = await branchlog(["list", root, "--since", "yesterday"]);
    expect(wrong.code).toBe(2);
    expect(wrong.err).toContain("7d");
  });
});
