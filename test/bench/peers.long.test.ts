/** Peers alongside ours: what crashes is a result, and what is not installed is omitted. */
import { describe, expect, it } from "vitest";
import { cases } from "../../packages/bench/src/case-list.ts";
import { createReport, toMarkdown } from "../../packages/bench/src/report.ts";
import { checkContext, onBothNodes, sessionPeers } from "../../packages/bench/src/peers.ts";
import { describeFailure, runSuite } from "../../packages/bench/src/run-cases.ts";
import { sampleMachine } from "./sample-report.ts";
import { suiteOptions, writeCase } from "./written-cases.ts";

describe("a case with peers", () => {
  async function run(name: string, subjects: string) {
    const benchCase = await writeCase(
      name,
      `check: (result) => { if (result !== 1) throw new Error("expected 1,\\n got " + result); },
       subjects: [{ name: "ours", role: "ours", prepare: () => () => 1 }, ${subjects}],`,
    );
    const [report] = await runSuite([benchCase], {
      ...suiteOptions,
      runs: 2,
      peerSets: new Set(["peers"]),
    });
    if (report === undefined) throw new Error("no report");
    return report;
  }

  it("completes when peers crash or are wrong, and reports it", async () => {
    const report = await run(
      "crashing",
      `{ name: "sound", role: "peer", needs: "peers", prepare: () => () => 1 },
       { name: "wrong", role: "peer", needs: "peers", prepare: () => () => 2 },
       { name: "large", role: "peer", needs: "omp", prepare: () => () => 1 },
       { name: "broken", role: "peer", needs: "peers", prepare: () => () => {
         throw new RangeError("a | string is too long");
       } },`,
    );
    expect(report.failure).toBeUndefined();
    expect(report.subjects.map(({ name, runs }) => [name, runs])).toEqual([
      ["ours", 2],
      ["sound", 2],
    ]);
    expect(report.subjects[0]?.ratio).toBe(1);
    expect(report.failedPeers).toEqual([
      { name: "wrong", reason: "answers wrongly: expected 1, got 2" },
      { name: "broken", reason: "crashes: RangeError: a / string is too long" },
    ]);
    const text = toMarkdown(createReport(sampleMachine, "quick", [report]));
    expect(text).toContain("| wrong | | | | answers wrongly: expected 1, got 2 | | | |");
  });

  it("still fails when a baseline does", async () => {
    const report = await run(
      "wrong-baseline",
      `{ name: "baseline", role: "baseline", prepare: () => () => 2 },`,
    );
    expect(report.failure).toContain("got 2");
    expect(report.subjects).toEqual([]);
  });
});

describe("the reason of a failure", () => {
  const end = { code: 1, signal: null, complaints: "", isLate: false };

  it.each([
    [{ ...end, isLate: true }, "does not end in time"],
    [{ ...end, code: null, signal: "SIGKILL" }, "crashes: ended with SIGKILL"],
    [end, "crashes: ended with code 1"],
    [{ ...end, complaints: "\n\nhm\n" }, "crashes: hm"],
    [
      { ...end, complaints: "<--- GCs --->\nFATAL ERROR: Reached heap limit\n ----- Error: x" },
      "crashes: FATAL ERROR: Reached heap limit",
    ],
    [
      { ...end, complaints: "file:1\n  throw e\n\nError: Cannot create a string\n    at a (b)" },
      "crashes: Error: Cannot create a string",
    ],
    [
      { ...end, code: 3, complaints: "WrongAnswer: 1\n\n!== 2\n    at x" },
      "answers wrongly: 1 !== 2",
    ],
  ])("of %j is %j", (processEnd, reason) => {
    expect(describeFailure(processEnd)).toBe(reason);
  });
});

describe("the peers", () => {
  it("have unique names, and need their runtime", () => {
    expect(new Set(sessionPeers.map(({ name }) => name)).size).toBe(sessionPeers.length);
    for (const { runtime, set } of sessionPeers) expect(set === "omp").toBe(runtime === "bun");
    const [, subject] = onBothNodes({ name: "a", role: "ours" });
    expect(subject).toEqual({
      name: "a on Node 24",
      role: "ours",
      runtime: "node-24",
      needs: "peers",
    });
  });

  it("are excluded from every case, like everything to install, unless requested", () => {
    const subjects = cases.flatMap((benchCase) => benchCase.subjects);
    expect(subjects.filter(({ role }) => role === "peer").length).toBeGreaterThan(20);
    for (const { role, runtime, needs } of subjects) {
      if (role === "peer" || runtime !== undefined) expect(needs).toBeDefined();
    }
  });

  it("can omit from a context only known differences", () => {
    checkContext(9, { least: 8, most: 9 });
    checkContext(12, { least: 8, most: 9 }, 3);
    expect(() => checkContext(7, { least: 8, most: 9 })).toThrow("7 messages instead of 8 to 9");
    expect(() => checkContext(9, { least: 8, most: 9 }, 3)).toThrow("instead of 11 to 12");
  });
});
