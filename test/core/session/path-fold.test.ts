/** The incremental walk: it leads from a kept leaf to what is below it, and nowhere else. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  MemoryFileSystem,
  createMemoryPorts,
  jsonLines,
  sampleHeader,
  userEntry,
} from "@branchlog/core/testing";
import { pathToRow } from "@branchlog/core/rows";
import { Engine } from "../../../packages/core/src/session/engine.ts";
import { PathFold, rowAt } from "../../../packages/core/src/session/path-fold.ts";

const path = "/s.jsonl";

/** An engine over entries `0`, `1`, …; each number is that of the parent, -1 for a root. */
function opened(parents: readonly number[]): { engine: Engine; fs: MemoryFileSystem } {
  const fs = new MemoryFileSystem();
  const entries = parents.map((parent, i) =>
    userEntry(String(i), parent < 0 ? null : String(parent), `message ${i}`),
  );
  fs.writeFileSync(path, Buffer.from(jsonLines(sampleHeader(), ...entries)));
  return { engine: Engine.openSync(path, { ports: createMemoryPorts({ fs }) }), fs };
}

const chain = (length: number): number[] => Array.from({ length }, (_, i) => i - 1);

describe("a path fold", () => {
  it("gives the rows below the kept leaf, oldest first", () => {
    const { state } = opened(chain(5)).engine.log;
    const fold = new PathFold<string>();
    fold.keep(state, 1, "two entries", 2);
    expect(fold.onward(state, 4)).toEqual({ value: "two entries", rows: [2, 3, 4] });
    expect(fold.onward(state, 1)).toEqual({ value: "two entries", rows: [] });
  });

  it("gives nothing when the leaf is on another branch, above, or before the first entry", () => {
    const { state } = opened([-1, 0, 1, 1]).engine.log;
    const fold = new PathFold<string>();
    fold.keep(state, 2, "a branch");
    expect([3, 1, -1].map((row) => fold.onward(state, row))).toEqual(Array(3).fill(undefined));
  });

  it("keeps the state before the first entry for nothing but itself", () => {
    const { state } = opened([-1]).engine.log;
    const fold = new PathFold<string>();
    fold.keep(state, -1, "nothing");
    expect(fold.onward(state, -1)?.value).toBe("nothing");
    expect(fold.onward(state, 0)).toBeUndefined();
  });

  it("gives nothing after it was told to forget", () => {
    const { state } = opened([-1]).engine.log;
    const fold = new PathFold<string>();
    fold.keep(state, 0, "one entry");
    fold.forget();
    expect(fold.onward(state, 0)).toBeUndefined();
  });

  it("gives nothing when the way down is longer than what is kept, and than 1,000 entries", () => {
    const { state } = opened(chain(1_200)).engine.log;
    const fold = new PathFold<string>();
    fold.keep(state, 0, "one entry", 1);
    expect(fold.onward(state, 1_000)?.rows).toHaveLength(1_000);
    expect(fold.onward(state, 1_001)).toBeUndefined();
    fold.keep(state, 0, "one entry", 1_001);
    expect(fold.onward(state, 1_001)?.rows).toHaveLength(1_001);
  });

  it("gives nothing when another program gave the log another beginning", () => {
    const { engine, fs } = opened(chain(3));
    const fold = new PathFold<string>();
    fold.keep(engine.log.state, 1, "two entries");
    const other = userEntry("0", null, "other");
    fs.writeFileSync(
      path,
      Buffer.from(jsonLines(sampleHeader(), other, userEntry("1", "0", "too"))),
    );
    engine.refreshSync();
    expect(fold.onward(engine.log.state, 1)).toBeUndefined();
  });

  it("gives nothing when a later entry hides one of the path", () => {
    const { engine, fs } = opened(chain(3));
    const fold = new PathFold<string>();
    fold.keep(engine.log.state, 2, "three entries");
    const hiding = Buffer.from(jsonLines(userEntry("1", null, "again")));
    const fd = fs.openSync(path, "append");
    fs.writeSync(fd, hiding, 0, hiding.length);
    fs.closeSync(fd);
    engine.refreshSync();
    expect(fold.onward(engine.log.state, rowAt(engine.log.state, "2"))).toBeUndefined();
  });

  it("leads from any kept leaf to exactly the path of the next. Law", () => {
    const tree = fc
      .array(fc.nat(), { minLength: 1, maxLength: 30 })
      .map((picks) => picks.map((pick, i) => (i === 0 ? -1 : (pick % (i + 1)) - 1)));
    fc.assert(
      fc.property(tree, fc.array(fc.nat(), { maxLength: 20 }), (parents, leaves) => {
        const { state } = opened(parents).engine.log;
        const { index } = state;
        const fold = new PathFold<readonly number[]>();
        for (const pick of leaves) {
          const row = pick % parents.length;
          const onward = fold.onward(state, row);
          const whole = [...pathToRow(index, row).rows];
          const isBelow = onward !== undefined;
          const folded = isBelow ? [...onward.value, ...onward.rows] : whole;
          expect(folded).toEqual(whole);
          fold.keep(state, row, folded, folded.length);
        }
      }),
    );
  });
});
