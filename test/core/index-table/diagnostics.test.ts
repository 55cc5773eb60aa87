/** The list of findings: bounded for each kind, in the order found, with exact counts. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { DiagnosticKind } from "@branchlog/core/types";
import { DiagnosticLog } from "../../../packages/core/src/index-table/diagnostics.ts";
import { LogIndexer } from "../../../packages/core/src/index-table/log-indexer.ts";
import { diagnosticsMax } from "../../../packages/core/src/limits.ts";

const kinds = ["bad-line", "duplicate-id", "cycle"] as const satisfies readonly DiagnosticKind[];

describe("the list of findings", () => {
  it("shows one of a kind behind ten thousand of another", () => {
    const log = new DiagnosticLog();
    for (let line = 1; line <= 10_000; line += 1) {
      log.add({ kind: "bad-line", reason: "not-json", line });
    }
    log.add({ kind: "duplicate-id", reason: "", id: "a" });
    expect(log.entries).toHaveLength(diagnosticsMax + 1);
    expect(log.entries.at(-1)).toMatchObject({ kind: "duplicate-id", id: "a" });
    expect([log.count("bad-line"), log.count("duplicate-id")]).toEqual([10_000, 1]);
    expect(log.count("cycle")).toBe(0);
  });

  it("holds the first of each kind, in the order found, and never forgets or moves one", () => {
    const run = fc.tuple(fc.constantFrom(...kinds), fc.integer({ min: 1, max: 1500 }));
    fc.assert(
      fc.property(fc.array(run, { maxLength: 8 }), (runs) => {
        const log = new DiagnosticLog();
        const all = runs.flatMap(([kind, count]) => Array.from({ length: count }, () => kind));
        for (const [offset, kind] of all.entries()) log.add({ kind, reason: "", offset });
        const left = new Map<DiagnosticKind, number>();
        const expected = [...all.entries()].filter(([, kind]) => {
          const found = left.get(kind) ?? 0;
          left.set(kind, found + 1);
          return found < diagnosticsMax;
        });
        expect(log.entries.map(({ kind, offset }) => [offset, kind])).toEqual(expected);
        for (const kind of kinds) expect(log.count(kind)).toBe(left.get(kind) ?? 0);
      }),
      { numRuns: 40 },
    );
  });

  it("is what an index finds in a log that is mostly damage", () => {
    const indexer = new LogIndexer({
      readLong: () => ({ ok: false, reason: "not-json", message: "" }),
      onFolded: () => undefined,
    });
    const entry = '{"type":"custom","customType":"x","id":"a","parentId":null,"timestamp":""}';
    const header = '{"type":"session","version":3,"id":"s","timestamp":"","cwd":"/w"}';
    const lines = [header, entry, ...Array.from({ length: 10_000 }, () => "{torn"), entry];
    for (const [at, text] of lines.entries()) {
      const bytes = Buffer.from(text);
      indexer.addLines(bytes, 0, bytes.length, at * 100, at + 1);
    }
    const { entries } = indexer.diagnostics;
    expect(entries).toHaveLength(diagnosticsMax + 1);
    expect(entries.at(-1)).toMatchObject({ kind: "duplicate-id", id: "a", line: lines.length });
  });
});
