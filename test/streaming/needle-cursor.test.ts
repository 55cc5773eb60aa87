/** The remembering search: the answers of a plain one, at the cost of one pass. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NeedleCursor } from "../../packages/streaming/src/needle-cursor.ts";
import { countingBuffer } from "./support/counting-buffer.ts";

const needle = '"parentId":';

describe("NeedleCursor", () => {
  it("NeedleCursor equals indexOf at ascending, equal and descending positions", () => {
    const part = fc.constantFrom(needle, '"parentId"', "Id", 'Id":', "I", "xyz", "\n", "IIIIIIII");
    const parts = fc.array(part, { maxLength: 20 });
    fc.assert(
      fc.property(parts, fc.array(fc.nat(150), { maxLength: 12 }), (texts, positions) => {
        const buffer = Buffer.from(texts.join(""));
        for (const cursor of [new NeedleCursor(needle, 7), new NeedleCursor(needle)]) {
          for (const position of positions) {
            const from = Math.min(position, buffer.length);
            const found = buffer.indexOf(needle, from);
            expect(cursor.next(buffer, from)).toBe(found === -1 ? buffer.length : found);
          }
        }
      }),
      { numRuns: 1000 },
    );
  });

  it("NeedleCursor starts anew with another buffer", () => {
    const cursor = new NeedleCursor("b");
    expect(cursor.next(Buffer.from("aab"), 0)).toBe(2);
    expect(cursor.next(Buffer.from("b"), 0)).toBe(0);
    expect(cursor.next(Buffer.from("aaaa"), 0)).toBe(4);
  });

  it.each([
    ["no hit", "x".repeat(9) + "\n"],
    ["one hit per line", `${needle}\n`],
    ["many near misses", 'IIdI"Id:"d":I\n'],
  ])("looks at each byte about once, line after line: %s", (_, line) => {
    const lines = 2000;
    const { buffer, looked } = countingBuffer(line.repeat(lines));
    const cursor = new NeedleCursor(needle, 7);
    for (let start = 0; start < buffer.length; start += line.length) {
      const hit = cursor.next(buffer, start);
      if (hit < start + line.length) cursor.next(buffer, hit + 1);
    }
    expect(looked()).toBeLessThanOrEqual(2 * buffer.length);
  });
});
