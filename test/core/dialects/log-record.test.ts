/** What records of a log are, and which form of entries a header announces. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeLine } from "@branchlog/streaming";
import type { JsonObject } from "@branchlog/streaming";
import { headerOf, isLinked, readRecord } from "../../../packages/core/src/dialects/log-record.ts";
import {
  currentVersion,
  entryForm,
  readHeader,
} from "../../../packages/core/src/dialects/header.ts";

describe("a record of a log", () => {
  it("has the type and id of an entry, and the version of a header", () => {
    expect(readRecord({ type: "x", id: "a" }, 3)).toEqual({ kind: "entry", type: "x", id: "a" });
    expect(readRecord({ type: "x", id: "a" }, 1)).toEqual({ kind: "entry", type: "x", id: "a" });
    expect(readRecord({ type: "x" }, 1)).toEqual({ kind: "entry", type: "x", id: null });
    const header: JsonObject = { type: "session", id: "s", version: 2 };
    expect(readRecord(header, 3)).toEqual({ kind: "header", header, version: 2 });
  });

  it("is linked if it has an id and a parent or null", () => {
    expect(isLinked({ id: "a", parentId: null })).toBe(true);
    expect(isLinked({ id: "a", parentId: "b" })).toBe(true);
    for (const value of [{ id: "a" }, { parentId: null }, { id: "a", parentId: 1 }]) {
      expect(isLinked(value)).toBe(false);
    }
  });

  it("is a header for a line exactly when it is one for its object", () => {
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

const header = { type: "session", id: "s", timestamp: "2026-01-02T03:04:05.678Z", cwd: "/a" };

describe("readHeader", () => {
  it("returns the record as stored, unknown keys included", () => {
    const stored = { ...header, version: 3, metadata: { a: 1 }, cwd: 5 };
    const reading = readHeader(stored);
    expect(reading).toEqual({ kind: "header", header: stored, version: 3 });
    expect(reading.kind === "header" && (reading.header as object) === stored).toBe(true);
  });

  it("accepts any string as an id, as pi does", () => {
    expect(readHeader({ ...header, id: "" }).kind).toBe("header");
  });

  it.each([
    [undefined, 1],
    [null, 1],
    [1, 1],
    [2, 2],
    ["2", 2],
    [3, 3],
    [4, 4],
    [99.5, 99.5],
    ["soon", currentVersion],
    [{}, currentVersion],
    [true, currentVersion],
  ])("reads the version %j as %j", (version, expected) => {
    const stored = version === undefined ? header : { ...header, version };
    expect(readHeader(stored)).toMatchObject({ version: expected });
  });
});

it.each([
  [-1, 1],
  [0, 1],
  [1, 1],
  [2, 2],
  [2.5, 2],
  [3, 3],
  [4, 3],
])("entryForm of version %j is %j", (version, form) => {
  expect(entryForm(version)).toBe(form);
});
