/** The time of an assistant's message read from bytes, against the parsed one. */
import { scanLines } from "@branchlog/streaming";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { everyCase } from "../../support/law-time.ts";
import { arbitraryLines } from "./arbitrary-session.ts";
import { assistant, user } from "./session-lines.ts";

function timeOf(line: string): number {
  const bytes = Buffer.from(line);
  let found = -1;
  scanLines(bytes, 0, bytes.length, (rows) => {
    const isAnswer = rows.kinds[rows.kind[0] ?? -1]?.role === "assistant";
    if (rows.flags[0] !== 0 && isAnswer) found = rows.answerTimeMs(0);
  });
  return found;
}

const spoken = JSON.stringify(assistant([{ type: "text", text: "hi" }], 1749718821000));

describe("the time of an assistant's line", () => {
  it("is read from a line in pi's order", () => {
    expect(timeOf(spoken)).toBe(1749718821000);
    expect(timeOf(`${spoken}\r`)).toBe(1749718821000);
  });

  it.each([
    ["another role", JSON.stringify(user([], 1749718821000))],
    ["a key after the timestamp", spoken.replace("000}}", '000,"errorMessage":"x"}}')],
    ["no stopReason before it", spoken.replace('"stopReason":"stop",', "")],
    ["another key before it", spoken.replace("stopReason", "responseId")],
    ["a fraction", spoken.replace("1749718821000", "174971882100.5")],
    ["a negative number", spoken.replace("1749718821000", "-1749718821000")],
    ["an exponent", spoken.replace("1749718821000", "17e11")],
    ["a string", spoken.replace("1749718821000", '"2025"')],
    ["a leading zero", spoken.replace("1749718821000", "0749718821000")],
    ["more digits than are exact", spoken.replace("1749718821000", "1749718821000123456")],
    ["no content", spoken.replace(/"content":\[.*?\],/u, "")],
    ["content that is no list", spoken.replace(/"content":\[.*?\],/u, '"content":"hi",')],
    ["a space before the number", spoken.replace("1749718821000", " 1749718821000")],
  ])("is left to the parser with %s", (_what, line) => {
    expect(line).not.toBe(spoken);
    expect(timeOf(line)).toBe(-1);
  });

  it("is that of the parsed message wherever it is read, for every line", () => {
    let read = 0;
    fc.assert(
      fc.property(arbitraryLines, (lines) => {
        for (const line of lines) {
          const found = timeOf(line);
          if (found < 0) continue;
          read += 1;
          // Only lines that were written by JSON.stringify as messages get here.
          const parsed = JSON.parse(line) as { message: Record<string, unknown> };
          expect(parsed.message).toMatchObject({ role: "assistant", timestamp: found });
          expect(parsed.message).toHaveProperty("content");
        }
      }),
      { numRuns: 1000, ...everyCase },
    );
    expect(read).toBeGreaterThan(20);
  });
});
