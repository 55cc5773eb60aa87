/** What records of a log are. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeLine } from "@branchlog/streaming";
import type { JsonObject } from "@branchlog/streaming";
import { headerOf, isLinked, readRecord } from "../../../packages/core/src/dialects/log-record.ts";

describe("a record of a log", () => {
  it.each<[JsonObject, string, string]>([
    [{ type: "session", id: "s" }, "header", "header"],
    [{ type: "session", id: 1 }, "bad-header", "bad-header"],
    [{ type: "session" }, "bad-header", "bad-header"],
    [{ type: "message", id: "a", parentId: null }, "entry", "entry"],
    [{ type: "message", id: "" }, "entry", "entry"],
    [{ type: "message", id: 1 }, "other", "entry"],
    [{ type: "message" }, "other", "entry"],
    [{ type: "title", title: "x" }, "title-slot", "entry"],
    [{ type: "title", id: "a" }, "entry", "entry"],
    [{ type: 1, id: "a" }, "other", "other"],
    [{ id: "a" }, "other", "other"],
    [{}, "other", "other"],
  ])("%j is: %s; under a header of version 1: %s", (value, kind, kindOfLegacy) => {
    expect(readRecord(value, 3).kind).toBe(kind);
    expect(readRecord(value, 2).kind).toBe(kind);
    expect(readRecord(value, 1).kind).toBe(kindOfLegacy);
  });

  it("says of an entry its type and id, of a header its version", () => {
    expect(readRecord({ type: "x", id: "a" }, 3)).toEqual({ kind: "entry", type: "x", id: "a" });
    expect(readRecord({ type: "x", id: "a" }, 1)).toEqual({ kind: "entry", type: "x", id: "a" });
    expect(readRecord({ type: "x" }, 1)).toEqual({ kind: "entry", type: "x", id: null });
    const header: JsonObject = { type: "session", id: "s", version: 2 };
    expect(readRecord(header, 3)).toEqual({ kind: "header", header, version: 2 });
  });

  it("is linked if it names itself and its parent, or that it has none", () => {
    expect(isLinked({ id: "a", parentId: null })).toBe(true);
    expect(isLinked({ id: "a", parentId: "b" })).toBe(true);
    for (const value of [{ id: "a" }, { parentId: null }, { id: "a", parentId: 1 }]) {
      expect(isLinked(value)).toBe(false);
    }
  });

  it("is a header for a line exactly if it is one for its object", () => {
    const fields = fc.record(
      {
        type: fc.constantFrom("session", "message", 1),
        id: fc.oneof(fc.string(), fc.integer()),
        version: fc.oneof(fc.integer(), fc.string(), fc.constant(null)),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fields, (value) => {
        const line = decodeLine(Buffer.from(JSON.stringify(value)));
        const record = readRecord(JSON.parse(JSON.stringify(value)) as JsonObject, 3);
        expect(headerOf(line)).toEqual(record.kind === "header" ? record : undefined);
      }),
    );
    expect(headerOf(decodeLine(Buffer.from("torn")))).toBeUndefined();
  });
});
