import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AnyEntry } from "@branchlog/core/entries";
import { gistOf } from "../../../packages/cli/src/text/entry-lines.ts";
import { messageText } from "../../../packages/cli/src/text/message-text.ts";
import { jsonStart } from "../../../packages/cli/src/text/stored-field.ts";
import { plainStyle } from "../../../packages/cli/src/style.ts";

function message(body: unknown): AnyEntry {
  return { type: "message", id: "a", parentId: null, timestamp: "", message: body };
}

describe("the gist of an entry", () => {
  it.each([
    [{ role: "user", content: "a\n b" }, "user", "a b"],
    [
      {
        role: "user",
        content: [
          { type: "text", text: "x" },
          { type: "text", text: "y" },
        ],
      },
      "user",
      "x y",
    ],
    [
      { role: "user", content: [{ type: "image", data: "", mimeType: "image/png" }] },
      "user",
      "(image image/png)",
    ],
    [
      {
        role: "assistant",
        content: [{ type: "toolCall", name: "read", arguments: { path: "a" } }],
      },
      "assistant",
      '→ read {"path":"a"}',
    ],
    [{ role: "assistant", content: [], errorMessage: "overloaded" }, "assistant", "overloaded"],
    [
      { role: "toolResult", toolName: "bash", isError: true, content: "no" },
      "tool result",
      "bash failed: no",
    ],
    [{ role: "bashExecution", command: "ls -l" }, "shell", "$ ls -l"],
    [{ role: "custom", customType: "todo", content: "one" }, "todo", "one"],
    [null, "message", "(malformed)"],
    [{ role: "user", content: { odd: 1 } }, "user", ""],
  ])("with the message %j is %s: %s", (body, kind, text) => {
    expect(gistOf(message(body), 60)).toEqual({ kind, text });
  });

  it.each([
    [{ type: "model_change", provider: "a", modelId: "b" }, "model", "a/b"],
    [{ type: "model_change", model: "a/b", role: "default" }, "model", "a/b"],
    [{ type: "model_change", model: "a/b", role: "smol" }, "model", "a/b for smol"],
    [{ type: "thinking_level_change", thinkingLevel: null }, "thinking", "off"],
    [{ type: "title_change", title: "t" }, "name", "t"],
    [{ type: "reset_boundary" }, "reset_boundary", ""],
  ])("that is %j is %s: %s", (fields, kind, text) => {
    const entry: AnyEntry = { id: "a", parentId: null, timestamp: "", ...fields };
    expect(gistOf(entry, 60)).toEqual({ kind, text });
  });

  it("the gist of any entry fits its line", () => {
    const types = fc.constantFrom("message", "custom", "label", "usage", "compaction", "odd");
    fc.assert(
      fc.property(
        types,
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.jsonValue(),
        (type, fields, body) => {
          const entry = { ...fields, type, id: "a", parentId: null, timestamp: "", message: body };
          const gist = gistOf(entry, 40);
          expect(gist.text.length).toBeLessThanOrEqual(40);
          expect(`${gist.kind}${gist.text}`).not.toMatch(/\p{Cc}/u);
        },
      ),
    );
  });
});

describe("a message as text", () => {
  it("a message of any content ends its lines and never throws", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.boolean(), (value, isFull) => {
        const text = messageText(value, { style: plainStyle, isFull });
        expect(text.endsWith("\n")).toBe(true);
        expect(text).not.toMatch(/[^\P{Cc}\n\t]/u);
      }),
    );
  });

  it("is shortened, or not", () => {
    const lines = Array.from({ length: 40 }, (_, i) => `line ${i}`).join("\n");
    const long = { role: "user", content: lines, timestamp: 0 };
    const short = messageText(long, { style: plainStyle, isFull: false });
    expect(short).toContain("line 11 … 28 more lines\n");
    expect(short).not.toContain("line 12");
    expect(messageText(long, { style: plainStyle, isFull: true })).toContain("  line 39\n");
  });
});

describe("the start of a value's JSON", () => {
  it("the start of a short value's JSON is the whole JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(jsonStart(value, Number.POSITIVE_INFINITY)).toBe(JSON.stringify(value));
      }),
    );
  });

  it("costs no more than its length, however deep and wide the value is", () => {
    let deep: unknown = 1;
    for (let i = 0; i < 1_000_000; i += 1) deep = [deep];
    expect(jsonStart(deep, 100).length).toBeLessThan(220);
    expect(jsonStart({ text: "x".repeat(10_000_000) }, 100).length).toBeLessThan(220);
  });
});
