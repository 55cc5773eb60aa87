/** Logs that end in masses of debris or damage: each line is looked at a few times, not each time. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeCounter } from "@branchlog/streaming";
import { MemoryFileSystem, createMemoryPorts, managersWith } from "@branchlog/core/testing";
import type { Ports } from "@branchlog/core/testing";
import { encodeDraft } from "../../packages/core/src/entries/encode-entry.ts";
import { rootHandle } from "../../packages/core/src/index-table/id-table.ts";
import { IndexTable } from "../../packages/core/src/index-table/index-table.ts";
import { rowFlags } from "../../packages/core/src/index-table/row-table.ts";
import { pathToRow, tailRow } from "../../packages/core/src/index-table/tree-walk.ts";
import { appendItem } from "../../packages/core/src/append/request.ts";
import { Engine } from "../../packages/core/src/session/engine.ts";
import { LeafCursor } from "../../packages/core/src/append/leaf-cursor.ts";
import { runSync } from "../../packages/core/src/store/steps.ts";

const stamp = "2026-01-01T00:00:00.000Z";
const header = JSON.stringify({
  type: "session",
  version: 3,
  id: "s",
  timestamp: stamp,
  cwd: "/w",
});
const path = "/s.jsonl";

function line(id: string, parentId: string | null): string {
  const message = { role: "user", content: id, timestamp: 1 };
  return JSON.stringify({ type: "message", id, parentId, timestamp: stamp, message });
}

/** A line that looks like a message and is none. */
function torn(id: string, parentId: string | null): string {
  const envelope = JSON.stringify({ type: "message", id, parentId, timestamp: stamp });
  return `${envelope.slice(0, -1)},"message":{"role":"assistant","content":[{"a":{"b":1}}`;
}

const count = 20_000;
const each = (make: (i: number) => string): string[] =>
  Array.from({ length: count }, (_, i) => make(i));

/** Ends of a log behind the entry `a`; `good`: how many entries are among them. */
const ends: readonly (readonly [name: string, good: number, lines: readonly string[]])[] = [
  ["fragments", 0, each((i) => torn(`d${i}`, "a").slice(0, 40))],
  ["NUL bytes", 0, each(() => "\0\0\0")],
  ["damaged tips", 0, each((i) => torn(`d${i}`, "a"))],
  ["damaged entries, each below the one before", 0, each((i) => torn(`d${i}`, `d${i - 1}`))],
  ["damaged entries, each above the one before", 0, each((i) => torn(`d${i}`, `d${i + 1}`))],
  [
    "damaged parents of children before them",
    count,
    [...each((i) => line(`c${i}`, `d${i}`)), ...each((i) => torn(`d${i}`, "a"))],
  ],
  ["damaged entries with one id", 0, each(() => torn("d", "a"))],
  ["damaged entries with the id of the one before the end", 0, each(() => torn("a", null))],
];

function logOf(lines: readonly string[]): { readonly ports: Ports; readonly reads: () => number } {
  const fs = new MemoryFileSystem();
  fs.writeFileSync(path, Buffer.from([header, line("a", null), ...lines, ""].join("\n")));
  let reads = 0;
  fs.onCall = ({ name }) => {
    if (name === "readSync") reads += 1;
    return undefined;
  };
  return { ports: createMemoryPorts({ fs }), reads: () => reads };
}

describe("a log that ends in 20,000", () => {
  it.each(ends)("%s opens with a few reads and parses for each (Verifies: P10, P18)", (...end) => {
    const [, good, lines] = end;
    const { ports, reads } = logOf(lines);
    const before = decodeCounter.parses;
    const engine = Engine.openSync(path, { ports });
    expect(decodeCounter.parses - before).toBeLessThan(2 * lines.length + 10);
    expect(reads()).toBeLessThan(2 * lines.length + 20);
    expect(engine.tailId).toBe(good === 0 ? "a" : `c${good - 1}`);
    const rows = Array.from({ length: engine.index.count }, (_, row) => row);
    expect([...engine.bodies.entriesSync(rows)]).toHaveLength(good + 1);

    const leaf = new LeafCursor(true, engine.tailId);
    const items = [appendItem(encodeDraft({ type: "custom", customType: "after" }, stamp))];
    const request = { items, onDiverged: "branch", expectedTail: undefined } as const;
    const readsBefore = reads();
    const [result] = runSync(engine.appender.append(request, leaf), ports.clock);
    expect(reads() - readsBefore).toBeLessThan(10);
    expect(result?.parentId).toBe(good === 0 ? "a" : `c${good - 1}`);
    expect(engine.tailId).toBe(result?.id);
  });
});

describe("the tree that pi's face hands out", () => {
  it("costs no more for damaged entries one below the other", () => {
    const below = each((i) => line(`c${i}`, `d${count - 1}`));
    const { ports } = logOf([...each((i) => torn(`d${i}`, i === 0 ? "a" : `d${i - 1}`)), ...below]);
    const manager = managersWith({ ports }).open(path);
    // What looks like an entry is found to be damaged when it is read.
    expect(JSON.stringify(manager.getEntries()).length).toBeGreaterThan(count);
    // One walk per entry through all the damage would outlast the patience of the test.
    expect(manager.getTree()).toMatchObject([{ entry: { id: "a" } }]);
    expect(manager.getTree()[0]?.children).toHaveLength(count);
  });
});

/** An index that counts how often a flag of its rows is looked at. */
function countingIndex(): { readonly index: IndexTable; readonly looks: { count: number } } {
  const index = new IndexTable();
  const { rows } = index;
  const is = rows.is.bind(rows);
  const looks = { count: 0 };
  const counted = (row: number, flag: number): boolean => {
    looks.count += 1;
    return is(row, flag);
  };
  Object.defineProperty(rows, "is", { value: counted });
  return { index, looks };
}

function add(index: IndexTable, id: string, parentId: string | null): number {
  const handle = index.ids.add(id);
  const parentHandle = parentId === null ? rootHandle : index.ids.add(parentId);
  const kind = index.kinds.add({ type: "message", role: "user", customType: undefined });
  return index.add({ offset: 0, length: 1, handle, parentHandle, kind, time: 0, flags: 0 });
}

describe("the tail of an index", () => {
  it("is found in linear time while damage is found from the end, and while the end grows", () => {
    const { index, looks } = countingIndex();
    const rows = 200_000;
    for (let i = 0; i < rows; i += 1) add(index, `e${i}`, null);
    looks.count = 0;
    for (let i = 0; i < rows / 2; i += 1) index.markDamaged(tailRow(index));
    expect(tailRow(index)).toBe(rows / 2 - 1);
    for (let i = 0; i < 1000; i += 1) {
      index.markDamaged(add(index, `later${i}`, null));
      expect(tailRow(index)).toBe(rows / 2 - 1);
    }
    expect(looks.count).toBeLessThan(20 * rows);
  });

  it("is the last row that is not damaged, after any additions and damage", () => {
    const step = fc.oneof(fc.constant("add" as const), fc.constant("tail" as const), fc.nat(40));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const { index } = countingIndex();
        for (const [i, what] of steps.entries()) {
          if (what === "add") add(index, `e${i}`, null);
          else if (what !== "tail" && what < index.count) index.markDamaged(what);
          let naive = index.count - 1;
          while (naive >= 0 && index.rows.is(naive, rowFlags.damaged)) naive -= 1;
          if (what === "tail" || i === steps.length - 1) expect(tailRow(index)).toBe(naive);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe("a path that bridges gaps", () => {
  it("searches a gap once, though a cycle leads there again and again (Verifies: P18)", () => {
    const { index, looks } = countingIndex();
    const rows = 20_000;
    add(index, "start", `d${rows - 1}`);
    for (let i = 0; i < rows; i += 1) index.markDamaged(add(index, `d${i}`, "missing"));
    looks.count = 0;
    const found = pathToRow(index, 0, true);
    expect([[...found.rows], found.cyclic]).toEqual([[0], true]);
    expect(looks.count).toBeLessThan(10 * rows);
  });
});
