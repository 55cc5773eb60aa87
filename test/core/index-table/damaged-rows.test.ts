/** Walks over an index in which most rows are damaged: each row is visited a few times. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rootHandle, rowFlags } from "../../../packages/core/src/index-table/row-table.ts";
import { IndexTable } from "../../../packages/core/src/index-table/index-table.ts";
import { pathToRow, tailRow } from "../../../packages/core/src/index-table/tree-walk.ts";

/** An index that counts how often a flag of its rows is read. */
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
