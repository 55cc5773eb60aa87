/** Rows of an outline: every turn and every branch of an open turn has one row. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  outlineRow,
  outlineRowCount,
  rowOfTurn,
  withTurn,
} from "../../../packages/web/src/page/model/outline-rows.ts";
import type { OpenTurns } from "../../../packages/web/src/page/model/outline-rows.ts";

describe("the rows of an outline", () => {
  it("are turns, and branches below an open turn", () => {
    const open = withTurn(new Map(), 1, 2);
    const rows = Array.from({ length: outlineRowCount(3, open) }, (_, at) => outlineRow(at, open));
    expect(rows).toEqual([
      { turn: 0, branch: null },
      { turn: 1, branch: null },
      { turn: 1, branch: 0 },
      { turn: 1, branch: 1 },
      { turn: 2, branch: null },
    ]);
    expect(withTurn(open, 1, 0)).toEqual(new Map());
  });

  it("have every turn and branch once, in order, whichever turns are open. Law", () => {
    const opened = fc.array(fc.tuple(fc.nat(19), fc.integer({ min: 0, max: 3 })), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(opened, (changes) => {
        let open: OpenTurns = new Map();
        for (const [turn, branches] of changes) open = withTurn(open, turn, branches);
        const expected = Array.from({ length: 20 }, (_, turn) => turn).flatMap((turn) => [
          { turn, branch: null },
          ...Array.from({ length: open.get(turn) ?? 0 }, (_, branch) => ({ turn, branch })),
        ]);
        const count = outlineRowCount(20, open);
        expect(Array.from({ length: count }, (_, at) => outlineRow(at, open))).toEqual(expected);
        for (let turn = 0; turn < 20; turn += 1) {
          expect(outlineRow(rowOfTurn(turn, open), open)).toEqual({ turn, branch: null });
        }
      }),
    );
  });
});
