/** What is drawn next to a row of a session. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  drawLanes,
  gutterWidth,
  laneX,
  pathLanes,
} from "../../../packages/web/src/page/model/lane-geometry.ts";
import type { RowLanes } from "../../../packages/web/src/api.ts";

const size = { laneCount: 4, laneWidth: 16, rowHeight: 30 };
const lanes = (given: Partial<RowLanes>): RowLanes => ({
  lane: 0,
  up: true,
  down: true,
  forks: [],
  passing: [],
  ...given,
});
const row = (lane: number, isOnPath: boolean, isLeaf = false) => ({
  isOnPath,
  isLeaf,
  lanes: lanes({ lane }),
});

describe("laneX", () => {
  it("keeps lanes in order and within the gutter, however many there are", () => {
    fc.assert(
      fc.property(fc.nat(500), (lane) => {
        const many = { ...size, laneCount: lane + 2 };
        expect(laneX(lane + 1, many)).toBeGreaterThan(laneX(lane, many));
        expect(laneX(lane + 1, many)).toBeLessThan(gutterWidth(many));
      }),
    );
  });

  it("keeps the gutter narrow when there are hundreds of lanes", () => {
    expect(gutterWidth({ ...size, laneCount: 300 })).toBe(gutterWidth({ ...size, laneCount: 12 }));
  });
});

describe("drawLanes", () => {
  it("draws one line for each lane that passes, starts or ends", () => {
    const drawing = drawLanes(
      { isOnPath: true, lanes: lanes({ forks: [1, 2], passing: [3] }) },
      2,
      size,
    );
    expect(drawing.lines).toHaveLength(5);
    expect(drawing.lines.filter(({ isOnPath }) => isOnPath).map(({ colour }) => colour)).toEqual([
      0, 2,
    ]);
  });

  it("marks a passing lane when the path passes there", () => {
    const drawing = drawLanes({ isOnPath: false, lanes: lanes({ passing: [1, 2] }) }, 2, size);
    const marked = drawing.lines.filter(({ isOnPath }) => isOnPath);
    expect(marked.map(({ path }) => path)).toEqual(["M44 0V30"]);
  });

  it("draws no line below the leaf as a part of the path", () => {
    const drawing = drawLanes({ isOnPath: true, lanes: lanes({ forks: [1] }) }, null, size);
    expect(drawing.lines.filter(({ isOnPath }) => isOnPath)).toHaveLength(1);
  });
});

describe("pathLanes", () => {
  it("returns the lane of the next entry on the path", () => {
    const rows = [row(0, true), row(0, false), undefined, row(2, true)];
    expect(pathLanes(rows, [row(1, false), row(3, true)])).toEqual([2, 2, 2, 3]);
  });

  it("returns null from the leaf on", () => {
    expect(pathLanes([row(0, true), row(1, true, true), row(1, false)], [])).toEqual([
      1,
      null,
      null,
    ]);
  });

  it("assumes the own lane when the next entry on the path is unknown", () => {
    expect(pathLanes([row(3, true), row(1, false)], [])).toEqual([3, null]);
  });
});
