/** The time of an assistant's message read from bytes, against the parsed one. */
import { EnvelopeReader } from "@branchlog/streaming";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assistantTimeMs } from "../../../packages/core/src/catalog/session-scan.ts";
import { arbitraryLines } from "./arbitrary-session.ts";
import { assistant, user } from "./session-lines.ts";

function timeOf(line: string): number {
  const bytes = Buffer.from(line);
  const envelope = new EnvelopeReader();
  const isTrusted = envelope.read(bytes, 0, bytes.length);
  return isTrusted ? assistantTimeMs(envelope, bytes, bytes.length) : Number.NaN;
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
    expect(timeOf(line)).toBeNaN();
  });

  it("is that of the parsed message wherever it is read, for every line", () => {
    let read = 0;
    fc.assert(
      fc.property(arbitraryLines, (lines) => {
        for (const line of lines) {
          const found = timeOf(line);
          if (Number.isNaN(found)) continue;
          read += 1;
          // Only lines that were written by JSON.stringify as messages get here.
          const parsed = JSON.parse(line) as { message: Record<string, unknown> };
          expect(parsed.message).toMatchObject({ role: "assistant", timestamp: found });
          expect(parsed.message).toHaveProperty("content");
        }
      }),
      { numRuns: 1000 },
    );
    expect(read).toBeGreaterThan(20);
  });
});
