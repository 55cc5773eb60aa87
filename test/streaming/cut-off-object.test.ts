/** Records that were cut off, told from text that is no JSON. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isCutOffObject } from "../../packages/streaming/src/object-scanner.ts";

const isCutOff = (text: string): boolean => isCutOffObject([Buffer.from(text)]);

function parses(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** In this order, so that strings end before brackets are tried, and no new ones begin. */
const nextCharacters = ['"', "}", "]", ":", "0", "r", "u", "e", "a", "l", "s"];

/** Makes a beginning whole, a character at a time; undefined if the way is blocked. */
function completed(beginning: string): string | undefined {
  let text = beginning;
  for (let steps = 0; steps < 200; steps += 1) {
    if (parses(text)) return text;
    const next = nextCharacters.find((char) => isCutOff(text + char) || parses(text + char));
    if (next === undefined) return undefined;
    text += next;
  }
  return undefined;
}

describe("a record that was cut off", () => {
  it.each([
    "",
    " ",
    "torn",
    "[1,",
    '"text',
    '{"a":1}',
    '{"a":1} ',
    '{"a":1}x',
    '{"a":1}{"b":',
    '{"type":"mess{"type":"message"}',
  ])("is not this: %j", (text) => {
    expect(isCutOff(text)).toBe(false);
  });

  it("is every beginning of a record, in whatever pieces it comes, and no whole one", () => {
    const record = fc.dictionary(fc.string(), fc.jsonValue());
    const spacing = fc.constantFrom(undefined, 1, "\t");
    fc.assert(
      fc.property(record, spacing, fc.nat(), fc.nat(), (value, space, cut, seam) => {
        const bytes = Buffer.from(JSON.stringify(value, null, space));
        expect(isCutOffObject([bytes])).toBe(false);
        const beginning = Buffer.concat([
          Buffer.from(" "),
          bytes.subarray(0, 1 + (cut % (bytes.length - 1))),
        ]);
        const at = seam % beginning.length;
        expect(isCutOffObject([beginning.subarray(0, at), beginning.subarray(at)])).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it("can always be made whole", () => {
    const pieces = '{}[]":,01-.et\\u '.split("");
    const text = fc.array(fc.constantFrom('{"a":', ...pieces), { maxLength: 12 });
    fc.assert(
      fc.property(text, (parts) => {
        const beginning = parts.join("");
        if (isCutOff(beginning)) expect(completed(beginning)).toBeDefined();
      }),
      { numRuns: 5000 },
    );
  });
});
