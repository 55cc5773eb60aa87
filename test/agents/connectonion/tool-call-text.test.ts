/** Calls of tools as one natural line. */
import { expect, it } from "vitest";
import { toolCallText } from "@branchlog/agents/connectonion";

const long = "A very long description of how to greet somebody who is new";

it.each([
  ["run", { command: "ls -la" }, "run(command='ls -la')"],
  [
    "write",
    { path: "hello.py", content: 'print("Hello, World!")' },
    "write(path='hello.py', content='print(\"Hello, World!\")')",
  ],
  [
    "greet",
    { style: long },
    "greet(style='A very long description of how to greet somebody w...')",
  ],
  ["f", { a: "x".repeat(50) }, `f(a='${"x".repeat(50)}')`],
  ["f", { a: "🌲".repeat(51) }, `f(a='${"🌲".repeat(50)}...')`],
  [
    "f",
    { a: 1, b: true, c: null, d: [1, "x", { y: false }] },
    "f(a=1, b=True, c=None, d=[1, 'x', {'y': False}])",
  ],
  ["f", { a: Array.from({ length: 99 }, () => 0) }, `f(a=[${"0, ".repeat(16)}0...)`],
  ["f", { a: "🌲".repeat(40) }, `f(a='${"🌲".repeat(40)}')`],
  ["f", { a: "🌲".repeat(50) }, `f(a='${"🌲".repeat(50)}')`],
  ["f", { a: undefined, b: [undefined] }, "f(a=None, b=[None])"],
  ["f", {}, "f()"],
  ["f", ['{"a":"b"}'], "f()"],
  ["f", '{"a":"b"}', "f(a='b')"],
  ["f", "{not json", "f()"],
  [undefined, [1], "()"],
])("%s of %j", (name, given, text) => {
  expect(toolCallText(name, given)).toBe(text);
});

it("ends on values of any depth", () => {
  let deep: unknown = 1;
  for (let level = 0; level < 100_000; level += 1) deep = [deep];
  expect(toolCallText("f", { deep })).toBe(`f(deep=${"[".repeat(50)}...)`);
});
