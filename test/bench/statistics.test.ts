/** Medians and spreads. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatMs, formatNumber } from "../../packages/bench/src/report.ts";
import { quantile, spread, summarize, timesFigures } from "../../packages/bench/src/statistics.ts";

const anyTimes = fc.array(fc.double({ min: 0, max: 1e9, noNaN: true }), { minLength: 1 });

describe("a summary", () => {
  it("does not depend on the order, and its median splits the values in halves", () => {
    fc.assert(
      fc.property(anyTimes, (times) => {
        const summary = summarize(times);
        expect(summarize([...times].reverse())).toEqual(summary);
        const half = times.length / 2;
        expect(times.filter((time) => time <= summary.median).length).toBeGreaterThanOrEqual(half);
        expect(times.filter((time) => time >= summary.median).length).toBeGreaterThanOrEqual(half);
        expect(summary.min).toBe(Math.min(...times));
        expect(summary.max).toBe(Math.max(...times));
      }),
    );
  });

  it("of an even number of values is the middle of the two in the middle", () => {
    expect(summarize([40, 10, 20, 30])).toEqual({ median: 25, min: 10, max: 40 });
  });

  it("of nothing is a RangeError", () => {
    expect(() => summarize([])).toThrow(RangeError);
  });

  it("has a spread in shares of the median", () => {
    expect(spread(summarize([90, 100, 120]))).toBeCloseTo(0.3);
    expect(spread(summarize([0]))).toBe(0);
  });
});

describe("a quantile", () => {
  it("is not reached by its share of the values", () => {
    const hundred = Array.from({ length: 100 }, (_, i) => 99 - i);
    expect([0, 0.5, 0.99].map((share) => quantile(hundred, share))).toEqual([0, 50, 99]);
    expect(quantile([], 0.5)).toBe(0);
  });

  it("is beside the mean where work is repeated", () => {
    expect(timesFigures([0.001, 0.001, 0.004], "turn")).toEqual({
      "µs/turn": 2,
      "µs median": 1,
      "µs p99": 4,
    });
  });
});

describe("a figure", () => {
  it.each([
    [0.0123, "12.3 µs"],
    [4.5678, "4.57 ms"],
    [999.4, "999 ms"],
    [1234, "1.23 s"],
  ])("of %d ms reads %s", (ms, text) => {
    expect(formatMs(ms)).toBe(text);
  });

  it("has three significant digits, or all before the point", () => {
    expect([1234567.8, 123.4, 12.34, 0.001234].map(formatNumber)).toEqual([
      "1,234,568",
      "123",
      "12.3",
      "0.00123",
    ]);
  });
});
