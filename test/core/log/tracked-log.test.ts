/** One log through replacements of its file, and what it says of single lines. */
import { runAsync, runSync } from "@branchlog/streaming";
import { describe, expect, it } from "vitest";
import { MemoryFileSystem, jsonLines, sampleHeader, userEntry } from "@branchlog/core/testing";
import { TrackedLog } from "../../../packages/core/src/log/tracked-log.ts";
import { LogFile } from "../../../packages/core/src/platform/log-file.ts";
import { observedFileSystem } from "../../support/observed-file-system.ts";

const path = "/s.jsonl";
const options = { lineBytesMax: 1000, bodyCacheBytesMax: 0 };

/** A log whose file is replaced right after the next so many calls of `stat`. */
class Replaced {
  readonly memory = new MemoryFileSystem();
  readonly log: TrackedLog;
  replacements = 0;
  #id = 0;

  constructor() {
    this.#replace();
    const fs = observedFileSystem(this.memory, (call, effect) => {
      const result = effect();
      if (call.name === "statSync" && this.replacements > 0) {
        this.replacements -= 1;
        this.#replace();
      }
      return result;
    });
    this.log = new TrackedLog(new LogFile(fs, path), options);
  }

  get headerId(): string | undefined {
    return this.log.state.indexer.header?.header.id;
  }

  #replace(): void {
    this.#id += 1;
    const header = sampleHeader({ id: `s${this.#id}` });
    const text = jsonLines(header, userEntry(`e${this.#id}`, null, "x"));
    this.memory.writeFileSync("/new", Buffer.from(text));
    this.memory.renameSync("/new", path);
  }
}

describe("a log whose file is replaced while it is opened", () => {
  const ways: readonly (readonly [string, (log: TrackedLog) => unknown])[] = [
    ["opened", (log) => runAsync(log.open())],
    ["opened blocking", (log) => runSync(log.open())],
    ["read again", (log) => log.reloadMigrated()],
  ];
  it.each(ways)("is %s at the second or third attempt, and then refused", async (name, read) => {
    for (const replacements of [1, 2, 3, 100]) {
      const replaced = new Replaced();
      const { log } = replaced;
      if (name === "read again") runSync(log.open());
      replaced.replacements = replacements;
      const reading = (async () => read(log))();
      if (replacements < 3) await reading;
      else await expect(reading).rejects.toMatchObject({ code: "ERR_LOG_GONE", path });
      expect(replaced.replacements).toBe(Math.max(0, replacements - 3));
      if (replacements < 3) expect(replaced.headerId).toBe(`s${replacements + 1}`);
    }
  });
});

describe("a log", () => {
  const first = jsonLines(userEntry("a", null, "first"));
  const pending = jsonLines(userEntry("b", "a", "second")).slice(0, -1);

  function opened(text: string): { readonly log: TrackedLog; fail: boolean } {
    const memory = new MemoryFileSystem();
    memory.writeFileSync(path, Buffer.from(text));
    const fs = observedFileSystem(memory, (call, effect) => {
      if (call.name === "readSync" && result.fail) throw new Error("EIO: i/o error, read");
      return effect();
    });
    const result = { log: new TrackedLog(new LogFile(fs, path), options), fail: false };
    runSync(result.log.open());
    return result;
  }

  it("holds a line exactly, without its newline, not at all, or unknown if it is unreadable", () => {
    const text = jsonLines(sampleHeader()) + first + pending;
    const state = opened(text);
    const { log } = state;
    expect(log.holds("a", Buffer.from(first))).toBe("yes");
    expect(log.holds("b", Buffer.from(`${pending}\n`))).toBe("unterminated");
    expect(log.holds("c", Buffer.from(first))).toBe("no");
    expect(log.holds("a", Buffer.from(first.replace("first", "other")))).toBe("no");
    expect(log.holds("a", Buffer.from(first.replace("first", "longer")))).toBe("no");
    expect(log.size).toBe(text.length);
    expect(log.isTerminated).toBe(false);
    state.fail = true;
    expect(log.holds("a", Buffer.from(first))).toBe("unknown");
  });

  it("says where the line of an entry starts", () => {
    const header = jsonLines(sampleHeader());
    const { log } = opened(header + first + pending);
    expect([log.offsetOf("a"), log.offsetOf("b"), log.offsetOf("c")]).toEqual([
      header.length,
      header.length + first.length,
      -1,
    ]);
  });

  it("has grown by what was written to it only as the same file", () => {
    const memory = new MemoryFileSystem();
    memory.writeFileSync(path, Buffer.from(jsonLines(sampleHeader()) + first));
    const log = new TrackedLog(new LogFile(memory, path), options);
    const stat = memory.statSync(path);
    if (stat === null) throw new Error("no file");
    const grown = { ...stat, size: stat.size + 5 };
    expect(log.grewBy(grown, 5)).toBe(false);
    runSync(log.open());
    expect(log.end).toBe(stat.size);
    expect(log.grewBy(grown, 5)).toBe(true);
    expect(log.grewBy(grown, 4)).toBe(false);
    expect(log.grewBy({ ...grown, ino: stat.ino + 1 }, 5)).toBe(false);
    expect(log.grewBy({ ...grown, dev: stat.dev + 1 }, 5)).toBe(false);
  });

  it("has no size before it was opened", () => {
    const memory = new MemoryFileSystem();
    memory.writeFileSync(path, Buffer.from(jsonLines(sampleHeader())));
    expect(new TrackedLog(new LogFile(memory, path), options).size).toBe(0);
  });

  it("throws what is no replacement when it reads on", () => {
    const memory = new MemoryFileSystem();
    memory.writeFileSync(path, Buffer.from(jsonLines(sampleHeader()) + first));
    let isFailing = false;
    const fs = observedFileSystem(memory, (call, effect) => {
      if (call.name === "readSync" && isFailing) throw new Error("EIO: i/o error, read");
      return effect();
    });
    const log = new TrackedLog(new LogFile(fs, path), options);
    runSync(log.open());
    const fd = memory.openSync(path, "append");
    memory.writeSync(fd, Buffer.from(`${pending}\n`), 0, pending.length + 1);
    memory.closeSync(fd);
    isFailing = true;
    const catchUp = (): void => runSync(log.catchUp());
    expect(catchUp).toThrow(expect.objectContaining({ code: "ERR_LOG_UNREADABLE" }));
    expect(log.generation).toBe(1);
    isFailing = false;
    catchUp();
    expect([log.generation, log.offsetOf("b") > 0]).toEqual([1, true]);
  });
});
