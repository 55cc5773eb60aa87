/** Fields of foreign files, which may hold anything. */
import { describe, expect, it } from "vitest";
import {
  storedNumber,
  storedText,
  storedTimeMs,
} from "../../../packages/core/src/projections/stored-value.ts";

describe("a stored value", () => {
  it.each([
    [5, 5],
    [0.5, 0.5],
    [Number.POSITIVE_INFINITY, 0],
    [Number.NaN, 0],
    ["5", 0],
    [null, 0],
    [undefined, 0],
  ])("%j counts as the number %d", (value, counted) => {
    expect(storedNumber(value)).toBe(counted);
  });

  it("has only the text of its text blocks, joined, without separators for the others", () => {
    const text = (value: unknown) => ({ type: "text", text: value });
    const content = [text("a"), { type: "text" }, text(5), { type: "thinking", text: "no" }];
    expect(storedText([...content, null, "no", text("b")], "\n")).toBe("a\nb");
    expect(storedText("as it is", "\n")).toBe("as it is");
    expect(storedText({ text: "no" }, "\n")).toBe("");
  });

  it("has a time if it is a valid string or number", () => {
    const timeMs = Date.UTC(2025, 5, 3);
    expect(storedTimeMs("2025-06-03T00:00:00.000Z")).toBe(timeMs);
    expect(storedTimeMs(timeMs)).toBe(timeMs);
    for (const value of ["soon", null, undefined, true, [timeMs]]) {
      expect(storedTimeMs(value)).toBeNaN();
    }
  });
});
