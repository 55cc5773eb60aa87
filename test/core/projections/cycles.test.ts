/** Entries that are their own ancestors, found in one pass. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findCycles, orphanRows } from "../../../packages/core/src/index-table/tree-walk.ts";
import { rootHandle } from "../../../packages/core/src/index-table/row-table.ts";
import { IndexTable } from "../../../packages/core/src/index-table/index-table.ts";
import { cycleRows } from "../../../packages/core/src/projections/tree.ts";
import { runs } from "../../support/fault-seed.ts";

/** An index of rows named by their numbers, each with the number of its parent; -1 for none. */
function indexOf(parents: Iterable<number>, damaged: readonly number[] = []): IndexTable {
  const index = new IndexTable();
  const kind = index.kinds.add({ type: "message", role: "user", customType: undefined });
  const handleOf = (row: number): number => index.ids.add(row.toString(16).padStart(8, "0"));
  for (const parent of parents) {
    const handle = handleOf(index.count);
    const parentHandle = parent < 0 ? rootHandle : handleOf(parent);
    index.add({ offset: index.count, length: 1, handle, parentHandle, kind, time: 0, flags: 0 });
  }
  for (const row of damaged) index.markDamaged(row);
  return index;
}

describe("cycles of parents", () => {
  it("are each reported once, with the first of their rows, and their descendants", () => {
    // 2 → 3 → 4 → 2 with 1 below and 0 below that; 6 its own parent with 7 below; 5 is a root.
    const facts = findCycles(indexOf([1, 4, 3, 4, 2, -1, 6, 6]));
    expect(facts).toEqual({
      cycles: [
        { row: 2, size: 3 },
        { row: 6, size: 1 },
      ],
      caughtCount: 7,
    });
    expect(cycleRows(indexOf([1, 4, 3, 4, 2, -1, 6, 6]))).toEqual([2]);
  });

  it("pass through damaged rows, and consist of the others", () => {
    const facts = findCycles(indexOf([1, 2, 0, 4, 3], [1, 3, 4]));
    expect(facts).toEqual({ cycles: [{ row: 0, size: 2 }], caughtCount: 2 });
    expect(findCycles(indexOf([1, 0], [1])).cycles).toEqual([{ row: 0, size: 1 }]);
  });

  it("equal those found from every row (Verifies: P18)", () => {
    const parents = fc.integer({ min: 1, max: 14 }).chain((count) =>
      fc.record({
        parents: fc.array(fc.integer({ min: -1, max: count }), {
          minLength: count,
          maxLength: count,
        }),
        damaged: fc.uniqueArray(fc.nat(count - 1)),
      }),
    );
    fc.assert(
      fc.property(parents, (tree) => {
        const { cycles, caughtCount } = findCycles(indexOf(tree.parents, tree.damaged));
        const expected = new Map<number, number>();
        let caught = 0;
        for (const start of tree.parents.keys()) {
          if (tree.damaged.includes(start)) continue;
          const way: number[] = [];
          let at = start;
          while (at >= 0 && at < tree.parents.length && !way.includes(at)) {
            way.push(at);
            at = tree.parents[at] ?? -1;
          }
          const round = way.slice(way.indexOf(at)).filter((row) => !tree.damaged.includes(row));
          if (!way.includes(at) || round.length === 0) continue;
          caught += 1;
          expected.set(Math.min(...round), round.length);
        }
        const sorted = [...expected].sort(([one], [other]) => one - other);
        expect(cycles.map(({ row, size }) => [row, size])).toEqual(sorted);
        expect(caughtCount).toBe(caught);
      }),
      { numRuns: 3000 },
    );
  });

  const half = runs(100_000, 500_000);

  it(`can be ${half} rows long, with as many below (Verifies: P18)`, () => {
    const links = function* (): Generator<number> {
      yield half - 1;
      for (let row = 1; row < 2 * half; row += 1) yield row - 1;
    };
    const facts = findCycles(indexOf(links()));
    expect(facts).toEqual({ cycles: [{ row: 0, size: half }], caughtCount: 2 * half });
  });
});

it("orphans are the nodes whose parent is not a row, damaged or not", () => {
  const index = indexOf([-1, 9, 1, 8, 3], [3]);
  expect(orphanRows(index)).toEqual([1]);
  expect(index.parentIdOf(1)).toBe("00000009");
});
