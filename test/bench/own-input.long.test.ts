/** Subjects get the shared input under separate names, and leave nothing next to it. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createSession } from "@branchlog/core";
import { type CaseInput, noFacts } from "../../packages/bench/src/bench-case.ts";
import { checkReopened, leaveCheckpoint, reopen } from "../../packages/bench/src/our-session.ts";
import { ownDirectory, ownLog } from "../../packages/bench/src/inputs.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

function inputAt(path: string): CaseInput {
  return { scale: "quick", facts: noFacts, path, scratch: temporaryDirectory() };
}

describe("an input of one's own", () => {
  it("is the same log, without sidecars next to the shared one", async () => {
    const folder = temporaryDirectory();
    const path = join(folder, "shared.jsonl");
    const session = await createSession(path);
    for (let i = 0; i < 200; i += 1) {
      const content = "x".repeat(1_000);
      await session.append({ type: "message", message: { role: "user", content, timestamp: i } });
    }
    await session.close();
    const before = readdirSync(folder);
    const own = ownLog(inputAt(path));
    expect(readFileSync(own)).toEqual(readFileSync(path));
    leaveCheckpoint(own);
    expect(() => leaveCheckpoint(own)).toThrow(/before one is made/);
    expect(readdirSync(folder)).toEqual(before);
    const bytes = readFileSync(path).length;
    // What other tests of this process still read is counted, too: not three times.
    const reads = [await reopen(own), await reopen(own), await reopen(own)];
    checkReopened(Math.min(...reads.map(({ logBytesRead }) => logBytesRead)), bytes);
    rmSync(`${own}.ckpt`);
    const whole = await reopen(own);
    expect(() => checkReopened(whole.logBytesRead, bytes)).toThrow(/bytes of the log were read/);
  });

  it("is a directory without files of earlier lists", () => {
    const folder = join(temporaryDirectory(), "sessions");
    mkdirSync(folder);
    for (const name of ["a.jsonl", "b.jsonl", ".branchlog-catalog", "a.jsonl.ckpt"]) {
      writeFileSync(join(folder, name), name);
    }
    const own = ownDirectory(inputAt(folder));
    expect(readdirSync(own).sort()).toEqual(["a.jsonl", "b.jsonl"]);
    expect(readFileSync(join(own, "b.jsonl"), "utf8")).toBe("b.jsonl");
  });
});
