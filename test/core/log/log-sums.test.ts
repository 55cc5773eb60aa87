/** The checksums of a log from one checkpoint to the next: what is taken, kept and compared. */
import { describe, expect, it, onTestFinished } from "vitest";
import { readCounter } from "@branchlog/streaming";
import {
  MemoryFileSystem,
  createMemoryPorts,
  jsonLines,
  sampleHeader,
  userEntry,
} from "@branchlog/core/testing";
import { Engine } from "@branchlog/core/engine";
import { compareSums, sumPieceBytes } from "../../../packages/core/src/checkpoint/log-sums.ts";
import type { LogSums } from "../../../packages/core/src/checkpoint/log-sums.ts";
import { SumKeeper, savedSums } from "../../../packages/core/src/log/checkpoints.ts";

const path = "/s.jsonl";
const entryCount = 40;
const entry = (n: number, text: string): object => userEntry(`e${n}`, null, text.repeat(100_000));
const textOf = (letter: string): string =>
  jsonLines(sampleHeader(), ...Array.from({ length: entryCount }, (_, n) => entry(n, letter)));

const size = textOf("x").length;

/** A log of four megabytes, with a checkpoint or without. */
class Log {
  readonly fs = new MemoryFileSystem();
  readonly ports = createMemoryPorts({ fs: this.fs });
  readonly settings = { ports: this.ports, checkpointDir: undefined };
  readonly sums = new SumKeeper(this.settings);
  engine: Engine;

  constructor({ isSaved }: { readonly isSaved: boolean }, text: string = textOf("x")) {
    this.fs.writeFileSync(path, Buffer.from(text));
    this.engine = this.#open();
    if (isSaved) this.engine.checkpoints.saveSync();
  }

  /** The same log after another program wrote other bytes into it. */
  rewrite(bytes: Buffer): void {
    this.fs.writeFileSync(path, bytes);
    this.engine = this.#open();
  }

  /** @param stepsMax After how many steps there is no time left. */
  compute(isKnown: boolean, stepsMax: number = Infinity): LogSums | undefined {
    const { state } = this.engine.log;
    let steps = 0;
    const isOver = (): boolean => steps >= stepsMax;
    const run = this.sums.computeMissing(state, isKnown, isOver);
    for (;;) {
      const step = run.next();
      if (step.done === true) return step.value;
      steps += 1;
    }
  }

  get saved(): LogSums | undefined {
    const stat = this.fs.statSync(path);
    return stat === null ? undefined : savedSums(this.settings, path, stat);
  }

  verdict(sums: LogSums | undefined): string | undefined {
    if (sums === undefined) return undefined;
    const run = compareSums(this.engine.log.file, sums, 0);
    for (;;) {
      const step = run.next();
      if (step.done === true) return step.value.verdict;
    }
  }

  #open(): Engine {
    const engine = Engine.openSync(path, { ports: this.ports, checkpointEveryBytes: 1 });
    // Else it would save a second later, and be counted as reading in another test.
    onTestFinished(() => engine.checkpoints.close());
    return engine;
  }
}

function bytesReadBy<T>(work: () => T): readonly [T, number] {
  const before = readCounter.bytes;
  const result = work();
  return [result, readCounter.bytes - before];
}

describe("the checksums of a log", () => {
  it("are taken of all of it, if there were none", () => {
    const log = new Log({ isSaved: false });
    expect(log.saved).toBeUndefined();
    const sums = log.compute(false);
    expect(sums).toMatchObject({ start: 0, end: size, isConfirmed: true, logVersion: 3 });
    expect(sums?.sums).toHaveLength(Math.ceil(size / sumPieceBytes));
    expect(log.verdict(sums)).toBe("same");
  });

  it("go on where they stopped, and begin anew once they are forgotten", () => {
    const log = new Log({ isSaved: false });
    const some = log.compute(false, 2);
    expect(some?.end).toBeGreaterThan(0);
    expect(some?.end).toBeLessThan(size);
    expect(log.verdict(some)).toBe("same");
    const [all, bytes] = bytesReadBy(() => log.compute(false));
    expect(all?.end).toBe(size);
    expect(bytes).toBeLessThan(size);
    log.sums.forget();
    const [again, bytesAgain] = bytesReadBy(() => log.compute(false));
    expect(again).toEqual(all);
    expect(bytesAgain).toBeGreaterThanOrEqual(size);
  });

  it("take no time that there is not", () => {
    const log = new Log({ isSaved: false });
    const [none, bytes] = bytesReadBy(() => log.compute(false, 0));
    expect(none).toMatchObject({ end: 0, isConfirmed: true });
    expect(bytes).toBe(0);
  });

  it("of a checkpoint that is known to be of this log are not compared again", () => {
    const log = new Log({ isSaved: true });
    const { saved } = log;
    expect(saved).toMatchObject({ end: size, isConfirmed: true });
    const [sums, bytes] = bytesReadBy(() => log.compute(true));
    expect(sums).toEqual(saved);
    expect(bytes).toBe(0);
  });

  it("of another checkpoint are compared, and kept if they hold", () => {
    const log = new Log({ isSaved: true });
    const [sums, bytes] = bytesReadBy(() => log.compute(false));
    expect(sums).toEqual(log.saved);
    expect(bytes).toBeGreaterThanOrEqual(size - 1000);
  });

  it("are kept unconfirmed where there is no time to compare them", () => {
    const log = new Log({ isSaved: true });
    for (const steps of [0, 1]) {
      expect(log.compute(false, steps)).toEqual({ ...log.saved, isConfirmed: false });
    }
    expect(log.compute(false)).toEqual(log.saved);
  });

  it("keep differing from a log that was changed in one place", () => {
    const log = new Log({ isSaved: true });
    const bytes = Buffer.from(textOf("x"));
    bytes[2_000_000] = 0x79;
    log.rewrite(bytes);
    const sums = log.compute(false);
    expect(sums).toEqual(log.saved);
    expect(log.verdict(sums)).toBe("changed");
  });

  it("are taken anew of a log that was rewritten", () => {
    const log = new Log({ isSaved: true });
    const lines = textOf("yy").replaceAll('"e', '"f');
    log.rewrite(Buffer.from(lines));
    const sums = log.compute(false);
    expect(sums).toMatchObject({ end: lines.length, isConfirmed: true });
    expect(log.verdict(sums)).toBe("same");
    expect(log.verdict(log.saved)).toBe("rewritten");
  });

  it("are none of a log that ends within a line, is gone, or was replaced", () => {
    expect(new Log({ isSaved: false }, textOf("x").slice(0, -1)).compute(false)).toBeUndefined();
    const gone = new Log({ isSaved: false });
    gone.fs.unlinkSync(path);
    expect(gone.compute(false)).toBeUndefined();
    const replaced = new Log({ isSaved: false });
    replaced.fs.writeFileSync("/new", Buffer.from(textOf("x")));
    replaced.fs.renameSync("/new", path);
    expect(replaced.compute(false)).toBeUndefined();
  });
});
