/** Documents as we write them: in the form of the format, and read the same by every reader. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readDocument } from "../../../packages/agents/src/connectonion/read-document.ts";
import { askPython, pythonWithYaml, withoutPython } from "../../support/python-yaml.ts";
import { arbitraryData, fixtureText, textOf } from "./documents.ts";

describe("the text of a document", () => {
  it("has the standard layout: all turns first, blocks for texts of several lines", () => {
    const ideal = fixtureText("ideal");
    const { data } = readDocument(ideal, "ideal.yaml").document;
    // The example has a comment in its first turn, and no empty line between section and turns.
    const written = ideal.replace(/ {4}# [^]*?(?=\n {2}- turn: 2)/, "");
    expect(textOf(data)).toBe(written);
  });

  it("shows every turn in its first lines", () => {
    const { data } = readDocument(fixtureText("ideal"), "ideal.yaml").document;
    const head = textOf(data).split("\n").slice(0, 40).join("\n");
    for (const turn of [1, 2, 3]) expect(head).toContain(`  - turn: ${turn}\n`);
  });

  it("is read back as written, for any texts", () => {
    fc.assert(
      fc.property(arbitraryData, (data) => {
        expect(readDocument(textOf(data), "a.yaml").document.data).toEqual(data);
      }),
      { numRuns: 300 },
    );
  });

  it.skipIf(pythonWithYaml === undefined)(`is read the same by PyYAML${withoutPython}`, () => {
    const samples = fc.sample(arbitraryData, { numRuns: 150, seed: 1 });
    const texts = samples.map((data) => textOf(data));
    expect(askPython("loaded", texts)).toEqual(samples);
  });
});
