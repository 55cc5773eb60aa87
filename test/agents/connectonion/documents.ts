/** Documents for tests: those of the fixtures, and random ones in several layouts. */
import { isObject } from "@branchlog/core/rows";
import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import type { JsonObject, JsonValue } from "@branchlog/streaming";
import { documentText } from "../../../packages/agents/src/connectonion/yaml-text.ts";
import type { TurnToAdd } from "../../../packages/agents/src/connectonion/turn-splice.ts";

/** The text of a fixture. */
export function fixtureText(name: "ideal" | "dumped" | "nested"): string {
  const file = new URL(`../../../fixtures/connectonion-${name}.yaml`, import.meta.url);
  return readFileSync(file, "utf8");
}

/** Texts that YAML has its ways with. */
const awkward = fc.constantFrom(
  "yes",
  "no",
  "On",
  "~",
  "null",
  "1.5",
  "010",
  "0x1F",
  "1e5",
  "1_000",
  "12:30:45",
  "2025-12-03 10:12:44",
  "2025-12-03",
  ".inf",
  "=",
  "<<",
  "",
  " ",
  "- a",
  "a: b",
  "a:",
  "a #b",
  "#a",
  "'",
  '"',
  "it's",
  "{a: 1}",
  "[1]",
  "*a",
  "&a",
  "!a",
  "%a",
  "@a",
  "`a`",
  "|",
  ">",
  "---",
  "...",
  "a\nb",
  "a\nb\n",
  "\na",
  " a\n b",
  "a\n\n",
  "a\n  \nb",
  "a\n ",
  "\ta\n\tb",
  "a\tb",
  "a\r\nb",
  "\u0085",
  "\u2028",
  "\uFEFFa",
  "\u0000",
  "\u007F",
  "é 漢字 🌲",
  "\uD800",
  "run(command='ls -la')",
  "Found 10 files: .co/, .env",
  "# ===== x =====",
  "turns:\n  - turn: 1",
);

const arbitraryText: fc.Arbitrary<string> = fc.oneof(
  awkward,
  fc.string({ maxLength: 20 }),
  fc.string({ unit: "binary", maxLength: 8 }),
  fc
    .array(fc.oneof(awkward, fc.string({ maxLength: 8 })), { maxLength: 4 })
    .map((lines) => lines.join("\n")),
);

const number = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value)),
);
const leaf: fc.Arbitrary<JsonValue> = fc.oneof(
  arbitraryText,
  number,
  fc.boolean(),
  fc.constant(null),
);

/** Keys that no object of JavaScript moves to its front. */
const key = arbitraryText.filter((text) => !/^\d+$/.test(text) && text !== "__proto__");

const anything: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    leaf,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(key, tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value;

const cost = fc.integer({ min: 0, max: 50_000 }).map((value) => value / 10_000);

const summary = fc
  .record({
    input: arbitraryText,
    result: arbitraryText,
    model: fc.constantFrom("co/gemini-2.5-pro", "gpt", ""),
    duration_ms: fc.nat(100_000),
    tokens: fc.nat(100_000),
    cost,
    tools_called: fc.array(arbitraryText, { maxLength: 3 }),
    timestamp: fc.constantFrom("2025-12-03 10:12:50", "2026-01-01 00:00:00"),
    passed: fc.option(fc.boolean(), { nil: undefined }),
    expected: fc.option(arbitraryText, { nil: undefined }),
  })
  .chain((known) =>
    fc.dictionary(key, anything, { maxKeys: 2, noNullPrototype: true }).map((more) => {
      const { turn: _, messages: __, ...rest } = more;
      return jsonOf({ ...rest, ...known });
    }),
  );

const message = fc.oneof(
  fc.record({ role: fc.constantFrom("user", "system"), content: arbitraryText }),
  fc.record({
    role: fc.constant("assistant"),
    content: fc.oneof(arbitraryText, fc.constant(null)),
    tool_calls: fc.array(
      fc.record({
        id: fc.constantFrom("call_1", "call_2"),
        type: fc.constant("function"),
        function: fc.record({
          name: fc.constantFrom("run", "write"),
          arguments: fc.oneof(
            fc.constantFrom('{"command": "ls -la"}', '{"a":1}', "{not json", "[1]"),
            arbitraryText,
          ),
        }),
      }),
      { maxLength: 2 },
    ),
  }),
  fc.record({
    role: fc.constant("tool"),
    tool_call_id: fc.constantFrom("call_1", "call_9"),
    content: arbitraryText,
  }),
  fc.record({ role: fc.constantFrom("developer", "user"), content: anything, name: arbitraryText }),
);

const messages = fc.array(message, { maxLength: 4 }).map((list) => list.map(jsonOf));

/** A turn that is to be appended. */
export const arbitraryTurn: fc.Arbitrary<TurnToAdd> = fc.record({
  fields: summary,
  messages,
  updated: fc.constant("2026-02-03 04:05:06"),
});

/** What a document says, of either shape. */
export const arbitraryData: fc.Arbitrary<JsonObject> = fc
  .record({
    turns: fc.array(fc.tuple(summary, messages), { maxLength: 3 }),
    isNested: fc.boolean(),
    name: arbitraryText,
    system_prompt: arbitraryText,
    more: fc.dictionary(key, anything, { maxKeys: 2, noNullPrototype: true }),
    total_cost: cost,
  })
  .map(({ turns, isNested, name, system_prompt, more, total_cost }) => {
    const isKeyed = !isNested || turns.length === 0;
    const numbered = turns.map(([fields, list], place) => ({
      turn: place + 1,
      ...fields,
      ...(isKeyed ? {} : { messages: JSON.stringify(list) }),
    }));
    const keyed = Object.fromEntries(turns.map(([, list], place) => [String(place + 1), list]));
    const head = { name, created: "2025-12-03 10:12:44", updated: "", total_cost };
    return jsonOf({
      ...more,
      ...head,
      total_tokens: 5,
      turns: numbered,
      system_prompt,
      ...(isKeyed ? { messages: keyed } : {}),
    });
  });

/** A layout that people or PyYAML may give a text of ours. */
export const arbitraryLayout: fc.Arbitrary<(text: string) => string> = fc.constantFrom(
  (text) => text,
  (text) => text.replaceAll("\n", "\r\n"),
  (text) => text.trimEnd(),
  (text) => `\uFEFF${text}`,
  (text) => `${text}\n# the end\n`,
  (text) => `---\n${text}`,
);

/** The text of a document in the form of the format. */
export function textOf(data: JsonObject): string {
  return documentText(data);
}

/** A value as JSON would hand it on: without what is undefined. */
function jsonOf(value: unknown): JsonObject {
  const plain: unknown = JSON.parse(JSON.stringify(value));
  return isObject(plain) ? plain : {};
}
