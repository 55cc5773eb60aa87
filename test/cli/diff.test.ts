/** `branchlog diff`: what is compared, its exit code, and its forms of output. */
import { appendFileSync, chmodSync, copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jsonLines as linesOf, userEntry } from "@branchlog/core/testing";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { branchlog, fixture, jsonLines, onTerminal } from "./command-run.ts";

const branches = fixture("pi-branches.jsonl");

describe("diff", () => {
  it("exits with 0 without differences, and with 1 otherwise", async () => {
    const same = await branchlog(["diff", branches, "@leaf"]);
    const err = "1 entry in common, up to 5b2e9d0a\n";
    expect(same).toEqual({ code: 0, out: "", err });
    expect((await branchlog(["diff", branches, "5b2e9d04", "5b2e9d04~1"])).code).toBe(1);
    expect((await branchlog(["diff", branches, "5b2e9d04", "5b2e9d04", "--context"])).code).toBe(0);
  });

  it("compares a fork with its parent when it is given --with", async () => {
    const directory = temporaryDirectory();
    const fork = join(directory, "fork.jsonl");
    await branchlog(["fork", branches, "-o", fork, "--at", "5b2e9d04"]);
    appendFileSync(fork, linesOf(userEntry("own", "5b2e9d04", "Try both.")));
    const words = ["diff", branches, "5b2e9d06", "--with", fork];
    const { code, out } = await branchlog(words);
    expect(code).toBe(1);
    expect(out.split("\n").map((line) => line.split("\t").slice(0, 2).join(""))).toEqual([
      "-5b2e9d05",
      "-5b2e9d06",
      "+own",
      "",
    ]);
    const contexts = await branchlog([...words, "--context", "--json"]);
    const steps = jsonLines(contexts.out) as { readonly kind: string }[];
    expect(steps.map(({ kind }) => kind)).toEqual([
      "removed",
      "added",
      "added",
      "common",
      "removed",
      "added",
    ]);
  });

  it("has a sign before each line, and lines that fit on a terminal", async () => {
    const { out } = await onTerminal(["diff", branches, "5b2e9d04", "5b2e9d09"], { columns: 70 });
    const lines = out.trimEnd().split("\n");
    expect(lines.map((line) => line.slice(0, 2))).toEqual(["  ", "- ", "- ", "+ ", "+ ", "+ "]);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(70);
  });

  it("refuses a single session, and an entry that does not exist", async () => {
    const single = await branchlog(["diff", branches]);
    expect([single.code, single.out]).toEqual([2, ""]);
    expect(single.err).toContain(
      "Specify what to compare: an entry, or another session with --with",
    );
    const unknown = await branchlog(["diff", branches, "5b2e9d04", "nothing", "--json"]);
    expect(unknown.code).toBe(1);
    expect(jsonLines(unknown.err)).toMatchObject([{ error: { code: "ERR_ENTRY_NOT_FOUND" } }]);
  });

  it("names the session that is missing, or not readable", async () => {
    const other = join(temporaryDirectory(), "other.jsonl");
    const missing = await branchlog(["diff", branches, "--with", other]);
    expect([missing.code, missing.out]).toEqual([1, ""]);
    expect(missing.err).toContain(other);
    expect(missing.err).toContain("ERR_LOG_MISSING");
    copyFileSync(branches, other);
    chmodSync(other, 0o000);
    // Root reads it nevertheless.
    const { code, err } = await branchlog(["diff", branches, "--with", other]);
    expect([code, err.includes("ERR_LOG_UNREADABLE")]).toEqual(
      process.geteuid?.() === 0 ? [0, false] : [1, true],
    );
    chmodSync(other, 0o600);
    writeFileSync(other, "hello\n");
    const foreign = await branchlog(["diff", branches, "--with", other]);
    expect(foreign.err).toContain("ERR_NOT_A_SESSION");
  });
});
