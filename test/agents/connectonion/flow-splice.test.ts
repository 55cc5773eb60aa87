/** Turns that are put into documents whose turns or messages are written in flow style. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../support/fault-seed.ts";
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import { flowText } from "../../../packages/agents/src/connectonion/yaml-text.ts";
import { spliceTurn } from "../../../packages/agents/src/connectonion/turn-splice.ts";
import type { TurnToAdd } from "../../../packages/agents/src/connectonion/turn-splice.ts";
import { askPython, pythonWithYaml, withoutPython } from "../../support/python-yaml.ts";
import { arbitraryData, arbitraryTurn, textOf } from "./documents.ts";
import { dataOf, sample, says, withTurn } from "./spliced-turns.ts";

const short: TurnToAdd = {
  fields: { input: "a", cost: 1, ok: true },
  messages: [{ role: "user", content: "a\nb" }],
  updated: "2026-02-03 04:05:06",
};
const item = `{"turn": 2, "input": "a", "cost": 1.0, "ok": true}`;
const list = `[{"role": "user", "content": "a\\nb"}]`;

function splicedText(text: string, added: TurnToAdd = short): string {
  return spliceTurn(text, "/a.yaml", added).text;
}

describe("a turn after turns in flow style", () => {
  it.each([
    ["behind the last", "[{turn: 1}]", `[{turn: 1}, ${item}]`],
    ["with the space before the bracket kept", "[ {turn: 1} ]", `[ {turn: 1}, ${item} ]`],
    ["with the comma at the end kept", "[{turn: 1},]", `[{turn: 1}, ${item},]`],
    ["behind an item without braces", "[turn: 1]", `[turn: 1, ${item}]`],
    [
      "on a line of its own where the bracket has one",
      "[\n  {turn: 1}\n]",
      `[\n  {turn: 1},\n  ${item}\n]`,
    ],
    [
      "behind comments, which stay with what they are about",
      "[ # all\n    {turn: 1}  # one, [two]\n    # no more\n]",
      `[ # all\n    {turn: 1},  # one, [two]\n    # no more\n    ${item}\n]`,
    ],
    [
      "behind a comma and a comment",
      "[\n    {turn: 1}, # one, two\n  ]",
      `[\n    {turn: 1}, # one, two\n    ${item},\n  ]`,
    ],
    ["indented where nothing shows how far", "[{turn: 1}\n  ]", `[{turn: 1},\n    ${item}\n  ]`],
    [
      "behind a comma on a line of its own",
      "[{turn: 1} # one\n  , ]",
      `[{turn: 1} # one\n  , ${item}, ]`,
    ],
  ])("is %s", (_, before, after) => {
    const messages = "messages:\n  1: []\n";
    const text = splicedText(`turns: ${before} # behind\n${messages}`);
    expect(text.startsWith(`turns: ${after} # behind\n${messages}`)).toBe(true);
    const lines = `turns: ${before}\n${messages}`.replaceAll("\n", "\r\n");
    expect(splicedText(lines)).toContain(`turns: ${after}\n`.replaceAll("\n", "\r\n"));
  });

  it.each([
    ["{1: []}", `{1: [], 2: ${list}}`],
    [`{"1": []}`, `{"1": [], '2': ${list}}`],
    ["{1: [], }", `{1: [], 2: ${list}, }`],
    ["{\n  1: [] # one\n}", `{\n  1: [], # one\n  2: ${list}\n}`],
  ])("has its messages in flow style when others do: %j", (before, after) => {
    const text = splicedText(`turns:\n- turn: 1\nmessages: ${before}\n`);
    expect(text).toContain(`messages: ${after}\n`);
    expect(text).toContain("- turn: 2\n  input: a\n");
  });

  it("is inserted once into a document with blocks elsewhere", () => {
    const before = "name: a # b\nturns: [{turn: 1}]\nupdated: 'x'\nmore: [1, 2]";
    const { document } = spliceTurn(before, "/a.yaml", sample);
    expect(document.turns).toHaveLength(2);
    expect(document.messages.get(2)).toEqual(sample.messages);
  });
});

/** How people may write what is inside of brackets. */
interface FlowLayout {
  readonly opening: string;
  readonly between: string;
  readonly closing: string;
}

const layout: fc.Arbitrary<FlowLayout> = fc.record({
  opening: fc.constantFrom("", " ", "\n  ", " # a, b\n    "),
  between: fc.constantFrom(", ", ",\n  ", " ,", ", # {c}\n\n    "),
  closing: fc.constantFrom("", " ", ",", " , ", "\n", ",\n  ", " # d]\n", ", # e\n# f,\n  "),
});

/** A document with turns, and messages if it has them by themselves, in flow style. */
function flowDocument(data: JsonObject, { opening, between, closing }: FlowLayout): string {
  const { turns, messages, ...rest } = data;
  const inBrackets = (items: readonly string[]): string =>
    items.length === 0 ? "" : `${opening}${items.join(between)}${closing}`;
  const items = (Array.isArray(turns) ? turns : []).map((turn) => flowText(turn));
  const pairs = Object.entries((messages ?? {}) as Record<string, JsonValue>).map(
    ([key, value]) => `${key}: ${flowText(value)}`,
  );
  const own = messages === undefined ? "" : `messages: {${inBrackets(pairs)}}\n`;
  // The text of a document without both begins with all else that it says.
  const [head = ""] = textOf({ ...rest, turns: [], messages: {} }).split(/^turns:/m);
  return `${head}turns: [${inBrackets(items)}]\n${own}`;
}

/** Whether all characters of one text are in another, in their order, but for what may change. */
function isWithin(before: string, after: string): boolean {
  const comparable = (text: string): string =>
    text.replaceAll(/^(updated|total_cost|total_tokens):.*$/gm, "$1:");
  const wanted = comparable(before);
  let at = 0;
  for (const unit of comparable(after)) if (wanted.startsWith(unit, at)) at += unit.length;
  return at === wanted.length;
}

describe("any turn in any document in flow style", () => {
  it("is read back, and no other character changed. Law", () => {
    fc.assert(
      fc.property(arbitraryData, layout, arbitraryTurn, fc.boolean(), (data, how, turn, isCrlf) => {
        const lines = flowDocument(data, how);
        const before = isCrlf ? lines.replaceAll("\n", "\r\n") : lines;
        fc.pre(says(before, data) && Array.isArray(data["turns"]) && data["turns"].length > 0);
        const { text, document } = spliceTurn(before, "/a.yaml", turn);
        expect(document.data).toEqual(withTurn(data, turn));
        expect(dataOf(text)).toEqual(document.data);
        expect(isWithin(before, text)).toBe(true);
      }),
      { numRuns: 150 },
    );
  });

  it.skipIf(pythonWithYaml === undefined)(`is read by PyYAML as intended${withoutPython}`, () => {
    const arbitrary = fc.tuple(arbitraryData, arbitraryTurn);
    const cases = fc.sample(arbitrary, { numRuns: runs(30, 150), seed: 3 });
    const inputs = cases.map(([data]) => data);
    const texts = askPython("dumped_in_flows", inputs) as string[];
    const spliced = texts.map((text, at) => splicedText(text, cases[at]?.[1] ?? sample));
    const read = askPython("loaded", spliced);
    const known = askPython("loaded", texts) as JsonObject[];
    expect(read).toEqual(known.map((data, at) => withTurn(data, cases[at]?.[1] ?? sample)));
  });
});
