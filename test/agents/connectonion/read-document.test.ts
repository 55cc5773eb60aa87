/** Reading documents: both shapes, what is odd, what is damaged, what is refused. */
import { describe, expect, it } from "vitest";
import { isBranchlogError } from "@branchlog/core";
import { readDocument } from "../../../packages/agents/src/connectonion/read-document.ts";
import { pythonWithYaml, askPython, withoutPython } from "../../support/python-yaml.ts";
import { fixtureText } from "./documents.ts";

const read = (text: string): ReturnType<typeof readDocument>["document"] =>
  readDocument(text, "/a.yaml").document;

/** Code, line and column of what reading throws. */
function failure(text: string): unknown {
  try {
    read(text);
  } catch (error) {
    if (isBranchlogError(error)) return [error.code, error.line, error.column];
    throw error;
  }
  return undefined;
}

/** 2,000 lines, each indented more than the one before. */
function everyLine(line: (indent: string) => string): string {
  return Array.from({ length: 2_000 }, (_, i) => line(" ".repeat(i))).join("\n");
}

describe("a document", () => {
  it("in the standard layout has turns, messages and totals", () => {
    const document = read(fixtureText("ideal"));
    expect(document).toMatchObject({
      name: "oo",
      created: "2025-12-03 10:12:44",
      shape: "keyed",
      storedTotals: { total_cost: 0.0523, total_tokens: 25_000 },
      totals: { count: 3, total_cost: 0.0812, total_tokens: 33_500, passed: 0, failed: 0 },
    });
    expect(document.turns.map(({ turn, cost }) => [turn, cost])).toEqual([
      [1, 0.0152],
      [2, 0.0371],
      [3, 0.0289],
    ]);
    expect([...document.messages.keys()]).toEqual([1, 2, 3]);
    expect(document.messages.get(1)?.[2]?.content).toMatch(/^total 20\ndrwx[^]*README\.md\n$/);
  });

  it("reports that the totals of the example do not add up", () => {
    const kinds = read(fixtureText("ideal")).diagnostics.map(({ kind }) => kind);
    expect(kinds).toEqual([
      "total-cost-differs",
      "total-tokens-differ",
      "updated-before-last-turn",
    ]);
  });

  it("as PyYAML writes it has the same data as a nested one", () => {
    const [dumped, nested] = [read(fixtureText("dumped")), read(fixtureText("nested"))];
    expect(nested.shape).toBe("nested");
    expect(nested.messages).toEqual(dumped.messages);
    expect(nested.totals).toEqual(dumped.totals);
    expect(dumped.totals).toMatchObject({ passed: 1, failed: 0 });
    expect(dumped.turns[1]).toMatchObject({ input: "yes", result: "12:30:45", passed: true });
    expect(nested.turns[0]?.["eval"]).toEqual({
      expect_tools: ["greet"],
      expect_result: "a greeting",
    });
    expect([...dumped.diagnostics, ...nested.diagnostics]).toEqual([]);
  });

  it("has its messages in numeric order, 10 after 2", () => {
    const messages = [10, 2, 1].map((turn) => `  ${turn}: [{role: user, content: '${turn}'}]\n`);
    const { messages: found } = read(`turns: []\nmessages:\n${messages.join("")}`);
    expect([...found.keys()]).toEqual([1, 2, 10]);
  });

  it("follows aliases as PyYAML writes them for a repeated object", () => {
    const text = "turns:\n- &t {turn: 1, tokens: 5}\n- *t\nmessages: {1: [&m {role: user}, *m]}\n";
    const document = read(text);
    expect(document.turns).toEqual([
      { turn: 1, tokens: 5 },
      { turn: 1, tokens: 5 },
    ]);
    expect(document.messages.get(1)).toEqual([{ role: "user" }, { role: "user" }]);
  });

  it("resolves an alias to the value of its name at that position, even if the name is reused", () => {
    const text = "a: &x 1\nb: &y [*x]\nc: &x {d: 2}\ne: *y\nf: *x\n";
    expect(read(text).data).toEqual({ a: 1, b: [1], c: { d: 2 }, e: [1], f: { d: 2 } });
  });

  it("reports irregularities", () => {
    const text = [
      "created: 2025-12-03 10:12:44",
      "total_cost: 1",
      "turns: [{turn: 1, cost: 1.0}, {turn: 1, cost: 0}, {turn: 4, a: 1, a: 2}]",
      "messages: {1: [], 4: nothing, 7: []}",
    ];
    const found = read(text.join("\n")).diagnostics.map(({ kind, turn }) => [kind, turn]);
    expect(found).toEqual([
      ["duplicate-turn", 1],
      ["turn-without-messages", 4],
      ["missing-turn", 2],
      ["missing-turn", 3],
      ["messages-without-turn", 7],
      ["messages-unreadable", undefined],
      ["duplicate-key", undefined],
      ["no-json-form", undefined],
    ]);
  });
});

describe("a document that cannot be read", () => {
  it.each([
    ["", 1, 1],
    ["# nothing\n", 1, 1],
    ["name: oo\nturns:\n  - turn: 1\n    input: 'cut", 4, 16],
    ["name: oo\nturns: *nobody\n", 2, 8],
    ["a: b: c\n", 1, 4],
    ["turns: &a [*a]\n", 1, 12],
  ])("is damaged, with its place: %j", (text, line, column) => {
    expect(failure(text)).toEqual(["ERR_DOCUMENT_DAMAGED", line, column]);
  });

  it.each([
    ["- a\n", 1, 1],
    ["turns: 5\n", 1, 8],
    ["turns: [1]\n", 1, 9],
    ["messages: []\n", 1, 11],
    ["a: !!python/object:os.system {}\n", 1, 30],
    ["a: {<<: {b: 1}}\n", 1, 5],
    ["? [a]\n: b\n", 1, 3],
    ['a: "b\u2028  c"\n', 1, 4],
  ])("is refused: %j", (text, line, column) => {
    expect(failure(text)).toEqual(["ERR_DOCUMENT_REFUSED", line, column]);
  });

  it("is refused if its aliases refer to too much", () => {
    const levels = Array.from({ length: 9 }, (_, level) => {
      const below = level === 0 ? "[x]" : `[${`*l${level - 1}, `.repeat(9)}]`;
      return `l${level}: &l${level} ${below}\n`;
    });
    expect(failure(levels.join(""))).toEqual(["ERR_DOCUMENT_REFUSED", 1, 1]);
  });

  it("is refused if its aliases refer to too much text", () => {
    const text = `text: &t ${"x".repeat(1_000_000)}\nall:\n${"- *t\n".repeat(100)}`;
    expect(failure(text)).toEqual(["ERR_DOCUMENT_REFUSED", 1, 1]);
  });

  it("is damaged if another one follows it in the same file", () => {
    expect(failure("name: a\n---\nname: b\n")).toEqual(["ERR_DOCUMENT_DAMAGED", 2, 1]);
    expect(() => read("name: a\n---\nname: b\n")).toThrow("a second document begins there");
  });

  it.each([
    ["in brackets", (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`],
    ["in braces", (levels: number) => `${"{a: ".repeat(levels)}1${"}".repeat(levels)}`],
    ["in lists", (levels: number) => `\n  ${"- ".repeat(levels)}a`],
  ])("is refused if it is nested more than 500 levels deep: %s", (_, nested) => {
    const texts = [499, 500, 10_000].map((levels) => `name: a\nb: ${nested(levels)}\n`);
    // The mapping around it is the first level.
    expect(texts.map((text) => String(failure(text)).split(",")[0])).toEqual([
      "undefined",
      "ERR_DOCUMENT_REFUSED",
      "ERR_DOCUMENT_REFUSED",
    ]);
  });

  it.each([
    ["lists in a line", `b:\n  ${"- ".repeat(4_000)}a`],
    ["keys in a line", "? ".repeat(4_000)],
    ["lists and keys in a line", `b:\n  ${"- ? ".repeat(2_000)}a`],
    ["mappings by indentation", everyLine((indent) => `${indent}b:`)],
    ["lists by indentation", `b:\n${everyLine((indent) => ` ${indent}-`)}`],
    ["lists of mappings by indentation", everyLine((indent) => `${indent}b:\n${indent}-`)],
    ["open brackets", `b: ${"[".repeat(4_000)}`],
    ["open braces", `b: ${"{a: ".repeat(4_000)}`],
    ["pairs in brackets", `b: ${"[a: ".repeat(4_000)}`],
    ["keys of one line in braces", `b: {${"a: ".repeat(4_000)}}`],
    ["brackets in lists", `b:\n  ${"- ".repeat(2_000)}${"[".repeat(2_000)}`],
  ])("is refused for its depth when another key follows thousands of %s", (_, nested) => {
    for (const text of [nested, `${nested}\n`, `${nested}\nc: d\n`]) {
      expect(() => read(text)).toThrow("nested more than 500 levels deep");
    }
  });

  it("is read when only its texts look nested deeply", () => {
    const marks = `${"[".repeat(5_000)}${"{a: ".repeat(5_000)}${"- ".repeat(5_000)}${"? ".repeat(5_000)}`;
    const steps = everyLine((indent) => `  ${indent}- a:`);
    const texts = [
      `name: "${marks}"\n`,
      `name: '${marks}'\n`,
      `name: x${marks.replaceAll(": ", "")}\n`,
      `name: |\n  ${marks}\n`,
      `name: >\n${steps}\n`,
      `name: a # ${marks}\n`,
    ];
    for (const text of texts) {
      expect(read(`${text}turns: []\n`).turns).toEqual([]);
      expect(read(`${text}turns: []\n`).name.length > 1_000).toBe(!text.includes("#"));
    }
  });

  it.each([
    ['name: "a\u0000b"\n', 1, 9],
    ["name: a\n# \u0007\n", 2, 3],
    ["name: a\u007f\n", 1, 8],
    ["name: a\ntext: |\n  b\n  c\ufffe\n", 4, 4],
  ])("is damaged by a character that YAML forbids: %j", (text, line, column) => {
    expect(failure(text)).toEqual(["ERR_DOCUMENT_DAMAGED", line, column]);
  });

  it.skipIf(pythonWithYaml === undefined)(
    `rejects the characters that PyYAML rejects${withoutPython}`,
    () => {
      const edges = [0xd7ff, 0xe000, 0xfeff, 0xfffd, 0xfffe, 0xffff, 0x1_0000, 0x10_ffff];
      const codes = [...Array.from({ length: 0x101 }, (_, code) => code), ...edges];
      // What these mean in quotes is decided elsewhere.
      const texts = codes
        .filter((code) => ![0x0a, 0x22, 0x5c, 0x85].includes(code))
        .map((code) => `name: "a${String.fromCodePoint(code)}b"\n`);
      const ours = texts.map((text) => failure(text) === undefined);
      expect(ours).toEqual(askPython("is_read", texts));
    },
  );
});
