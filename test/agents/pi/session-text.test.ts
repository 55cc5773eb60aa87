/** The text of a session, read again on each call. */
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readSessionTextSync } from "../../../packages/agents/src/pi/session-text.ts";
import { arbitraryLines } from "../../library/catalog/arbitrary-session.ts";
import { assistant, header, jsonl, user, writeLines } from "../../library/catalog/session-lines.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

function textOf(lines: readonly (object | string)[]): string {
  return readSessionTextSync(writeLines(temporaryDirectory(), "s.jsonl", lines));
}

const blocks = (...texts: string[]): object[] => texts.map((text) => ({ type: "text", text }));

describe("the text of a session", () => {
  it("is the text of users and assistants, joined by spaces, in file order", () => {
    const lines = [user("one"), assistant(blocks("two", "three")), user(blocks("four"))];
    expect(textOf([header(), ...lines])).toBe("one two three four");
  });

  it("is empty for a file that is not a session", () => {
    expect(textOf([user("a"), header()])).toBe("");
    expect(textOf([])).toBe("");
  });

  it("is that of the file as it is now", () => {
    const path = writeLines(temporaryDirectory(), "s.jsonl", [header(), user("a")]);
    expect(readSessionTextSync(path)).toBe("a");
    appendFileSync(path, jsonl([user("b")]));
    expect(readSessionTextSync(path)).toBe("a b");
  });

  it("equals the text of a full parse, for every session", () => {
    const path = join(temporaryDirectory(), "s.jsonl");
    fc.assert(
      fc.property(arbitraryLines, (lines) => {
        writeFileSync(path, jsonl([header(), ...lines]));
        expect(readSessionTextSync(path)).toBe(lines.flatMap(spoken).join(" "));
      }),
      { numRuns: 300 },
    );
  });
});

/** The text of one line the plainest way, as a list of at most one. */
function spoken(line: string): string[] {
  try {
    // Random lines: a missing part anywhere throws and means that there is no text.
    const { type, message: said } = JSON.parse(line) as {
      type: string;
      message: { role: string; content: string | ({ type?: string; text?: unknown } | null)[] };
    };
    if (type !== "message" || !["user", "assistant"].includes(said.role)) return [];
    const { content } = said;
    const texts = typeof content === "string" ? [content] : content.map(textIn).filter(isString);
    const text = texts.join(" ");
    return text === "" ? [] : [text];
  } catch {
    return [];
  }
}

function textIn(block: { type?: string; text?: unknown } | null): unknown {
  return block?.type === "text" ? block.text : undefined;
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}
