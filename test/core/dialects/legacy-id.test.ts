/** The ids of v1 entries: fixed, and a bijection of line numbers. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { legacyEntryId } from "../../../packages/core/src/dialects/migrate-line.ts";

describe("legacyEntryId", () => {
  // Golden: labels, forks and migrated files refer to these. A change breaks the files of users.
  it.each([
    ["", 0, "583e5ba0"],
    ["", 1, "3cb1ae63"],
    ["01a1ffcb-0000-7000-8000-000000000000", 1, "12179e4e"],
    ["01a1ffcb-0000-7000-8000-000000000000", 2, "b3888d55"],
    ["01a1ffcb-0000-7000-8000-000000000000", 3, "a57ae880"],
    ["01a1ffcb-0000-7000-8000-000000000000", 65_536, "081b3125"],
    ["01a1ffcb-0000-7000-8000-000000000000", 4_294_967_295, "fd909b7f"],
    ["7f3b9e1a-6f0c-4c8e-9d2b-1c5a0e4b7d96", 2, "18f196c0"],
    ["sitzung-ä-😀", 2, "5f3b5226"],
  ])("maps session %j and line %j to the id %j", (s, n, id) => {
    expect(legacyEntryId(s, n)).toBe(id);
  });

  it("maps different line numbers to different ids, for any session", () => {
    const uint32 = fc.integer({ min: 0, max: 0xffff_ffff });
    const session = fc.string({ unit: "binary" });
    fc.assert(
      fc.property(session, fc.uniqueArray(uint32, { maxLength: 50 }), (headerId, lines) => {
        const ids = lines.map((line) => legacyEntryId(headerId, line));
        expect(new Set(ids).size).toBe(lines.length);
        for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}$/);
      }),
    );
  });

  it("depends on every character of the session id", () => {
    const ids = ["", "a", "b", "ab", "ba", "\u0061\u0300", "\u0000", "\u0100", "\ud800"];
    expect(new Set(ids.map((id) => legacyEntryId(id, 2))).size).toBe(ids.length);
  });

  it.each([[-1], [1.5], [2 ** 32], [Number.NaN]])("rejects the line number %j", (line) => {
    expect(() => legacyEntryId("s", line)).toThrow(
      expect.objectContaining({ code: "ERR_INVALID_ARGUMENT" }),
    );
  });
});
