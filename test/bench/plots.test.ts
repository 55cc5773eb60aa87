/** The pictures of reports: well-formed whatever the names, and nothing drawn that is no number. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { casePlot } from "../../packages/bench/src/plots.ts";
import { type CaseReport, reportCase, reportFailure } from "../../packages/bench/src/report.ts";
import { elementsOf } from "./xml.ts";

const facts = { name: "open", question: "How long?", goal: "short.", nodeFlags: [] };

function reportOf(subjects: readonly (readonly [string, number])[]): CaseReport {
  return reportCase(
    facts,
    subjects.map(([name, wallMs], place) => ({
      name,
      role: place === 0 ? "ours" : "peer",
      samples: [{ wallMs, cpuMs: 1, processMs: 1, peakRssBytes: 1, figures: {} }],
    })),
  );
}

/** Of the bars, those that have one, in the order of the subjects. */
function widths(svg: string): number[] {
  const bars = svg.matchAll(
    /<path d="M[^"]*?l([\d.]+) 0[^"]*" fill="var\(--(?:ours|baseline|peer)\)"/g,
  );
  return Array.from(bars, ([, width]) => Number(width)).filter((width) => width > 0);
}

describe("the picture of a case", () => {
  it("has a bar for each subject, the longer the more it costs", () => {
    const svg = casePlot(
      reportOf([
        ["ours", 10],
        ["theirs", 1000],
        ["others", 100],
      ]),
    );
    const [ours = 0, theirs = 0, others = 0] = widths(svg);
    expect([ours > 0, ours < others, others < theirs]).toEqual([true, true, true]);
    expect(svg).toContain(">1.00 s</text>");
    expect(svg).toContain("prefers-color-scheme:dark");
  });

  it("is the same whenever it is drawn", () => {
    const report = reportOf([["ours", 10]]);
    expect(casePlot(report)).toBe(casePlot(report));
  });

  it("says of a peer that failed why, in place of a bar", () => {
    const report = {
      ...reportOf([["ours", 10]]),
      failedPeers: [{ name: "p", reason: "crashes: a & b" }],
    };
    const svg = casePlot(report);
    expect(widths(svg)).toHaveLength(1);
    expect(svg).toContain("crashes: a &amp; b");
  });

  it("compares by the figure of the case", () => {
    const sample = {
      wallMs: 1,
      cpuMs: 1,
      processMs: 1,
      peakRssBytes: 1,
      figures: { "µs/call": 7 },
    };
    const report = reportCase({ ...facts, comparedBy: "µs/call" }, [
      { name: "ours", role: "ours", samples: [sample] },
    ]);
    expect(casePlot(report)).toContain("7 µs/call");
  });

  it("is drawn though there is nothing to draw, or no number", () => {
    for (const report of [
      reportFailure(facts, "broken"),
      reportOf([
        ["a", 0],
        ["b", 0],
      ]),
    ]) {
      expect(elementsOf(casePlot(report))).toContain("/svg");
    }
    const svg = casePlot(
      reportOf([
        ["a", Number.NaN],
        ["b", 5],
        ["c", Infinity],
      ]),
    );
    expect(svg).not.toMatch(/NaN|Infinity/);
    expect(svg).toContain("no figure");
    expect(widths(svg)).toHaveLength(1);
  });

  it("is well-formed whatever names, questions and times", () => {
    const any = fc.string({ unit: "binary" });
    const times = fc.array(fc.tuple(any, fc.double()), { maxLength: 5 });
    fc.assert(
      fc.property(any, any, any, times, (name, question, reason, subjects) => {
        const report = { ...reportOf(subjects), name, question, failedPeers: [{ name, reason }] };
        const svg = casePlot(report);
        expect(elementsOf(svg).at(-1)).toBe("/svg");
        expect(svg).not.toMatch(/"(?:NaN|-?Infinity)"/);
      }),
    );
  });
});

describe("the check of these tests", () => {
  it.each(["<a>", "<a></b>", "<a>&</a>", "<a b=c/>", "<a>\u0001</a>", "<a>\ud800</a>"])(
    "finds that %j is no XML",
    (xml) => {
      expect(() => elementsOf(xml)).toThrow();
    },
  );
});
