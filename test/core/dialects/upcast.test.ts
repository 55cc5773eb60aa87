/** Upcasting record by record, against pi's migration of a whole file as an oracle. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "@branchlog/streaming";
import {
  type UpcastContext,
  upcastEntry,
  upcastHeader,
} from "../../../packages/core/src/dialects/header.ts";
import { migrateAsPi } from "./pi-migration.ts";

const context = (version: 1 | 2 | 3, ids: readonly (string | null)[] = []): UpcastContext => ({
  version,
  id: "own",
  parentId: "before",
  idAtFileIndex: (i) => ids[i],
});

describe("upcastEntry of v1", () => {
  it("adds the ids of the index at the end", () => {
    const stored = { type: "message", timestamp: "t", message: { role: "user" } };
    expect(JSON.stringify(upcastEntry(stored, context(1)))).toBe(
      '{"type":"message","timestamp":"t","message":{"role":"user"},"id":"own","parentId":"before"}',
    );
  });

  it("overwrites ids that are there, in their places", () => {
    const stored = { id: "x", type: "label", parentId: "y", targetId: "z" };
    expect(JSON.stringify(upcastEntry(stored, context(1)))).toBe(
      '{"id":"own","type":"label","parentId":"before","targetId":"z"}',
    );
  });

  const compaction = (index: unknown): JsonObject =>
    ({ type: "compaction", firstKeptEntryIndex: index, tokensBefore: 9 }) as JsonObject;
  const compacted = '{"type":"compaction","tokensBefore":9,"id":"own","parentId":"before"';

  it("names the entry at the index of a compaction", () => {
    const ids = ["", "one", "two"];
    expect(JSON.stringify(upcastEntry(compaction(2), context(1, ids)))).toBe(
      `${compacted},"firstKeptEntryId":"two"}`,
    );
  });

  it.each([[0], [5], [-1], [1.5], [1e300]])("names none for the index %j", (index) => {
    const sparse = { ...context(1), idAtFileIndex: (i: number) => (i === 1 ? "one" : undefined) };
    expect(JSON.stringify(upcastEntry(compaction(index), sparse))).toBe(`${compacted}}`);
  });

  it("names none, not even its own, for an index that names a later entry, as pi does", () => {
    const both = { firstKeptEntryId: "x", ...compaction(2) };
    const ids = ["", "one", null];
    expect(JSON.stringify(upcastEntry(both, context(1, ids)))).toBe(`${compacted}}`);
    expect(JSON.stringify(upcastEntry(both, context(1)))).toBe(
      `{"firstKeptEntryId":"x",${compacted.slice(1)}}`,
    );
    expect(upcastEntry({ ...both, firstKeptEntryIndex: 1 }, context(1, ids))).toMatchObject({
      firstKeptEntryId: "one",
    });
  });

  it("leaves an index alone that is no number, or not of a compaction", () => {
    const odd = upcastEntry(compaction("2"), context(1, ["", "", "two"]));
    expect(odd).toMatchObject({ firstKeptEntryIndex: "2" });
    expect(odd).not.toHaveProperty("firstKeptEntryId");
    const other = upcastEntry({ type: "custom", firstKeptEntryIndex: 1 }, context(1, ["", "one"]));
    expect(other).toMatchObject({ firstKeptEntryIndex: 1 });
  });
});

describe("upcastEntry of v1 and v2", () => {
  const hook = { type: "message", id: "i", message: { content: "c", role: "hookMessage", z: 1 } };

  it.each([1, 2] as const)("of v%j renames hookMessage, in its place", (version) => {
    expect(JSON.stringify(upcastEntry(hook, context(version))["message"])).toBe(
      '{"content":"c","role":"custom","z":1}',
    );
    expect(hook.message.role).toBe("hookMessage");
  });

  it("renames it nowhere else", () => {
    const values: JsonObject[] = [
      { type: "custom", message: { role: "hookMessage" } },
      { type: "message", message: null },
      { type: "message", message: ["hookMessage"] },
      { type: "message", message: { role: "user", inner: { role: "hookMessage" } } },
      { type: "message", role: "hookMessage" },
    ];
    for (const value of values) expect(upcastEntry(value, context(2))).toBe(value);
  });

  it("keeps __proto__ a key like any other", () => {
    const stored = JSON.parse('{"type":"x","__proto__":{"a":1}}') as JsonObject;
    expect(JSON.stringify(upcastEntry(stored, context(1)))).toBe(
      '{"type":"x","__proto__":{"a":1},"id":"own","parentId":"before"}',
    );
  });
});

describe("upcastHeader", () => {
  it("adds or replaces the version", () => {
    const header = { type: "session", id: "s" };
    expect(JSON.stringify(upcastHeader(header, 1))).toBe('{"type":"session","id":"s","version":3}');
    expect(JSON.stringify(upcastHeader({ ...header, version: 2, cwd: "/" }, 2))).toBe(
      '{"type":"session","id":"s","version":3,"cwd":"/"}',
    );
    const newer = { ...header, version: 4 };
    expect(upcastHeader(newer, 3)).toBe(newer);
  });
});

describe("upcasting, by law", () => {
  const json = fc.jsonValue() as fc.Arbitrary<JsonObject[string]>;
  const role = fc.constantFrom("user", "hookMessage", "custom");
  const entry: fc.Arbitrary<JsonObject> = fc.oneof(
    fc.record({ type: fc.constant("message"), message: fc.record({ role, content: json }) }),
    fc.record({ type: fc.constant("message"), message: json }),
    fc.record({ type: fc.constant("compaction"), firstKeptEntryIndex: fc.integer({ min: -2 }) }),
    fc.record(
      {
        type: fc.constant("compaction"),
        firstKeptEntryId: fc.constant("x"),
        firstKeptEntryIndex: fc.nat({ max: 12 }),
      },
      { requiredKeys: ["type", "firstKeptEntryIndex"] },
    ),
    fc.record({ type: fc.constant("custom"), data: json }),
  );

  it("gives, entry by entry, what pi's migration gives for the file", () => {
    fc.assert(
      fc.property(fc.array(entry), fc.constantFrom(1, 2, 3), (entries, version) => {
        const header: JsonObject = { type: "session", id: "s", ...(version > 1 && { version }) };
        const ids = entries.map((_, at) => `id${at}`);
        const upcast = entries.map((value, at) =>
          upcastEntry(value, {
            version,
            id: `id${at}`,
            parentId: at === 0 ? null : `id${at - 1}`,
            idAtFileIndex: (i) => (i > at + 1 && i <= ids.length ? null : ids[i - 1]),
          }),
        );
        const all = [upcastHeader(header, version), ...upcast];
        expect(JSON.stringify(all)).toBe(JSON.stringify(migrateAsPi([header, ...entries], ids)));
      }),
      { numRuns: 500 },
    );
  });

  it("changes no input, and nothing at all in version 3", () => {
    fc.assert(
      fc.property(entry, fc.constantFrom(1, 2, 3), (value, version) => {
        const before = JSON.stringify(value);
        const once = upcastEntry(value, context(version, ["", "one"]));
        expect(JSON.stringify(value)).toBe(before);
        expect(upcastEntry(once, context(3))).toBe(once);
        if (version < 3) expect(upcastEntry(once, context(2))).toBe(once);
      }),
    );
  });
});
