/** The scroll range of a list that may be higher than an element can be. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  contentHeight,
  drawnRows,
  elementHeight,
  isScaled,
  offsetOfRow,
  offsetOfScroll,
  scrollHeightMax,
  scrollOfOffset,
} from "../../../packages/web/src/page/model/scroll-scale.ts";
import type { ScrollScale } from "../../../packages/web/src/page/model/scroll-scale.ts";

const scale = (rowCount: number, viewHeight = 700): ScrollScale => ({
  rowCount,
  rowHeight: 30,
  viewHeight,
});
const anyScale = fc.record({
  rowCount: fc.nat(2_000_000),
  rowHeight: fc.constant(30),
  viewHeight: fc.integer({ min: 1, max: 3000 }),
});

describe("the scroll scale", () => {
  it("maps an offset to a scroll position and back", () => {
    fc.assert(
      fc.property(anyScale, fc.double({ min: 0, max: 1, noNaN: true }), (any, part) => {
        const range = Math.max(0, contentHeight(any) - any.viewHeight);
        const offset = part * range;
        const scroll = scrollOfOffset(any, offset);
        expect(scroll).toBeLessThanOrEqual(scrollHeightMax);
        expect(offsetOfScroll(any, scroll)).toBeCloseTo(offset, 3);
      }),
    );
  });

  it("is the identity when the content fits into an element", () => {
    expect(isScaled(scale(1000))).toBe(false);
    expect(offsetOfScroll(scale(1000), 1234)).toBeCloseTo(1234, 6);
  });

  it("reaches the last row when a million rows are scrolled to the end", () => {
    const long = scale(1_000_000);
    const offset = offsetOfScroll(long, elementHeight(long) - long.viewHeight);
    expect(isScaled(long)).toBe(true);
    expect(drawnRows(long, offset, 0).end).toBe(1_000_000);
  });

  it("has offset 0 when all rows are in view", () => {
    expect(offsetOfScroll(scale(3), 50)).toBe(0);
    expect(scrollOfOffset(scale(3), 50)).toBe(0);
  });
});

it("drawnRows covers the view, within the rows", () => {
  fc.assert(
    fc.property(anyScale, fc.double({ min: 0, max: 1, noNaN: true }), (any, part) => {
      const range = Math.max(0, contentHeight(any) - any.viewHeight);
      const { first, end, shift } = drawnRows(any, part * range, 5);
      expect(first).toBeGreaterThanOrEqual(0);
      expect(end).toBeLessThanOrEqual(any.rowCount);
      expect(shift).toBeLessThanOrEqual(0);
      const bottom = shift + (end - first) * any.rowHeight;
      const wanted = Math.min(any.viewHeight, contentHeight(any));
      expect(bottom).toBeGreaterThanOrEqual(wanted - 0.001);
    }),
  );
});

describe("offsetOfRow", () => {
  it("shows the row, wherever the view was", () => {
    fc.assert(
      fc.property(fc.nat(99_999), fc.nat(2_000_000), fc.boolean(), (row, offset, isCentred) => {
        const top = row * 30 - offsetOfRow(scale(100_000), row, { offset, isCentred });
        expect(top).toBeGreaterThanOrEqual(0);
        expect(top).toBeLessThanOrEqual(700 - 30);
      }),
    );
  });

  it("returns the same offset when the row is in view", () => {
    expect(offsetOfRow(scale(1000), 10, { offset: 100, isCentred: true })).toBe(100);
  });
});
