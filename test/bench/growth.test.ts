/** How costs grow: the fit finds the power it is given, and the report is of real runs. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { modulePathOf } from "../../packages/bench/src/case-list.ts";
import { fitGrowth } from "../../packages/bench/src/growth/fit.ts";
import { growthMarkdown, operationGrowth } from "../../packages/bench/src/growth/growth-report.ts";
import { measureGrowth } from "../../packages/bench/src/growth/measure-growth.ts";
import { ensureInput } from "../../packages/bench/src/input-cache.ts";
import { growthPlot, growthPlots } from "../../packages/bench/src/plots.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { sampleMachine } from "./sample-report.ts";
import { elementsOf } from "./xml.ts";

const sizes = [1_000, 4_000, 16_000, 64_000];

describe("a fit", () => {
  it.each([
    [(n: number) => 5 + n / 1e9, "O(1) or O(log n)"],
    [(n: number) => Math.log(n), "O(1) or O(log n)"],
    [(n: number) => Math.sqrt(n), "below O(n)"],
    [(n: number) => n, "O(n) or O(n log n)"],
    [(n: number) => 20_000 + n, "O(n), and a fixed cost"],
    [(n: number) => 500 + n / 200, "O(n), and a fixed cost"],
    [(n: number) => n * Math.log(n), "O(n) or O(n log n)"],
    [(n: number) => 500 + 1e-7 * n * n, "above O(n), and a fixed cost"],
    [(n: number) => 500 + 1e-5 * n * n, "above O(n)"],
    [(n: number) => 100 / Math.sqrt(n), "falls"],
    [(n: number) => n ** 1.5, "above O(n)"],
    [(n: number) => n * n, "above O(n)"],
  ] as const)("of %s is of order %s", (costOf, order) => {
    expect(fitGrowth(sizes.map((size) => ({ size, cost: costOf(size) }))).order).toBe(order);
  });

  it.each([
    [[15.8, 24.2, 17.5, 27.8], "O(1) or O(log n)"],
    [[1.1, 0.69, 0.65, 0.98], "O(1) or O(log n)"],
    [[1.1, 0.6, 0.6, 1.2], "O(1) or O(log n)"],
    [[1, 1.05, 0.98, 1.9], "above O(n), and a fixed cost"],
  ])("of times that waver, %j, is of order %s", (costs, order) => {
    const points = sizes.map((size, i) => ({ size, cost: costs[i] ?? Number.NaN }));
    expect(fitGrowth(points).order).toBe(order);
  });

  it("finds power, base and slope that it was given", () => {
    const positive = fc.double({ min: 1e-3, max: 1e3, noNaN: true });
    fc.assert(
      fc.property(positive, fc.double({ min: -1, max: 3, noNaN: true }), (factor, power) => {
        const points = sizes.map((size) => ({ size, cost: factor * size ** power }));
        expect(fitGrowth(points).exponent).toBeCloseTo(power, 6);
      }),
    );
    fc.assert(
      fc.property(positive, positive, (base, perUnit) => {
        const points = sizes.map((size) => ({ size, cost: base + perUnit * size }));
        const fit = fitGrowth(points);
        expect(fit.perUnit / perUnit).toBeCloseTo(1, 6);
        expect((base - fit.base) / (base + perUnit * 64_000)).toBeCloseTo(0, 6);
        expect(fit.explained).toBeCloseTo(1, 6);
      }),
    );
  });

  it.each([
    [[]],
    [[{ size: 1, cost: 1 }]],
    [
      [
        { size: 1, cost: 1 },
        { size: 1, cost: 2 },
      ],
    ],
  ])("of %j is unknown", (points) => {
    expect(fitGrowth(points)).toMatchObject({ order: "unknown", exponent: Number.NaN });
  });

  it("skips what is no number", () => {
    const points = [...sizes.map((size) => ({ size, cost: size })), { size: 5, cost: Number.NaN }];
    expect(fitGrowth(points).exponent).toBeCloseTo(1, 9);
  });
});

describe("the picture of growth", () => {
  const labels = { sizeName: "entries", costText: String };
  const curveOf = (name: string, costOf: (size: number) => number) => ({
    name,
    points: sizes.map((size) => [size, costOf(size)] as const),
  });

  /** Where each curve begins and ends, measured downwards, and its dashes. */
  function drawnCurves(svg: string) {
    const paths = svg.matchAll(
      /<path d="M[\d.]+ ([\d.]+)[^"]*L[\d.]+ ([\d.]+)" fill="none"[^>]*stroke="var\(--ours\)" stroke-width="2"( stroke-dasharray="[^"]*")? stroke-linejoin/g,
    );
    return Array.from(paths, ([, from, to, dashes]) => ({
      rise: Number(from) - Number(to),
      dashes,
    }));
  }

  it("has one curve for each operation, rising with its power", () => {
    const svg = growthPlot(
      "a < b",
      [curveOf("power 0", () => 1), curveOf("power 1", (size) => size)],
      labels,
    );
    // The one that ends highest comes first, as in the legend.
    expect(drawnCurves(svg).map(({ rise }) => rise > 50)).toEqual([true, false]);
    expect(svg.indexOf("power 1")).toBeLessThan(svg.indexOf("power 0"));
    expect(svg).toContain("<title>a &lt; b</title>");
  });

  it("tells curves apart by their dashes, and names each in a line of its own", () => {
    const curves = [1, 1.01, 1.02, 1.03].map((cost) => curveOf(`at ${cost}`, () => cost));
    const svg = growthPlot("flat", curves, labels);
    expect(new Set(drawnCurves(svg).map(({ dashes }) => dashes)).size).toBe(4);
    const names = svg.matchAll(/translate\([\d.]+ ([\d.]+)\)"[^>]*>at /g);
    const places = Array.from(names, ([, y]) => Number(y));
    expect(places).toHaveLength(4);
    for (const [rank, y] of places.slice(1).entries()) {
      expect(y - (places[rank] ?? 0)).toBeGreaterThanOrEqual(15.9);
    }
  });

  it("is well-formed whatever is measured", () => {
    const anyCurve = fc.record({
      name: fc.string({ unit: "binary" }),
      points: fc.array(fc.tuple(fc.double(), fc.double())),
    });
    fc.assert(
      fc.property(fc.array(anyCurve, { maxLength: 4 }), (curves) => {
        const svg = growthPlot("any", curves, labels);
        expect(elementsOf(svg).at(-1)).toBe("/svg");
        expect(svg).not.toMatch(/"[^"]*(?:NaN|Infinity)[^"]*"/);
      }),
    );
  });
});

describe("the report of growth", () => {
  it("is of real runs, each checked", { timeout: 180_000 }, async () => {
    const source = new URL("../../packages/bench/src/", import.meta.url);
    const folder = temporaryDirectory();
    // The smallest sizes: whether the orders are right is not for clocks to say in a test.
    const operations = await measureGrowth({
      scale: "quick",
      runs: 1,
      warmups: 0,
      childUrl: new URL("../dist/case-child.js", source).href,
      caseUrlOf: (name) => new URL(`../dist/${modulePathOf(name)}.js`, source).href,
      ensureInput: (spec) => {
        const less = spec.files === undefined ? spec : { ...spec, bytes: 20_000 };
        return ensureInput({ ...less, bytes: Math.min(less.bytes ?? 0, 1_000_000) }, folder);
      },
    });
    expect(operations.map(({ operation, samples }) => [operation, samples.length])).toEqual([
      ["open", 3],
      ["reopen", 3],
      ["first context", 3],
      ["append", 3],
      ["append and next context", 3],
      ["list", 3],
    ]);
    const report = {
      schemaVersion: 1,
      machine: sampleMachine,
      scale: "quick",
      operations,
    } as const;
    const plots = growthPlots(operations);
    const text = growthMarkdown(report, Object.keys(plots));
    expect(text).toContain("![growth-time](growth-time.svg)");
    expect(text).not.toContain("NaN");
    for (const svg of Object.values(plots)) expect(elementsOf(svg).at(-1)).toBe("/svg");
  });

  it("shows no line where there is none", () => {
    const samples = sizes.map((size) => ({ size, ms: 1e6 / size, peakRssBytes: size ** 2 }));
    const operations = [operationGrowth("open", "entries", samples)];
    const report = { schemaVersion: 1, machine: sampleMachine, scale: "full", operations } as const;
    expect(growthMarkdown(report)).toMatch(
      /\| open \| falls \| -1\.00 \(-1\.00\) \|  \|  \| 0\.\d\d \| 2\.00 \(2\.00\) \|  \|  \| 0\.\d\d \|/,
    );
  });

  it("says so where sizes are too few", () => {
    const one = operationGrowth("open", "entries", [{ size: 1, ms: 1, peakRssBytes: 1 }]);
    expect(one.time.order).toBe("unknown");
  });
});
