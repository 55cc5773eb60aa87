/** What is saved of a log: of the file that was read, and of no other. */
import { describe, expect, it, onTestFinished } from "vitest";
import {
  MemoryFileSystem,
  createMemoryPorts,
  jsonLines,
  sampleHeader,
  userEntry,
} from "@branchlog/core/testing";
import { Engine } from "@branchlog/core/engine";
import { SumKeeper } from "../../../packages/core/src/log/checkpoints.ts";
import { statePieces, sumsEndOf } from "../../../packages/core/src/log/log-checkpoint.ts";
import type { LogSums } from "../../../packages/core/src/checkpoint/log-sums.ts";
import { appendTo } from "../../support/append-to.ts";
import { observedFileSystem } from "../../support/observed-file-system.ts";

const path = "/s.jsonl";
const text = jsonLines(sampleHeader(), userEntry("a", null, "one"), userEntry("b", "a", "two"));

type Change = (fs: MemoryFileSystem) => void;

const changes = {
  "is replaced": (fs) => {
    fs.writeFileSync("/new", Buffer.from(text));
    fs.renameSync("/new", path);
  },
  "is deleted": (fs) => fs.unlinkSync(path),
  grows: (fs) => appendTo(fs, path, "{}\n"),
  "is cut": (fs) => fs.writeFileSync(path, Buffer.from(text.slice(0, 40))),
} as const satisfies Readonly<Record<string, Change>>;

/** A log that was read, and a way to change it right before the nth stat of its file from then. */
function opened(log: string = text) {
  const fs = new MemoryFileSystem();
  fs.writeFileSync(path, Buffer.from(log));
  let [looks, change]: [number, Change] = [0, () => undefined];
  const observed = observedFileSystem(fs, (call, effect) => {
    if (call.name !== "statSync" || call.path !== path) return effect();
    looks -= 1;
    if (looks === 0) change(fs);
    return effect();
  });
  const ports = createMemoryPorts({ fs: observed });
  const engine = Engine.openSync(path, { ports, checkpointEveryBytes: 1 });
  onTestFinished(() => engine.checkpoints.close());
  const changeBefore = (nth: number, what: Change): void => void ([looks, change] = [nth, what]);
  return { fs, ports, engine, changeBefore };
}

describe("the checkpoint of a log", () => {
  it.each([
    ["is replaced", 1],
    ["is replaced", 2],
    ["is deleted", 1],
    ["is deleted", 2],
    ["grows", 2],
    ["is cut", 1],
  ] as const)("is not made of a log that %s before check %d of its file", (change, nth) => {
    const { engine, changeBefore } = opened();
    expect(statePieces(engine.log.state, undefined)).not.toBeNull();
    changeBefore(nth, changes[change]);
    expect(statePieces(engine.log.state, undefined)).toBeNull();
  });

  it("is made of a log that grew before, but not of one that ends within a line", () => {
    const { engine, changeBefore } = opened();
    changeBefore(1, changes.grows);
    expect(statePieces(engine.log.state, undefined)).not.toBeNull();
    expect(statePieces(opened(text.slice(0, -1)).engine.log.state, undefined)).toBeNull();
  });

  it("has unconfirmed checksums when there was no time to compare them", () => {
    const long = ["x", "y", "z"].map((id) => userEntry(id, null, id.repeat(1_000_000)));
    const { fs, ports, engine } = opened(jsonLines(sampleHeader(), ...long));
    engine.checkpoints.saveSync();
    const compute = (stepsMax: number): LogSums | undefined => {
      let steps = 0;
      const keeper = new SumKeeper({ ports, checkpointDir: undefined });
      const run = keeper.computeMissing(engine.log.state, false, () => steps >= stepsMax);
      for (let step = run.next(0); ; step = run.next(0)) {
        if (step.done === true) return step.value;
        steps += 1;
      }
    };
    const all = compute(Infinity);
    expect(all).toMatchObject({ end: engine.log.end, isConfirmed: true });
    expect(sumsEndOf(all)).toBe(engine.log.end);
    for (const steps of [0, 1]) {
      const some = compute(steps);
      expect(some).toEqual({ ...all, isConfirmed: false });
      expect(sumsEndOf(some)).toBe(0);
    }
    changes["is replaced"](fs);
    expect(compute(Infinity)).toBeUndefined();
  });
});
