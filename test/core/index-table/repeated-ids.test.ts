/** Rows that share an id: whichever is found to be damaged first, the same one holds it in the end. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RepeatedIds } from "../../../packages/core/src/index-table/index-table.ts";

/** The holder of an id that so many rows have, once those rows are found to be damaged, in order. */
function holderAfter(rows: number, damaged: readonly number[]): number {
  const ids = new RepeatedIds();
  for (let row = 1; row < rows; row += 1) ids.hide(row - 1, row);
  let holder = rows - 1;
  const found = new Set<number>();
  for (const row of damaged) {
    found.add(row);
    if (row !== holder) continue;
    const before = ids.readableBefore(row, (one) => found.has(one));
    if (before >= 0) ids.bringBack(before, row);
    holder = before >= 0 ? before : ids.lastOf(row);
  }
  return holder;
}

describe("the holder of an id", () => {
  it("is the last row that can be read, or the last of all", () => {
    expect(holderAfter(3, [])).toBe(2);
    expect(holderAfter(3, [2])).toBe(1);
    expect(holderAfter(3, [2, 1])).toBe(0);
    expect(holderAfter(3, [2, 1, 0])).toBe(2);
    expect(holderAfter(3, [0, 1, 2])).toBe(2);
  });

  it("does not depend on the order of findings", () => {
    const damage = fc
      .uniqueArray(fc.nat(6), { maxLength: 7 })
      .chain((rows) =>
        fc.tuple(fc.constant(rows), fc.shuffledSubarray(rows, { minLength: rows.length })),
      );
    fc.assert(
      fc.property(damage, ([rows, shuffled]) => {
        const readable = [6, 5, 4, 3, 2, 1, 0].find((row) => !rows.includes(row));
        expect(holderAfter(7, shuffled)).toBe(readable ?? 6);
      }),
    );
  });
});
