/** Two runs of the suite side by side: what counts as a change, and what is noise. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareReports, comparisonMarkdown } from "../../packages/bench/src/comparison.ts";
import { parseCommand } from "../../packages/bench/src/command-line.ts";
import { reportCase, reportFailure } from "../../packages/bench/src/report.ts";
import type { BenchReport } from "../../packages/bench/src/report.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const machine = {
  processor: "p",
  cores: 2,
  memoryBytes: 1,
  system: "s",
  node: "v20",
  commit: "c",
  date: "2026-01-01T00:00:00.000Z",
};
const facts = { name: "open", question: "How long?", goal: "Not long.", nodeFlags: [] };

/** A report of one case whose runs took so long. */
function reportOf(ours: readonly number[], baseline: readonly number[] = [1]): BenchReport {
  const samples = (times: readonly number[]) =>
    times.map((wallMs) => ({
      wallMs,
      cpuMs: wallMs,
      processMs: wallMs,
      peakRssBytes: 1e6,
      figures: {},
    }));
  const subjects = [
    { name: "us", role: "ours" as const, samples: samples(ours) },
    { name: "plain", role: "baseline" as const, samples: samples(baseline) },
  ];
  return { schemaVersion: 1, machine, scale: "full", cases: [reportCase(facts, subjects)] };
}

describe("comparing two reports", () => {
  it("calls worse what no run of the one reaches", () => {
    const slower = compareReports(reportOf([10, 11, 12]), reportOf([13, 14, 15]));
    expect([slower.isWorse, slower.measures.map(({ verdict }) => verdict)]).toEqual([
      true,
      ["worse", "same"],
    ]);
    expect(comparisonMarkdown(slower)).toContain(
      "| open | us | time | 11 ms | 14 ms | 1.27 | worse |",
    );
    const noise = compareReports(reportOf([10, 11, 12]), reportOf([11, 14, 15]));
    expect([noise.isWorse, comparisonMarkdown(noise)]).toEqual([
      false,
      "2 of 2 are the same, within their spread.\n",
    ]);
    expect(compareReports(reportOf([10]), reportOf([5])).isWorse).toBe(false);
  });

  it("asks more of a single run, which has no spread", () => {
    expect(compareReports(reportOf([100]), reportOf([109])).isWorse).toBe(false);
    expect(compareReports(reportOf([100]), reportOf([111])).isWorse).toBe(true);
    expect(compareReports(reportOf([100, 101]), reportOf([109, 110])).isWorse).toBe(true);
  });

  it.each([
    ["bytes each", "worse"],
    ["MB/s", "better"],
  ])("looks at the figure that a case compares, here %s", (unit, verdict) => {
    const withFigure = (figure: number): BenchReport => {
      const { cases, ...rest } = reportOf([10, 10]);
      const { min, max, median } = { min: figure, max: figure + 1, median: figure };
      return {
        ...rest,
        cases: cases.map((one) => ({
          ...one,
          comparedBy: unit,
          subjects: one.subjects.map((subject) => ({
            ...subject,
            figures: { [unit]: { min, max, median } },
          })),
        })),
      };
    };
    const comparison = compareReports(withFigure(10), withFigure(20));
    expect(comparison.measures.find(({ measure }) => measure === unit)?.verdict).toBe(verdict);
    expect(comparison.isWorse).toBe(verdict === "worse");
  });

  it("refuses other inputs, and warns of another machine", () => {
    const report = reportOf([10]);
    expect(() => compareReports(report, { ...report, scale: "quick" })).toThrow(/full.*quick/);
    const other = { ...report, machine: { ...machine, node: "v24" } };
    expect(comparisonMarkdown(compareReports(report, other))).toContain(
      "Warning: node was v20 and is v24.",
    );
  });

  it("checks what is ours only", () => {
    expect(compareReports(reportOf([10], [1]), reportOf([10], [100])).isWorse).toBe(false);
  });

  it("misses no subject that comes with peers", () => {
    const { cases, ...rest } = reportOf([10]);
    const withPeers = {
      ...rest,
      cases: cases.map((one) => ({
        ...one,
        subjects: one.subjects.flatMap((subject) => [
          subject,
          { ...subject, name: `${subject.name} on Node 24`, runtime: "node-24" as const },
        ]),
      })),
    };
    expect(compareReports(withPeers, reportOf([10])).isWorse).toBe(false);
    expect(compareReports(withPeers, withPeers).measures).toHaveLength(4);
  });

  it("calls worse what is not answered any more, and names what is new", () => {
    const failed = {
      schemaVersion: 1,
      machine,
      scale: "full",
      cases: [reportFailure(facts, "broken")],
    };
    expect(compareReports(reportOf([10]), failed)).toMatchObject({
      isWorse: true,
      unmatched: ["open is not answered any more"],
    });
    expect(compareReports(failed, reportOf([10]))).toMatchObject({
      isWorse: false,
      unmatched: ["open is new"],
    });
  });

  it("is never worse than itself, and worse one way at most", () => {
    const times = fc.array(
      fc.nat(100).map((ms) => ms + 1),
      { minLength: 1, maxLength: 5 },
    );
    fc.assert(
      fc.property(times, times, (one, other) => {
        expect(compareReports(reportOf(one), reportOf(one)).isWorse).toBe(false);
        const there = compareReports(reportOf(one), reportOf(other)).isWorse;
        const back = compareReports(reportOf(other), reportOf(one)).isWorse;
        expect(there && back).toBe(false);
      }),
    );
  });
});

describe("pnpm bench --compare", () => {
  const main = fileURLToPath(new URL("../../packages/bench/dist/main.js", import.meta.url));

  it("exits with 1 where something got worse, else with 0", () => {
    const directory = temporaryDirectory();
    const [a, b] = [join(directory, "a.json"), join(directory, "b.json")];
    writeFileSync(a, JSON.stringify(reportOf([10])));
    writeFileSync(b, JSON.stringify(reportOf([20])));
    const run = (...paths: string[]): number | null =>
      spawnSync(process.execPath, [main, "--compare", ...paths]).status;
    expect([run(a, b), run(b, a), run(a, a), run(a)]).toEqual([1, 0, 0, 1]);
    writeFileSync(b, "{}");
    expect(run(a, b)).toBe(1);
  });

  it("takes two paths", () => {
    expect(parseCommand(["--compare", "a", "b"], [])).toEqual({ beforePath: "a", afterPath: "b" });
    expect(() => parseCommand(["--compare", "a"], [])).toThrow("two reports");
  });
});
