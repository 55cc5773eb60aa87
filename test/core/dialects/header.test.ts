/** What counts as a header, and which form of entries it announces. */
import { describe, expect, it } from "vitest";
import {
  currentVersion,
  entryForm,
  readHeader,
} from "../../../packages/core/src/dialects/header.ts";

const header = { type: "session", id: "s", timestamp: "2026-01-02T03:04:05.678Z", cwd: "/a" };

describe("readHeader", () => {
  it("hands out the record as it is stored, unknown keys included", () => {
    const stored = { ...header, version: 3, metadata: { a: 1 }, cwd: 5 };
    const reading = readHeader(stored);
    expect(reading).toEqual({ kind: "header", header: stored, version: 3 });
    expect(reading.kind === "header" && (reading.header as object) === stored).toBe(true);
  });

  it("takes any string for an id, as pi does", () => {
    expect(readHeader({ ...header, id: "" }).kind).toBe("header");
  });

  it.each([
    [{}],
    [{ type: "session" }],
    [{ type: "session", id: 5 }],
    [{ type: "title", id: "s" }],
    [{ type: ["session"], id: "s" }],
  ])("does not take %j for a header", (value) => {
    expect(readHeader(value)).toEqual({ kind: "not-header" });
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

describe("entryForm", () => {
  it.each([
    [-1, 1],
    [0, 1],
    [1, 1],
    [2, 2],
    [2.5, 2],
    [3, 3],
    [4, 3],
  ])("of version %j is %j", (version, form) => {
    expect(entryForm(version)).toBe(form);
  });
});
