/** The lanes of a tree: lines never share a lane where they could be taken for one. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Lanes, lanesMax } from "../../packages/web/src/lanes.ts";

function lanesOf(parents: readonly number[]): Lanes {
  const lanes = new Lanes();
  for (const parent of parents) lanes.add(parent);
  return lanes;
}

/** Each row's parent: an earlier row, mostly the one before, or none. */
const trees = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.nat(10_000)), { maxLength: 120 })
  .map((draws) =>
    draws.map(([way, draw], row) => {
      if (row === 0 || way === 0) return -1;
      return way < 7 ? row - 1 : draw % row;
    }),
  );

describe("lanes", () => {
  it("keep a conversation without branches in one lane", () => {
    const lanes = lanesOf([-1, 0, 1, 2]);
    expect(lanes.laneCount).toBe(1);
    expect(lanes.at(0)).toEqual({ lane: 0, up: false, down: true, forks: [], passing: [] });
    expect(lanes.at(3)).toEqual({ lane: 0, up: true, down: false, forks: [], passing: [] });
  });

  it("give a second child its own lane, which passes the rows between", () => {
    const lanes = lanesOf([-1, 0, 1, 0, 3, 2]);
    expect(lanes.at(0)).toMatchObject({ lane: 0, forks: [1] });
    expect(lanes.at(1)).toMatchObject({ lane: 0, passing: [1] });
    expect(lanes.at(3)).toMatchObject({ lane: 1, up: true, passing: [0] });
    expect(lanes.at(5)).toMatchObject({ lane: 0, up: true });
    expect(lanes.branchRows(10)).toEqual([0]);
    expect(lanes.tipCount).toBe(2);
  });

  it("give a late branch a lane that is free along its length", () => {
    const lanes = lanesOf([-1, 0, 0, 2, 1, 0]);
    expect(lanes.at(5).lane).toBe(2);
    for (const row of [1, 2, 3, 4]) expect(lanes.at(row).passing).toContain(2);
  });

  it("draw every line from a parent to its child once, over no entry and no other line", () => {
    fc.assert(
      fc.property(trees, (parents) => {
        const lanes = lanesOf(parents);
        const passing = parents.map(() => new Map<number, number>());
        for (const [row, parent] of parents.entries()) {
          if (parent < 0) {
            expect(lanes.at(row).up).toBe(false);
            continue;
          }
          const { lane, up } = lanes.at(row);
          expect(up).toBe(true);
          const { lane: above, down, forks } = lanes.at(parent);
          expect(lane === above ? down : forks.includes(lane)).toBe(true);
          for (let at = parent + 1; at < row; at += 1) {
            passing[at]?.set(lane, (passing[at]?.get(lane) ?? 0) + 1);
          }
        }
        for (const [row, lines] of passing.entries()) {
          const { lane, passing: drawn } = lanes.at(row);
          const isCrowded = lanes.laneCount === lanesMax;
          expect(new Set(drawn)).toEqual(new Set([...lines.keys()].filter((one) => one !== lane)));
          if (isCrowded) continue;
          expect(lines.has(lane)).toBe(false);
          for (const count of lines.values()) expect(count).toBe(1);
        }
      }),
    );
  });

  it("are the same for rows at once or one by one, and never change above", () => {
    fc.assert(
      fc.property(trees, fc.nat(100), (parents, cut) => {
        const whole = lanesOf(parents);
        const grown = lanesOf(parents.slice(0, cut));
        const before = parents.slice(0, cut).map((_, row) => grown.at(row).lane);
        for (const parent of parents.slice(cut)) grown.add(parent);
        const rows = parents.map((_, row) => row);
        expect(rows.map((row) => grown.at(row))).toEqual(rows.map((row) => whole.at(row)));
        expect(before).toEqual(before.map((_, row) => grown.at(row).lane));
      }),
    );
  });

  it("connect a parent below its children by a line without overlaps", () => {
    const anyTree = fc
      .array(fc.nat(10_000), { maxLength: 40 })
      .map((draws) => draws.map((draw) => (draw % 5 === 0 ? -1 : draw % draws.length)))
      .map((parents) => parents.map((parent, row) => (parent === row ? -1 : parent)));
    fc.assert(
      fc.property(anyTree, (parents) => {
        const lanes = lanesOf(parents);
        const rows = parents.map((_, row) => lanes.at(row));
        for (const [row, parent] of parents.entries()) {
          expect(lanes.parentOf(row)).toBe(parent);
          if (parent <= row) continue;
          const joins = rows[parent]?.joins ?? [];
          const between = rows.slice(row + 1, parent);
          const drawn = joins.filter(
            (lane) =>
              rows[row]?.forks.includes(lane) === true &&
              between.every(
                ({ passing }) => lanes.laneCount === lanesMax || passing.includes(lane),
              ),
          );
          expect(drawn.length).toBeGreaterThan(0);
        }
        const named = new Set(parents);
        expect(lanes.tipCount).toBe(parents.filter((_, row) => !named.has(row)).length);
      }),
    );
  });

  it("pass the rows of whole blocks, and of parts of them", () => {
    const parents = Array.from({ length: 3000 }, (_, row) => row - 1);
    const branches = [
      [3, 1700],
      [600, 1023],
      [1023, 1536],
      [40, 2999],
    ] as const;
    for (const [parent, row] of branches) parents[row] = parent;
    const lanes = lanesOf(parents);
    for (const [row, parent] of parents.entries()) {
      const { lane } = lanes.at(row);
      for (let at = parent + 1; at < row; at += 1) {
        if (!lanes.at(at).passing.includes(lane)) throw new Error(`row ${at}, lane ${lane}`);
      }
    }
    for (let row = 0; row < parents.length; row += 1) {
      const open = branches.filter(([parent, end]) => parent < row && row < end);
      expect(lanes.at(row).passing.length).toBeLessThanOrEqual(open.length + branches.length);
    }
  });

  it("are found in few steps when one entry has 60,000 children, or many have a late one", () => {
    const star = lanesOf([-1, ...Array.from({ length: 60_000 }, () => 0)]);
    expect(star.tipCount).toBe(60_000);
    const late = lanesOf([
      ...Array.from({ length: 30_000 }, (_, row) => row - 1),
      ...Array.from({ length: 30_000 }, (_, row) => row),
    ]);
    expect(late.laneCount).toBe(lanesMax);
  });

  it("hold a million rows with branches", () => {
    const lanes = new Lanes();
    for (let row = 0; row < 1_000_000; row += 1) lanes.add(row % 1000 === 999 ? row - 20 : row - 1);
    expect(lanes.rowCount).toBe(1_000_000);
    expect(lanes.laneCount).toBeLessThan(lanesMax);
  });

  it("share the last lane when more branches are open than there are lanes", () => {
    const parents = [-1, ...Array.from({ length: 100 }, () => 0)];
    const lanes = lanesOf(parents);
    expect(lanes.laneCount).toBe(lanesMax);
    expect(lanes.at(100).lane).toBe(lanesMax - 1);
  });
});
