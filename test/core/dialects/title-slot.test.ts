/** The title slot of omp: 256 bytes, whatever the title is. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  encodeTitleSlot,
  readTitleSlot,
  slotLength,
  titleSlotBytes,
} from "../../../packages/core/src/dialects/title-slot.ts";
import type { TitleSlot } from "../../../packages/core/src/dialects/title-slot.ts";

const updatedAt = "2026-09-01T10:00:00.000Z";

function padded(text: string): Buffer {
  return Buffer.from(`${text.slice(0, -1)}${" ".repeat(titleSlotBytes - text.length - 1)}}\n`);
}

describe("a title slot", () => {
  it("is the record that omp writes", () => {
    const slot = encodeTitleSlot({ title: "Mending", source: "auto", updatedAt });
    const text = `{"type":"title","v":1,"title":"Mending","source":"auto","updatedAt":"${updatedAt}","pad":"`;
    expect(slot.toString()).toBe(`${text.padEnd(titleSlotBytes - 3)}"}\n`);
  });

  it("has 256 bytes and as much of any title as fits, in complete characters", () => {
    const anyTitle = fc.string({ unit: "binary", maxLength: 400 });
    const anySource = fc.constantFrom("auto", "user", undefined);
    fc.assert(
      fc.property(anyTitle, anySource, (title, source) => {
        const slot: TitleSlot =
          source === undefined ? { title, updatedAt } : { title, source, updatedAt };
        const bytes = encodeTitleSlot(slot);
        expect(bytes).toHaveLength(titleSlotBytes);
        expect(bytes.indexOf(0x0a)).toBe(titleSlotBytes - 1);
        expect(slotLength(bytes)).toBe(titleSlotBytes);
        const read = readTitleSlot(bytes);
        const stored = read?.title ?? "";
        expect(read).toEqual({ ...slot, title: stored });
        expect(title.startsWith(stored)).toBe(true);
        const next = Array.from(title).at(Array.from(stored).length);
        if (next === undefined) return;
        const longer = JSON.stringify({
          ...JSON.parse(bytes.toString()),
          title: stored + next,
          pad: "",
        });
        expect(Buffer.byteLength(longer)).toBeGreaterThanOrEqual(titleSlotBytes);
      }),
    );
  });

  it("rejects a date that leaves no space", () => {
    const late = "9".repeat(250);
    expect(() => encodeTitleSlot({ title: "", updatedAt: late })).toThrow(RangeError);
  });

  it.each([
    ["a header", `{"type":"session","version":3,"id":"a"}\n`.padEnd(300, "x")],
    [
      "a record of another version",
      padded(`{"type":"title","v":2,"title":"a","updatedAt":"","pad":""}`),
    ],
    ["one without a pad", padded(`{"type":"title","v":1,"title":"a","updatedAt":""}`)],
    [
      "one of an unknown source",
      padded(`{"type":"title","v":1,"title":"","source":"x","updatedAt":"","pad":""}`),
    ],
    [
      "one whose title is not a string",
      padded(`{"type":"title","v":1,"title":1,"updatedAt":"","pad":""}`),
    ],
    [
      "a shorter line",
      `{"type":"title","v":1,"title":"a","updatedAt":"","pad":""}\n`.padEnd(300, "x"),
    ],
    ["a torn one", `{"type":"title","v":1,"ti`.padEnd(255, "x") + "\n"],
    ["nothing", ""],
  ])("is not %s", (_name, bytes) => {
    expect(readTitleSlot(Buffer.from(bytes))).toBeUndefined();
  });

  it("is recognised by its form, for any title", () => {
    const slot = encodeTitleSlot({ title: "a", updatedAt });
    const other = encodeTitleSlot({ title: "b".repeat(500), updatedAt });
    expect([slotLength(slot), slotLength(other)]).toEqual([titleSlotBytes, titleSlotBytes]);
    expect(slotLength(slot.subarray(0, 200))).toBe(0);
    expect(slotLength(Buffer.from(`{"type":"session"}\n`.padEnd(256)))).toBe(0);
  });
});
