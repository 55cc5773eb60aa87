import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cleanText, cutAt, oneLine, startOf } from "../../../packages/cli/src/text/clean-text.ts";

const escape = "\u001B";
const tree = "🌲";

/** Texts with whole and broken characters of two surrogates, controls and white space. */
const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom(tree, "\uD83C", "\uDF32", escape, "\n", "\r\n", "\t", "\u202E", " ", "a"),
    fc.string({ minLength: 1, maxLength: 1 }),
  ),
  maxLength: 60,
});

/** Whether a text has half a character where the other text, of which it is a part, has a whole. */
function isSplit(part: string, whole: string): boolean {
  const last = part.charCodeAt(part.length - 1);
  const next = whole.charCodeAt(part.length);
  return last >= 0xd800 && last <= 0xdbff && next >= 0xdc00 && next <= 0xdfff;
}

describe("a truncated text", () => {
  it("keeps characters of two surrogates whole", () => {
    expect(cutAt(`a${tree}b`, 1)).toBe("a");
    expect(cutAt(`a${tree}b`, 2)).toBe("a");
    expect(cutAt(`a${tree}b`, 3)).toBe(`a${tree}`);
    expect(oneLine(tree.repeat(10), 6)).toBe(`${tree.repeat(2)}…`);
  });

  it("never ends in the first half of a character, wherever it is cut", () => {
    fc.assert(
      fc.property(anyText, fc.nat(70), (text, units) => {
        const cut = cutAt(text, units);
        expect(cut.length).toBeLessThanOrEqual(units);
        expect(text.startsWith(cut)).toBe(true);
        expect(isSplit(cut, text)).toBe(false);
      }),
    );
  });

  it("is one line without controls, no longer than its limit", () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 70 }), (text, units) => {
        const line = oneLine(text, units);
        expect(line.length).toBeLessThanOrEqual(units);
        expect(line).not.toMatch(/\p{Cc}|[\u202A-\u202E\u2066-\u2069]/u);
        if (text.trim() !== "" && !line.endsWith("…")) {
          expect(line).toBe(cleanText(text.trim().replaceAll(/\s+/g, " ")));
        }
      }),
    );
  });

  it("a truncated text is marked, also within white space", () => {
    expect(oneLine(`a${" ".repeat(100)}b`, 10)).toBe("a…");
    expect(oneLine(`${" ".repeat(100)}b`, 10)).toBe("b");
  });
});

describe("a cleaned text", () => {
  it("a cleaned text has no control sequences", () => {
    expect(cleanText(`${escape}[2Jred${escape}]0;title\u0007\u009B`)).toBe(
      "\uFFFD[2Jred\uFFFD]0;title\uFFFD\uFFFD",
    );
    expect(cleanText("user\u202Etxt.exe")).toBe("user\uFFFDtxt.exe");
  });

  it("keeps lines and tabs", () => {
    expect(cleanText("a\r\n\tb\nc")).toBe("a\n\tb\nc");
  });
});

describe("the start of a text", () => {
  it.each([
    ["a\nb\nc\n", { linesMax: 3, unitsMax: 99 }, { text: "a\nb\nc", rest: "" }],
    ["a\nb\nc", { linesMax: 2, unitsMax: 99 }, { text: "a\nb", rest: "1 more line" }],
    ["a\nb\nc\nd", { linesMax: 2, unitsMax: 99 }, { text: "a\nb", rest: "2 more lines" }],
    ["abcdef", { linesMax: 2, unitsMax: 4 }, { text: "abcd", rest: "2 more characters" }],
    [`abc${tree}`, { linesMax: 2, unitsMax: 4 }, { text: "abc", rest: "2 more characters" }],
    ["", { linesMax: 2, unitsMax: 4 }, { text: "", rest: "" }],
  ])("of %j within %j", (text, limits, start) => {
    expect(startOf(text, limits)).toEqual(start);
  });

  it("the start of a text reports a rest exactly when something was omitted", () => {
    fc.assert(
      fc.property(anyText, fc.nat(6), fc.nat(30), (text, linesMax, unitsMax) => {
        const start = startOf(text, { linesMax, unitsMax });
        expect(start.rest === "").toBe(start.text === cleanText(text.trimEnd()));
      }),
    );
  });
});
