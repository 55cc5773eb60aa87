/** How wide text is on a terminal, and how much of an id tells it from others. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { displayWidth, fitted, padded } from "../../../packages/cli/src/text/display-width.ts";
import { shortIds, uniquePrefixes } from "../../../packages/cli/src/unique-prefixes.ts";

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

  it("law: fitted text is at most as wide as requested, and padded text at least", () => {
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

describe("a shortened id", () => {
  it("is shortened in the middle when the ids share a long prefix, like those of subagents", () => {
    const session = "c1a0de57-0000-4000-8000-000000000001";
    const others = ["0197fa00-0000-7000-8000-000000000000", "2aa0de57-0000-4000-8000-000000000001"];
    const ids = [session, `${session}.a1675717a14cbb80d`, ...others];
    expect([...shortIds(ids).values()].map(({ text }) => text)).toEqual([
      "c1a0de57…0001",
      "c1a0de57…b80d",
      "0197fa00",
      "2aa0de57",
    ]);
  });

  it("law: has a unique combination of prefix and suffix", () => {
    const id = fc.stringMatching(/^0197fa00-[0-9A-Ca-c]{4}-7000-8000-0{10}[0-9a-c]{1,5}$/);
    fc.assert(
      fc.property(fc.uniqueArray(id, { selector: (one) => one.toLowerCase() }), (all) => {
        for (const [one, { text }] of shortIds(all)) {
          const [start = "", end = ""] = text.toLowerCase().split("…");
          const fits = (other: string): boolean => other.startsWith(start) && other.endsWith(end);
          const found = all.filter((other) => fits(other.toLowerCase()));
          expect(text === one ? one : found).toEqual(text === one ? one : [one]);
        }
      }),
    );
  });
});

it("a unique prefix is the shortest one that no other id has, or the whole id (law)", () => {
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
