/** How wide text is on a terminal, and how much of an id tells it from others. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { displayWidth, fitted, padded } from "../../../packages/cli/src/text/display-width.ts";
import { uniquePrefixes } from "../../../packages/cli/src/unique-prefixes.ts";

describe("the width of text", () => {
  it.each([
    ["abc", 3],
    ["修复", 4],
    ["ｆｕｌｌ", 8],
    ["한국", 4],
    ["ｶﾅ", 2],
    ["カナ、", 6],
    ["e\u0301", 1],
    ["👍", 2],
    ["é…", 2],
    ["", 0],
  ])("of %j is %s columns", (text, columns) => {
    expect(displayWidth(text)).toBe(columns);
  });

  it("law: fitted text is at most as wide as asked for, and padded text at least", () => {
    const widths = fc.integer({ min: 1, max: 40 });
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), widths, (text, columns) => {
        const short = fitted(text, columns);
        expect(displayWidth(short)).toBeLessThanOrEqual(columns);
        if (displayWidth(text) <= columns) expect(short).toBe(text);
        expect(displayWidth(padded(short, columns))).toBe(columns);
      }),
    );
  });
});

it("a unique prefix is the shortest beginning that no other id has, or the whole id (law)", () => {
  const ids = fc.uniqueArray(fc.stringMatching(/^[0-9A-Ca-c]{1,5}$/), { maxLength: 20 });
  fc.assert(
    fc.property(ids, (all) => {
      const others = (id: string, start: string): string[] =>
        all.filter((one) => one !== id && one.toLowerCase().startsWith(start.toLowerCase()));
      for (const [id, length] of uniquePrefixes(all)) {
        const isEqual = all.some((one) => one !== id && one.toLowerCase() === id.toLowerCase());
        if (length < id.length && !isEqual) expect(others(id, id.slice(0, length))).toEqual([]);
        if (length > 1) expect(others(id, id.slice(0, length - 1))).not.toEqual([]);
      }
    }),
  );
});
