/** The picture of results: a bar for each case that another engine answered. */
import { describe, expect, it } from "vitest";
import { resultsPicture } from "../../packages/bench/src/picture.ts";
import { type CaseReport, reportCase } from "../../packages/bench/src/report.ts";

function reportOf(name: string, times: Readonly<Record<string, number>>): CaseReport {
  return reportCase(
    { name, question: "How long?", goal: "short.", nodeFlags: [] },
    Object.entries(times).map(([subject, wallMs]) => ({
      name: subject,
      role: subject.startsWith("ours") ? "ours" : "peer",
      samples: [{ wallMs, cpuMs: 1, processMs: 1, peakRssBytes: 1, figures: {} }],
    })),
  );
}

/** The widths of the bars of one colour. */
function widths(svg: string, colour: string): number[] {
  const bars = svg.matchAll(
    new RegExp(`<path d="M[^"]*?l(-?[\\d.]+) 0[^"]*" fill="${colour}"`, "g"),
  );
  return Array.from(bars, ([, width]) => Math.abs(Number(width)));
}

describe("the picture of results", () => {
  const reports = [
    reportOf("alone", { ours: 10 }),
    reportOf("ahead", { ours: 10, "slow 1: open()": 1_000, "fast 2: open()": 100 }),
    reportOf("far-ahead", { ours: 10, "slow 1: open()": 10_000 }),
    reportOf("behind", { ours: 10, "fast 2: open()": 1 }),
  ];

  it("shows the fastest other engine of each case, with longer bars for higher costs", () => {
    const svg = resultsPicture(reports);
    const [ahead = 0, farAhead = 0] = widths(svg, "#0969da");
    expect(ahead).toBeGreaterThan(0);
    expect(farAhead / ahead).toBeCloseTo(3, 1);
    expect(widths(svg, "#bc4c00")).toHaveLength(1);
    for (const text of [
      "ahead",
      "far-ahead",
      "behind",
      "10× fast 2",
      "1,000× slow 1",
      "0.1× fast 2",
    ])
      expect(svg).toContain(`>${text}</text>`);
    expect(svg).not.toContain(">alone</text>");
  });

  it("is drawn without results", () => {
    expect(resultsPicture([])).toMatch(/^<svg[^]*<\/svg>\n$/);
  });
});
