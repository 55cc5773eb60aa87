/** `branchlog stats`: its groups, their order, and its forms of output. */
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  assistantMessage,
  jsonLines as linesOf,
  sampleHeader,
  storedEntry,
  usageOf,
} from "@branchlog/core/testing";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { branchlog, fixture, jsonLines, MemoryOutput, onTerminal } from "./command-run.ts";

/** A session of a project, with an answer for so many tokens and dollars. */
function write(root: string, cwd: string, tokens: number, dollars = 0): void {
  const usage = { ...usageOf(tokens, 0, dollars), cacheRead: 1, cacheWrite: 2 };
  const answer = storedEntry("message", `e${tokens}`, null, {
    message: { ...assistantMessage("Done."), usage },
  });
  const header = sampleHeader({ id: `s${tokens}`, cwd });
  writeFileSync(join(root, `${tokens}.jsonl`), linesOf(header, answer));
}

describe("stats", () => {
  it("prints projects as CSV with the quotes and CRLF of RFC 4180", async () => {
    const root = temporaryDirectory();
    write(root, '/a "b", c', 20, 0.5);
    write(root, "/plain", 10);
    const { code, out } = await branchlog(["stats", root, "--csv"]);
    expect(code).toBe(0);
    expect(out.split("\r\n")).toEqual([
      "project,turns,requests,unpriced,input,output,cache_read,cache_write,cost",
      '"/a ""b"", c",0,1,0,20,0,1,2,0.5',
      "/plain,0,1,1,10,0,1,2,",
      "",
    ]);
  });

  it("prints a record for each group in a pipe, the most tokens first, at most --limit", async () => {
    const root = temporaryDirectory();
    for (const tokens of [10, 30, 20]) write(root, `/${tokens}`, tokens, tokens);
    const { out } = await branchlog(["stats", root, "--limit", "2"]);
    expect(out).toBe("/30\t0\t1\t0\t30\t0\t1\t2\t30\n/20\t0\t1\t0\t20\t0\t1\t2\t20\n");
  });

  it("reports requests without a price, and marks sums as lower bounds", async () => {
    const root = temporaryDirectory();
    write(root, "/w", 10, 1.5);
    write(root, "/w", 20);
    const { out } = await onTerminal(["stats", root]);
    expect(out).toContain("≥ $1.50, 1 of 2 requests without a price\n");
    expect(out).toMatch(/^\/w .*≥ \$1\.50$/m);
    const [total] = jsonLines((await branchlog(["stats", root, "--json"])).out);
    expect(total).toMatchObject({ requests: 2, unpriced: 1, cost: 1.5, tokens: 30 });
    const none = temporaryDirectory();
    write(none, "/w", 20);
    expect((await onTerminal(["stats", none])).out).toContain("\ncost unknown\n");
  });

  it.each([20, 40, 80, 200])("fits into a terminal of %i columns", async (columns) => {
    const root = temporaryDirectory();
    write(root, `/${"漢字".repeat(60)}`, 9);
    write(root, "/w", 1);
    const { out } = await onTerminal(["stats", root, "--by", "project"], { columns });
    const table = out.slice(out.indexOf("\n\n") + 2).trimEnd();
    for (const line of table.split("\n")) expect(line.length).toBeLessThanOrEqual(columns);
    expect(table.split("\n")).toHaveLength(3);
    if (columns >= 40) expect(table).toMatch(/█+▏? +9/);
  });

  it("shows days in order, and the last ones with --limit", async () => {
    const daysOf = async (...options: string[]): Promise<string[]> => {
      const words = ["stats", fixture(""), "--by", "day", "--no-save", ...options];
      const lines = (await branchlog(words)).out.trimEnd().split("\n");
      return lines.map((line) => line.slice(0, 10));
    };
    const all = await daysOf();
    expect(all.length).toBeGreaterThan(3);
    expect(all).toEqual(all.toSorted());
    expect(await daysOf("-n", "3")).toEqual(all.slice(-3));
  });

  it("counts a single session named by its path, or a document", async () => {
    const root = temporaryDirectory();
    mkdirSync(join(root, "deep"));
    copyFileSync(fixture("connectonion-dumped.yaml"), join(root, "deep", "agent.yaml"));
    write(root, "/w", 7);
    write(root, "/w", 8);
    const [one] = jsonLines((await branchlog(["stats", join(root, "7.jsonl"), "--json"])).out);
    expect(one).toMatchObject({ sessions: 1, tokens: 7 });
    const path = join(root, "deep", "agent.yaml");
    const [document] = jsonLines((await branchlog(["stats", path, "--json"])).out);
    expect(document).toMatchObject({ sessions: 1, turns: 2, tokens: 852 });
  });

  it("shows progress on a terminal", async () => {
    const root = temporaryDirectory();
    for (const tokens of [1, 2, 3]) write(root, "/w", tokens);
    const err = new MemoryOutput({ isTerminal: true });
    let ms = 0;
    const monotonicMs = (): number => (ms += 200);
    await branchlog(["stats", root], { err, monotonicMs });
    expect(err.text).toContain("counting 2 of 3 sessions");
  });

  it("rejects --csv with --json, a store, and a path that is missing or not a session", async () => {
    const errorOf = async (...words: string[]): Promise<string> => {
      const { code, out, err } = await branchlog(["stats", ...words]);
      expect([code > 0, out]).toEqual([true, ""]);
      return err;
    };
    expect(await errorOf(".", "--csv", "--json")).toContain("Give --csv or --json.");
    expect(await errorOf("postgres://a/b")).toContain("ERR_INVALID_ARGUMENT");
    expect(await errorOf("/no/such/place")).toContain("ERR_LOG_MISSING");
    expect(await errorOf(fixture("README.md"))).toContain("ERR_NOT_A_SESSION");
  });
});
