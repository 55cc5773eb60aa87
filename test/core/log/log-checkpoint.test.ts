/** The checkpoint of a log: made of the file that was read, and of no other. */
import { describe, expect, it } from "vitest";
import {
  MemoryFileSystem,
  createMemoryPorts,
  jsonLines,
  sampleHeader,
  userEntry,
} from "@branchlog/core/testing";
import { Engine } from "@branchlog/core/engine";
import { statePieces, sumsEndOf } from "../../../packages/core/src/log/log-checkpoint.ts";
import { savedSums } from "../../../packages/core/src/log/checkpoints.ts";
import { observedFileSystem } from "../../support/observed-file-system.ts";

const path = "/s.jsonl";
const text = jsonLines(sampleHeader(), userEntry("a", null, "one"), userEntry("b", "a", "two"));

/** A log that was read, and something that happens before the next so many looks at it end. */
class Changing {
  readonly fs = new MemoryFileSystem();
  readonly engine: Engine;
  looks = 0;
  #changeAt = 0;
  #change: () => void = () => undefined;

  constructor(log: string = text) {
    this.fs.writeFileSync(path, Buffer.from(log));
    const fs = observedFileSystem(this.fs, (call, effect) => {
      if (call.name !== "statSync" || call.path !== path) return effect();
      this.looks += 1;
      if (this.looks === this.#changeAt) this.#change();
      return effect();
    });
    const ports = createMemoryPorts({ fs });
    this.engine = Engine.openSync(path, { ports, checkpointEveryBytes: 1 });
  }

  /** Whether a checkpoint could be made, if that happens right before its nth look at the log. */
  isMade(nth = 0, change: () => void = () => undefined): boolean {
    this.looks = 0;
    this.#changeAt = nth;
    this.#change = change;
    return statePieces(this.engine.log.state, undefined) !== null;
  }

  replace(): void {
    this.fs.writeFileSync("/new", Buffer.from(text));
    this.fs.renameSync("/new", path);
  }

  append(): void {
    const fd = this.fs.openSync(path, "append");
    this.fs.writeSync(fd, Buffer.from("{}\n"), 0, 3);
    this.fs.closeSync(fd);
  }
}

describe("the checkpoint of a log", () => {
  it("is made of the log as it was read, with two looks at the file", () => {
    const log = new Changing();
    expect(log.isMade()).toBe(true);
    expect(log.looks).toBe(2);
  });

  it.each([1, 2])("is not made of a log that was replaced before look %d", (nth) => {
    const log = new Changing();
    expect(log.isMade(nth, () => log.replace())).toBe(false);
  });

  it.each([1, 2])("is not made of a log that was deleted before look %d", (nth) => {
    const log = new Changing();
    expect(log.isMade(nth, () => log.fs.unlinkSync(path))).toBe(false);
  });

  it("is not made of a log that grew between the looks, but of one that grew before", () => {
    const log = new Changing();
    expect(log.isMade(2, () => log.append())).toBe(false);
    expect(new Changing().isMade(1, () => log.append())).toBe(true);
  });

  it("is not made of a log that was cut, or that ends within a line", () => {
    const cut = new Changing();
    expect(cut.isMade(1, () => cut.fs.writeFileSync(path, Buffer.from(text.slice(0, 40))))).toBe(
      false,
    );
    expect(new Changing(text.slice(0, -1)).isMade()).toBe(false);
  });

  it("takes checksums for granted only where they were confirmed", () => {
    const log = new Changing();
    log.engine.checkpoints.saveSync();
    const stat = log.fs.statSync(path);
    if (stat === null) throw new Error("no log");
    const sums = savedSums(log.engine.settings, path, stat);
    if (sums === undefined) throw new Error("no checksums");
    expect(sumsEndOf(undefined)).toBe(0);
    expect(sumsEndOf({ ...sums, isConfirmed: true })).toBe(text.length);
    expect(sumsEndOf({ ...sums, isConfirmed: false })).toBe(0);
  });
});
