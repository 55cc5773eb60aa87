/**
 * Putting a turn into a text that others keep: what is put in is there, and nothing else changed.
 */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../support/fault-seed.ts";
import { everyCase } from "../../support/law-time.ts";
import type { JsonObject } from "@branchlog/streaming";
import { isBranchlogError } from "@branchlog/core";
import { spliceTurn } from "../../../packages/agents/src/connectonion/turn-splice.ts";
import { askPython, pythonWithYaml, withoutPython } from "../../support/python-yaml.ts";
import { arbitraryData, arbitraryLayout, arbitraryTurn, fixtureText, textOf } from "./documents.ts";
import { dataOf, sample, says, withTurn } from "./spliced-turns.ts";

/** The lines of a text, with those that an append may change made alike. */
function comparableLines(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.replace(/\r$/, ""))
    .map((line) => line.replace(/^(updated|total_cost|total_tokens):.*$/, "$1:"))
    .map((line) => line.replace(/^(turns|messages): (?:\[\]|\{\})/, "$1:"));
}

/** Whether all lines of one text are in another, in their order. */
function isWithin(before: string, after: string): boolean {
  const lines = comparableLines(before);
  if (lines.at(-1) === "") lines.pop();
  let at = 0;
  for (const line of comparableLines(after)) if (line === lines[at]) at += 1;
  return at === lines.length;
}

describe("a turn inserted into a document", () => {
  it("follows the last one, after the comments that belong to that", () => {
    const { text } = spliceTurn(fixtureText("ideal"), "/a.yaml", sample);
    expect(text).toContain(
      [
        "    timestamp: '2025-12-03 10:18:00'",
        "",
        "  - turn: 4",
        "    input: say yes",
        "    result: 'yes'",
        "    model: co/gemini-2.5-pro",
        "    duration_ms: 1200",
        "    tokens: 100",
        "    cost: 0.00125",
        "    tools_called:",
        "    - run(command='ls -la')",
        "    timestamp: '2026-02-03 04:05:06'",
        "",
        "# ===== DETAIL SECTION (scroll down) =====",
      ].join("\n"),
    );
    expect(
      text.endsWith(
        [
          "      content: All 5 tests passed successfully.",
          "",
          "  4:",
          "    - role: user",
          "      content: say yes",
          "",
          "    - role: tool",
          "      tool_call_id: call_1",
          "      content: |",
          "        a",
          "        b",
          "",
        ].join("\n"),
      ),
    ).toBe(true);
    expect(text).toContain(
      "updated: '2026-02-03 04:05:06'\ntotal_cost: 0.0536\ntotal_tokens: 25100\n",
    );
    expect(isWithin(fixtureText("ideal"), text)).toBe(true);
  });

  it("has PyYAML's form when the document does, and the key order of the previous turn", () => {
    const { text, turn } = spliceTurn(fixtureText("dumped"), "/a.yaml", sample);
    expect(turn).toBe(3);
    expect(text).toContain(
      "    level: 2\n- input: say yes\n  result: 'yes'\n  model: co/gemini-2.5-pro\n",
    );
    expect(text).toContain("  turn: 3\n  timestamp: '2026-02-03 04:05:06'\nsystem_prompt: ");
    expect(text).toMatch(/ {2}3:\n {2}- role: user\n {4}content: say yes\n {2}- role: tool\n[^]*$/);
    expect(isWithin(fixtureText("dumped"), text)).toBe(true);
  });

  it("includes its messages as JSON when the document does", () => {
    const { text, document } = spliceTurn(fixtureText("nested"), "/a.yaml", sample);
    expect(document.shape).toBe("nested");
    expect(document.messages.get(3)).toEqual(sample.messages);
    expect(isWithin(fixtureText("nested"), text)).toBe(true);
  });

  it("has the number after the highest in the document", () => {
    const text = "turns:\n- turn: 2\nmessages:\n  10: []\n";
    const { text: after, turn } = spliceTurn(text, "/a.yaml", sample);
    expect(turn).toBe(11);
    expect(after.indexOf("  11:\n")).toBeGreaterThan(after.indexOf("  10: []\n"));
  });

  it("is after the comments of the last turn, and before those of the next section", () => {
    const turns = "turns:\n- turn: 1\n  input: a\n  # passed: true\n";
    const next = "\n# the rest\n  # of it\nname: x\n";
    const { text } = spliceTurn(`${turns}${next}`, "/a.yaml", sample);
    expect(text.startsWith(`${turns}- turn: 2\n  input: say yes\n`)).toBe(true);
    expect(text).toContain(`  timestamp: '2026-02-03 04:05:06'\n${next}messages:\n`);
  });

  it("has its number as a string when the others do", () => {
    const text = "turns:\n- turn: 1\nmessages:\n  '1': []\n";
    const { text: after, document } = spliceTurn(text, "/a.yaml", sample);
    expect(after).toContain("  '2':\n  - role: user\n");
    expect(document.messages.get(2)).toEqual(sample.messages);
  });

  it("is inserted in any layout, and no other line changes. Law", () => {
    fc.assert(
      fc.property(arbitraryData, arbitraryLayout, arbitraryTurn, (data, layOut, added) => {
        const before = layOut(textOf(data));
        // A block at the end without its newline is another text.
        fc.pre(says(before, data));
        const { text, turn, document } = spliceTurn(before, "/a.yaml", added);
        const { turns, ...rest } = withTurn(data, added);
        expect(document.data).toEqual({ ...rest, turns });
        expect(dataOf(text)).toEqual(document.data);
        expect(turn).toBe(document.turns.length);
        expect(isWithin(before, text)).toBe(true);
      }),
      { numRuns: 150 },
    );
  });

  it("is inserted with any comments and empty lines around it. Law", () => {
    const line = fc.record({
      at: fc.nat(200),
      text: fc.constantFrom(
        "",
        "   ",
        "# a",
        "  # b",
        "    # c",
        "      # passed: true",
        "        # d",
      ),
    });
    let spliced = 0;
    fc.assert(
      fc.property(
        arbitraryData,
        fc.array(line, { maxLength: 8 }),
        arbitraryTurn,
        (data, added, turn) => {
          const lines = textOf(data).split("\n");
          for (const { at, text } of added) lines.splice(at % (lines.length + 1), 0, text);
          const before = lines.join("\n");
          // What became part of a text is not a comment.
          fc.pre(says(before, data));
          const { text, document } = spliceTurn(before, "/a.yaml", turn);
          expect(document.data).toEqual(withTurn(data, turn));
          expect(isWithin(before, text)).toBe(true);
          spliced += 1;
        },
      ),
      { numRuns: 100, ...everyCase },
    );
    expect(spliced).toBeGreaterThanOrEqual(100);
  });

  it.skipIf(pythonWithYaml === undefined)(`is read by PyYAML as intended${withoutPython}`, () => {
    const cases = fc.sample(fc.tuple(arbitraryData, arbitraryTurn), {
      numRuns: runs(30, 150),
      seed: 2,
    });
    // As the tool itself would have written them.
    const inputs = cases.map(([data]) => data);
    const texts = askPython("dumped", inputs) as string[];
    const spliced = texts.map((text, at) => {
      const added = cases[at]?.[1] ?? sample;
      const result = spliceTurn(text, "/a.yaml", added).text;
      expect(isWithin(text, result)).toBe(true);
      return result;
    });
    const read = askPython("loaded", spliced);
    // It does not read everything as it was before it wrote it: U+0085 is a line break to it.
    const known = askPython("loaded", texts) as JsonObject[];
    const ours = texts.map((text) => dataOf(text));
    expect(ours).toEqual(askPython("held", texts));
    expect(read).toEqual(known.map((data, at) => withTurn(data, cases[at]?.[1] ?? sample)));
  });

  it.each([
    ["nothing but keys without values", "name: a\nturns:\nmessages:\nupdated:\n"],
    ["neither turns nor messages", "name: a\n"],
    ["a comment behind empty lists", "turns: [] # none yet\nmessages: {} # none\n"],
    [
      "messages before turns",
      "messages:\n    1:\n        - {role: user}\nturns:\n    -   turn: 1\n",
    ],
    ["no newline at its end", "turns:\n- turn: 1\nmessages:\n  1:\n  - role: user"],
    [
      "a block at its end that keeps its newlines",
      "turns:\n- turn: 1\nmessages:\n  1:\n  - role: |+\n      a\n\n\n",
    ],
    ["turns that are spread out", "turns:\n\n  -\n    turn: 1\n    # kept\n\n\n# end\n"],
    ["quoted and double-quoted values", 'updated: "x"\ntotal_cost: "?"\nturns: []\n'],
  ])("finds its position in %s", (_, text) => {
    const { document, turn, text: after } = spliceTurn(text, "/a.yaml", sample);
    expect(document.turns.at(-1)).toEqual({ turn, ...sample.fields });
    expect(document.messages.get(turn)).toEqual(sample.messages);
    expect(isWithin(text, after)).toBe(true);
  });

  it.each([
    "turns: [turn: 1, turn: # none\n ]\n",
    "turns: [ # none yet\n ]\n",
    "{turns: [], messages: {}}\n",
    "turns:\n- turn: 1\nmessages: {1: [], 2: # none\n }\n",
    "more: &a [{turn: 1}]\nturns: *a\n",
    "turns: &a [{turn: 1}]\nmore: *a\n",
    "turns: &a\n- turn: 1\nmessages: &b {}\nmore: *a\n",
    "turns: []\nupdated: |\n  long\n",
    "turns: []\n...\n",
    "turns: []\nsystem_prompt: |\n  a",
  ])("is rejected when its position is ambiguous: %j", (text) => {
    let code: unknown;
    try {
      const { text: after } = spliceTurn(text, "/a.yaml", sample);
      // Where it is possible anyway, it must be correct.
      expect(dataOf(after)["turns"]).toHaveLength(1);
      code = "ERR_DOCUMENT_REFUSED";
    } catch (error) {
      code = isBranchlogError(error) ? error.code : error;
    }
    expect(code).toBe("ERR_DOCUMENT_REFUSED");
  });
});
