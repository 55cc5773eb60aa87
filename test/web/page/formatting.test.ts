/** Numbers and times as short text. */
import { describe, expect, it } from "vitest";
import {
  formatAge,
  formatBytes,
  formatCost,
  formatCount,
  formatShortTime,
  formatTime,
  plural,
  shortPath,
  withoutEscapes,
} from "../../../packages/web/src/page/model/formatting.ts";

describe("formats", () => {
  it.each([
    [0, "0"],
    [999, "999"],
    [999.6, "1k"],
    [1500, "1.5k"],
    [123_456, "123k"],
    [2_000_000, "2M"],
  ])("formatCount shows %d as %s", (count, text) => {
    expect(formatCount(count)).toBe(text);
  });

  it.each([
    [512, "512 B"],
    [1_234_567_890, "1.2 GB"],
  ])("formatBytes shows %d as %s", (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });

  it.each([
    [-5000, "now"],
    [9000, "now"],
    [59_000, "59 s"],
    [3_600_000, "1 h"],
    [86_400_000 * 3, "3 d"],
    [86_400_000 * 65, "2 mo"],
    [86_400_000 * 800, "2 y"],
  ])("formatAge shows %d ms as %s", (age, text) => {
    expect(formatAge(1e12 - age, 1e12)).toBe(text);
  });

  it.each([
    [null, 0, "unknown"],
    [1.2, 0, "$1.20"],
    [1.2, 3, "≥ $1.20, 3 unpriced"],
    [0.0042, 0, "$0.0042"],
    [0, 0, "$0.00"],
  ])("formatCost shows %d with %d unpriced as %s", (cost, unpriced, text) => {
    expect(formatCost(cost, unpriced)).toBe(text);
  });

  it("formatTime is empty when the time is unknown", () => {
    expect(formatTime(Number.NaN)).toBe("");
    expect(formatTime(0)).toBe("");
    expect(formatShortTime(0, 1)).toBe("");
  });

  it("formatShortTime leaves out the day when it is today", () => {
    const noon = new Date(2026, 4, 7, 12, 34, 56).getTime();
    expect(formatTime(noon)).toBe("2026-05-07 12:34:56");
    expect(formatShortTime(noon, noon + 1000)).toBe("12:34");
    expect(formatShortTime(noon, noon + 86_400_000)).toBe("05-07 12:34");
  });

  it("shortPath keeps the last two parts", () => {
    expect(shortPath("/home/ada/work/site")).toBe("…/work/site");
    expect(shortPath("/work")).toBe("/work");
  });

  it("plural has one form for one", () => {
    expect([plural(1, "entry", "entries"), plural(2, "entry", "entries")]).toEqual([
      "1 entry",
      "2 entries",
    ]);
  });

  it("withoutEscapes removes colours and titles of terminals", () => {
    expect(withoutEscapes("\u001B[31mred\u001B[0m \u001B]0;title\u0007end")).toBe("red end");
  });
});
