import { describe, expect, it } from "vitest";
import {
  costText,
  countText,
  durationText,
  sizeText,
  timeText,
} from "../../../packages/cli/src/text/quantities.ts";

describe("quantities", () => {
  it.each([
    [0, "0 bytes"],
    [1, "1 byte"],
    [999, "999 bytes"],
    [1000, "1.00 kB"],
    [999_499, "999 kB"],
    [1_000_004_915, "1.00 GB"],
    [12_345_678, "12.3 MB"],
    [5e15, "5000 TB"],
  ])("%d bytes are %s", (bytes, text) => {
    expect(sizeText(bytes)).toBe(text);
  });

  it("quantities use the singular for one", () => {
    expect(countText(1, "entry", "entries")).toBe("1 entry");
    expect(countText(1_234_567, "entry", "entries")).toBe("1,234,567 entries");
  });

  it("quantities show times in UTC, and invalid ones as no time", () => {
    expect(timeText(Date.UTC(2025, 5, 4, 9, 0, 6, 789))).toBe("2025-06-04 09:00:06Z");
    expect(timeText(Number.NaN)).toBe("no time");
  });

  it("have three significant digits", () => {
    expect([durationText(3.21), durationText(71.6), durationText(1250)]).toEqual([
      "3.2 ms",
      "72 ms",
      "1.25 s",
    ]);
    expect([costText(0), costText(0.00783), costText(12.345)]).toEqual([
      "cost unknown",
      "$0.0078",
      "$12.35",
    ]);
  });
});
