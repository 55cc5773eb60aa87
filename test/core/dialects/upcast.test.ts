/** Upcasting record by record, against pi's migration of a whole file as an oracle. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "@branchlog/streaming";
import { type UpcastContext, upcastEntry } from "../../../packages/core/src/dialects/header.ts";
import { migrateAsPi } from "./pi-migration.ts";

const context = (version: 1 | 2 | 3, ids: readonly (string | null)[] = []): UpcastContext => ({
  version,
  id: "own",
  parentId: "before",
  idAtFileIndex: (i) => ids[i],
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

  it("equals pi's migration of the file, entry by entry", () => {
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
        const all = [{ ...header, version: 3 }, ...upcast];
        expect(JSON.stringify(all)).toBe(JSON.stringify(migrateAsPi([header, ...entries], ids)));
      }),
      { numRuns: 500 },
    );
  });

  it("does not change its input, or anything in version 3", () => {
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
