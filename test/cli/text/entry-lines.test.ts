import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AnyEntry } from "@branchlog/core/entries";
import { gistOf } from "../../../packages/cli/src/text/entry-lines.ts";
import { messageText } from "../../../packages/cli/src/text/message-text.ts";
import { jsonStart } from "../../../packages/cli/src/text/stored-field.ts";
import { plainStyle } from "../../../packages/cli/src/style.ts";
import { expectAnswers } from "../../support/answers.ts";

describe("the summary line of an entry", () => {
  it("is its kind and the start of its text", async () => {
    await expectAnswers(new URL("gists.txt", import.meta.url), (line) => {
      const { kind, text } = gistOf(JSON.parse(line) as AnyEntry, 60);
      return JSON.stringify([kind, text]);
    });
  });

  it("the summary of any entry fits its line", () => {
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
