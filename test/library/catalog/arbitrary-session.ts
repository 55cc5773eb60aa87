/** Random session files with everything that real ones hold and much that they should not. */
import fc from "fast-check";
import { assistant, entry, header, message, name, startMs, user } from "./session-lines.ts";

const text = fc.constantFrom(
  "",
  " ",
  "hi",
  "say “ü”",
  "\u2028",
  'a "quoted"\nline',
  "}}",
  '{"type":',
);
const block = fc.oneof(
  text.map((value) => ({ type: "text", text: value })),
  fc.constantFrom<unknown>(
    null,
    7,
    {},
    { type: "text" },
    { type: "text", text: 5 },
    { type: "image", data: "AAAA", mimeType: "image/png" },
    { type: "thinking", thinking: "hm", timestamp: 1 },
    { type: "toolCall", id: "t", name: "x", arguments: { timestamp: 9, stopReason: "stop" } },
  ),
);
const content = fc.oneof(
  { weight: 3, arbitrary: fc.array(block, { maxLength: 3 }) },
  { weight: 3, arbitrary: text },
  fc.constantFrom<unknown>(null, 5, {}, undefined),
);
const time = fc.oneof(
  { weight: 5, arbitrary: fc.nat({ max: 100_000 }).map((ms) => startMs + ms) },
  fc.constantFrom<unknown>(0, -5, 1.5, 1e18, 1e21, "2025-06-03T09:00:00.000Z", null, undefined),
);
const role = fc.constantFrom("toolResult", "bashExecution", "system", "custom", "hookMessage", "x");

/** The keys of a message in another order than pi's. */
function reordered(line: object): object {
  const body = "message" in line ? line.message : {};
  return { ...line, message: Object.fromEntries(Object.entries(body ?? {}).reverse()) };
}

const record = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(content, time).map(([said, at]) => user(said, at)) },
  { weight: 4, arbitrary: fc.tuple(content, time).map(([said, at]) => assistant(said, at)) },
  fc.tuple(content, time).map(([said, at]) => reordered(assistant(said, at))),
  fc.tuple(content, time).map(([said, at]) => ({
    ...assistant(said, at),
    note: { by: "x", timestamp: startMs + 200_000 },
  })),
  { weight: 2, arbitrary: fc.tuple(role, content).map(([who, said]) => message(who, said)) },
  fc.constantFrom<unknown>(null, 3, "x", [], {}).map((body) => entry("message", { message: body })),
  fc.tuple(content, time).map(([said, at]) => ({ type: "message", message: user(said, at) })),
  { weight: 2, arbitrary: text.map((value) => name(value)) },
  fc.constantFrom<unknown>(null, undefined, 5, "Named").map((value) => name(value)),
  fc.constantFrom(
    header({ id: "second" }),
    entry("label", { targetId: "00000001", label: "l" }),
    { type: "custom", customType: "message", data: { role: "user" }, id: "c", parentId: null },
    entry("custom_message", { customType: "c", content: "not shown", display: true }),
  ),
);
const junk = fc.constantFrom("", " \r", "{", "null", "5", "[]", '"x"', "\0\0", '{"type":"message"');

/** The lines after the header, without newlines. */
export const arbitraryLines: fc.Arbitrary<string[]> = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: record.map((line) => JSON.stringify(line)) },
    { weight: 1, arbitrary: record.map((line) => `${JSON.stringify(line)}\r`) },
    { weight: 1, arbitrary: junk },
  ),
  { maxLength: 25 },
);
