/** The short way through the usual form says nothing that the general way would not say. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EnvelopeReader } from "@branchlog/streaming";
import { readHead, readOpening } from "../../packages/streaming/src/envelope-form.ts";
import { readUsualForm } from "../../packages/streaming/src/usual-form.ts";

const usual =
  '{"type":"message","id":"a1b2c3d4","parentId":"00ff00ff",' +
  '"timestamp":"2026-11-21T20:28:20.131Z","message":{"role":"toolResult","content":[]}}';

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** What both ways find in a line that is behind `before`; null: not that form. */
function bothWays(before: string, text: string): { usual: object | null; general: object | null } {
  const bytes = Buffer.from(before + text, "latin1");
  const short = new EnvelopeReader();
  const long = new EnvelopeReader();
  const isUsual = readUsualForm(short, viewOf(bytes), before.length, bytes.length);
  const idStart = readOpening(long, viewOf(bytes), before.length, bytes.length);
  const isHead = idStart !== -1 && readHead(long, viewOf(bytes), idStart, bytes.length);
  return { usual: isUsual ? spansOf(short) : null, general: isHead ? spansOf(long) : null };
}

function spansOf(reader: EnvelopeReader): object {
  const { kind, typeStart, typeEnd, roleStart, roleEnd, customTypeStart } = reader;
  const { idStart, idEnd, parentStart, parentEnd, timestampStart, timestampEnd } = reader;
  const head = { kind, typeStart, typeEnd, roleStart, roleEnd, customTypeStart };
  return { ...head, idStart, idEnd, parentStart, parentEnd, timestampStart, timestampEnd };
}

describe("the usual form", () => {
  it("the usual form is what pi writes", () => {
    const { usual: found, general } = bothWays("xyz", usual);
    expect(found).not.toBeNull();
    expect(found).toEqual(general);
  });

  it("the usual form distinguishes the usual roles, and accepts others", () => {
    const numbers = ["assistant", "toolResult", "user", "bashExecution", "use"].map((role) => {
      const bytes = Buffer.from(usual.replace("toolResult", role));
      const reader = new EnvelopeReader();
      expect(reader.read(bytes, 0, bytes.length)).toBe(true);
      expect(bytes.toString("latin1", reader.roleStart, reader.roleEnd)).toBe(role);
      return reader.usualRole;
    });
    expect(numbers).toEqual([0, 1, 2, -1, -1]);
  });

  it("the usual form equals the general reader on every line that it accepts", () => {
    const edit = fc.record({
      at: fc.nat({ max: usual.length }),
      removed: fc.nat({ max: 3 }),
      inserted: fc.string({ unit: "binary-ascii", maxLength: 3 }),
    });
    let found = 0;
    fc.assert(
      fc.property(
        fc.array(edit, { maxLength: 3 }),
        fc.string({ maxLength: 5 }),
        (edits, before) => {
          let text = usual;
          for (const { at, removed, inserted } of edits) {
            text = text.slice(0, at) + inserted + text.slice(at + removed);
          }
          const ways = bothWays(before, text);
          if (ways.usual === null) return;
          found += 1;
          expect(ways.usual).toEqual(ways.general);
        },
      ),
      { numRuns: 3000 },
    );
    expect(found).toBeGreaterThan(100);
  });

  it("the usual form rejects every truncated line", () => {
    const role = usual.indexOf("toolResult") + "toolResult".length;
    for (let length = 0; length <= role; length += 1) {
      expect(bothWays("", usual.slice(0, length)).usual).toBeNull();
    }
  });

  it("the usual form requires plain bytes in ids and time", () => {
    for (const at of [24, 31, 46, 53, 69, 92]) {
      for (const char of ['"', "\\", "\n", "\x7f\x80"[1] ?? "", "\0"]) {
        const text = usual.slice(0, at) + char + usual.slice(at + 1);
        expect(bothWays("", text)).toEqual({ usual: null, general: null });
      }
    }
  });
});
