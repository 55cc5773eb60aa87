/** The rows of a log, linked in batches as one by one; and its findings, bounded for each kind. */
import { LineFramer } from "@branchlog/streaming";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Diagnostic } from "@branchlog/core";
import type { DiagnosticKind } from "@branchlog/core/types";
import { DiagnosticLog } from "../../../packages/core/src/index-table/diagnostics.ts";
import { diagnosticsMax } from "../../../packages/core/src/limits.ts";
import { LogIndexer } from "../../../packages/core/src/index-table/log-indexer.ts";
import { isTip } from "../../../packages/core/src/index-table/tree-walk.ts";
import { treeView } from "../../../packages/core/src/projections/tree.ts";

const header =
  '{"type":"session","version":3,"id":"s","timestamp":"2026-11-21T20:00:00Z","cwd":"/"}';

const hexId = fc.constantFrom("00000000", "0000000a", "ffffffff", "fffffffe", "7fffffff");
const anyId = fc.oneof(hexId, fc.constantFrom("FFFFFFFF", "note", "0000000", "ü"));
const line = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.tuple(hexId, fc.option(hexId)).map(([id, parent]) => message(id, parent)),
  },
  fc.tuple(anyId, fc.option(anyId)).map(([id, parent]) => message(id, parent)),
  fc.tuple(hexId, hexId).map(([id, target]) => label(id, target)),
  fc.constantFrom("", "{", "{}", '{"type":"message","id":5}', header),
);

function message(id: string, parentId: string | null): string {
  const timestamp = "2026-11-21T20:28:20.131Z";
  return JSON.stringify({ type: "message", id, parentId, timestamp, message: { role: "user" } });
}

function label(id: string, targetId: string): string {
  const timestamp = "2026-11-21T20:28:20.131Z";
  return JSON.stringify({ type: "label", id, parentId: null, timestamp, targetId, label: "x" });
}

/** Everything that can be asked of an index. */
function indexed(
  pushes: readonly string[],
): Readonly<Record<string, unknown>> & { readonly diagnostics: readonly Diagnostic[] } {
  const folded: string[] = [];
  const indexer: LogIndexer = new LogIndexer({
    readLong: () => ({ ok: false, reason: "not-json", message: "" }),
    onFolded: (row) => folded.push(indexer.index.idOf(row)),
  });
  const framer = new LineFramer();
  for (const text of pushes) framer.push(Buffer.from(text), indexer);
  const { index } = indexer;
  const rows = Array.from({ length: index.count }, (_, row) => ({
    id: index.idOf(row),
    parentId: index.parentIdOf(row),
    kind: index.kindOf(row),
    offset: index.rows.offset(row),
    length: index.rows.length(row),
    time: index.rows.time(row),
    isNode: index.isNode(row),
    isTip: isTip(index, row),
    line: indexer.lines.lineOfRow(row),
  }));
  const { entries } = indexer.diagnostics;
  return {
    rows,
    folded,
    diagnostics: entries,
    tree: [...treeView(index).roots],
    ids: index.ids.count,
  };
}

it("linking rows in batches gives the same index as linking them one by one", () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 30 }), (lines) => {
      const all = [header, ...lines].map((text) => `${text}\n`);
      expect(indexed([all.join("")])).toEqual(indexed(all));
    }),
    { numRuns: 2000 },
  );
});

it.each([
  ["a number of milliseconds", 1_780_300_800_377, 1_780_300_800_377],
  ["a number that no Date can hold", 1e18, Number.NaN],
  ["nothing", undefined, Number.NaN],
  ["a text that is not a time", "yesterday", Number.NaN],
])("the time of a row can be stored as %s", (_what, timestamp, time) => {
  const record = JSON.stringify({ type: "custom", id: "a", parentId: null, timestamp });
  expect(indexed([`${header}\n${record}\n`])).toMatchObject({ rows: [{ time }] });
});

const kinds = ["bad-line", "duplicate-id", "cycle"] as const satisfies readonly DiagnosticKind[];

describe("the list of findings", () => {
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

  it("is complete for a log that is mostly damage", () => {
    const repeated = message("0000000a", null);
    const torn = Array.from({ length: 10_000 }, () => "{torn");
    const lines = [header, repeated, ...torn, repeated];
    const { diagnostics } = indexed([`${lines.join("\n")}\n`]);
    expect(diagnostics).toHaveLength(diagnosticsMax + 1);
    const last = { kind: "duplicate-id", id: "0000000a", line: lines.length };
    expect(diagnostics.at(-1)).toMatchObject(last);
  });
});
