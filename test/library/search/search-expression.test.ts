/** Regular expressions as RE2 matches them, also where V8 does it. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { searchExpression } from "../../../packages/library/src/search/search-expression.ts";

const texts = [
  "Abcd abcd\nabc\rend",
  "KELVIN \u212a, long ſ, µ and μ, ΟΔΟΣ οδος",
  "A101 \u0041bcd ]ab[ 7bc",
  "two\r\nlines\u2028and more, straße STRASSE",
  "",
];

/** In a group, an expression is left to RE2. */
const asGroup = (query: string): string => `(?:${query})`;

describe("a regular expression of a search", () => {
  const queries = [
    ["\\x41bcd", "Abcd"],
    ["\\101", "A"],
    ["\\pLbc", "Abc"],
    ["[]ab]b", "Ab"],
    ["[[:digit:]]bc", "7bc"],
    ["abc.end", "abc\rend"],
    ["two$", undefined],
    ["^lines", "lines"],
    ["kelvin [k]", "KELVIN \u212a"],
    ["long s", "long ſ"],
    ["οδο[σ]", "ΟΔΟΣ"],
    ["\\bend\\b", "end"],
    ["a|lines", "A"],
    ["colou?r", undefined],
    ["x*", undefined],
    ["", undefined],
  ] as const;
  it.each(queries)("%j finds %j, with the literals that a search needs", (query, match) => {
    const { find, wanted = [] } = searchExpression(query);
    const matched = texts.map((text) => {
      const found = find(text);
      expect(found).toEqual(searchExpression(asGroup(query)).find(text));
      const said = found === undefined ? undefined : text.slice(found.start, found.end);
      for (const literal of wanted) {
        if (said !== undefined) expect(said.toLowerCase()).toContain(literal);
      }
      return said;
    });
    expect(matched.find((said) => said !== undefined)).toBe(match);
  });

  it("finds the same as RE2, and only texts with its literals, for any expression", () => {
    const classes =
      "\\d \\D \\w \\s \\b \\. \\[ [ab] [^a] [a-k] []a] [\\d] [[:alpha:]] [σs] \\x41 \\pL";
    const others = "a B k S ſ σ Σ ß µ é 7 - . ^ $ | a? b* c+ d{2} e{0,1} (ab)";
    const piece = fc.constantFrom(" ", "\n", ...`${classes} ${others}`.split(" "));
    const query = fc.array(piece, { minLength: 1, maxLength: 5 }).map((all) => all.join(""));
    const characters = Array.from("aAbBkKsSſσΣςßµμ7 -.\n\r\u2028\u212aeé[]d\u{1f600}");
    const text = fc
      .array(fc.constantFrom(...characters), { maxLength: 12 })
      .map((all) => all.join(""));
    fc.assert(
      fc.property(query, fc.array(text, { maxLength: 5 }), (searched, all) => {
        const { find, wanted = [] } = searchExpression(searched);
        const plain = searchExpression(asGroup(searched));
        for (const one of all) {
          const found = find(one);
          expect(found).toEqual(plain.find(one));
          if (found === undefined) continue;
          for (const literal of wanted) {
            expect(one.slice(found.start, found.end).toLowerCase()).toContain(literal);
          }
        }
      }),
      { numRuns: 3000 },
    );
  });
});
