/** What PyYAML reads for scalars without quotes: from its own answers, and asked where it is there. */
import { describe, expect, it } from "vitest";
import { foldedText, readPlain } from "../../../packages/agents/src/connectonion/plain-scalars.ts";
import { askPython, pythonWithYaml, withoutPython } from "../../support/python-yaml.ts";
import { dataBeside } from "../../support/data-file.ts";

/** A text, and what PyYAML makes of it; "beyond" is what JSON cannot say. */
const readings = dataBeside(import.meta.url, "plain-scalars.json") as readonly (readonly [
  string,
  unknown,
])[];

describe("a scalar without quotes", () => {
  it.each(readings)("%j is read as PyYAML does", (source, expected) => {
    const reading = readPlain(source);
    const value = reading.kind === "value" ? reading.value : source;
    expect(reading.kind === "beyond-json" ? "beyond" : value).toEqual(expected);
  });

  it.each([
    ["a\n  b", "a b"],
    ["a\n\n  b", "a\nb"],
    ["a\u2028  b", "a\u2028b"],
    ["a\u0085b \r\n c", "a b c"],
    ["a \u2029\n\u2028 b", "a\u2029\n\u2028b"],
  ])("over several lines is folded as PyYAML does: %j", (source, folded) => {
    expect(foldedText(source)).toBe(folded);
  });

  it.skipIf(pythonWithYaml === undefined)(`is what PyYAML says${withoutPython}`, () => {
    const texts = readings.map(([text]) => text);
    expect(askPython("plain", texts)).toEqual(readings.map(([, expected]) => expected));
  });
});
