/** The records of a migrated file are those that pi makes of the same file, and no byte more. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "@branchlog/streaming";
import { MemoryFileSystem, createMemoryPorts } from "@branchlog/core/testing";
import { Engine } from "@branchlog/core/engine";
import { appendSync } from "../../support/engine-appends.ts";
import { migrateAsPi } from "../dialects/pi-migration.ts";

const path = "/s.jsonl";
const timestamp = "2025-01-01T00:00:00.000Z";

/** Appends to a log of these bytes; the lines of the new log without the appended one, and its ids. */
function migrated(text: string): { readonly lines: string[]; readonly ids: string[] } {
  const fs = new MemoryFileSystem();
  fs.writeFileSync(path, Buffer.from(text));
  const engine = Engine.openSync(path, { ports: createMemoryPorts({ fs }) });
  appendSync(engine, [{ draft: { type: "custom", customType: "new" } }]);
  const ids = Array.from({ length: engine.index.count - 1 }, (_, row) => engine.index.idOf(row));
  const lines = fs.readFileSync(path).toString().split("\n");
  expect(lines.splice(-2)).toEqual([expect.stringContaining('"customType":"new"'), ""]);
  return { lines, ids };
}

describe("a second session record in an old file", () => {
  const entry = `{"type":"message","timestamp":"${timestamp}","message":{"role":"user"}}`;

  it.each([
    ["is behind the header", 1],
    ["is between entries", 2],
    ["is the last line", 3],
  ])("gets the new version, like the header, when it %s", (_, at) => {
    const header = '{"type":"session","id":"s"}';
    const second = ' {"type":"session","id":"t" , "n":1.0,"version":1} \r';
    const text = [header, entry, entry].toSpliced(at, 0, second).join("\n");
    for (const end of ["", "\n", "\n{torn\n"]) {
      const { lines } = migrated(`${text}${end}`);
      expect(lines[0]).toBe('{"type":"session","id":"s","version":3}');
      expect(lines[at]).toBe(second.replace('"version":1', '"version":3'));
    }
  });

  it("is not changed in a file of the current version", () => {
    const header = '{"type":"session","version":3,"id":"s"}';
    const second = '{"type":"session","version":2,"id":"t"}';
    expect(migrated(`${header}\n${second}\n`).lines).toEqual([header, second]);
  });

  it("is not changed when it is not a record, or too long to inspect", () => {
    const header = '{"type":"session","id":"s"}';
    const others = ['{"type":"session"', '["session"]', '{"type":"custom","data":"session"'];
    const long = `{"type":"session","x":"${"x".repeat(17 * 1024 * 1024)}"}`;
    const { lines } = migrated([header, ...others, long, entry, ""].join("\n"));
    expect(lines.slice(1, 4)).toEqual(others);
    expect(lines[4] === long).toBe(true);
    expect(lines[5]).toMatch(/"parentId":null\}$/u);
  });
});

describe("migrating any old file, by law", () => {
  const role = fc.constantFrom("user", "hookMessage", "assistant");
  const record: fc.Arbitrary<JsonObject> = fc.oneof(
    fc.record({ type: fc.constant("message"), message: fc.record({ role }) }),
    fc.record(
      {
        type: fc.constant("compaction"),
        firstKeptEntryId: fc.constant("own"),
        firstKeptEntryIndex: fc.nat(9),
      },
      { requiredKeys: ["type", "firstKeptEntryIndex"] },
    ),
    fc.record({ type: fc.constant("custom"), customType: fc.string(), data: fc.nat() }),
    fc.record({ type: fc.constant("session"), id: fc.string(), version: fc.nat(4) }),
    fc.record({ type: fc.constant("session"), cwd: fc.string() }),
  );
  const noise = fc.constantFrom("", " \r", "{", "\0\0", '{"type":"session"');
  const lines = fc.array(fc.oneof({ weight: 4, arbitrary: record }, noise), { maxLength: 10 });

  it("equals pi's migration, and keeps lines that are not records", () => {
    fc.assert(
      fc.property(lines, fc.constantFrom(1, 2), fc.boolean(), (others, version, isEnded) => {
        const header = { type: "session", id: "s", ...(version > 1 && { version }) };
        let previous: string | null = null;
        const stored = others.map((line, at) => {
          if (typeof line === "string" || line["type"] === "session" || version === 1) return line;
          const linked = { id: `e${at}`, parentId: previous, ...line };
          previous = `e${at}`;
          return linked;
        });
        const texts = [header, ...stored].map((line) =>
          typeof line === "string" ? line : JSON.stringify(line),
        );
        const result = migrated(`${texts.join("\n")}${isEnded ? "\n" : ""}`);
        const records = [header, ...stored].filter((line) => typeof line !== "string");
        const expected = migrateAsPi(records, result.ids);
        let at = 0;
        const all = [header, ...stored].map((line) =>
          typeof line === "string" ? line : JSON.stringify(expected[at++]),
        );
        // A blank end without a newline is fenced like any other.
        expect(result.lines.join("\n").trimEnd()).toBe(all.join("\n").trimEnd());
      }),
      { numRuns: 400 },
    );
  });
});
