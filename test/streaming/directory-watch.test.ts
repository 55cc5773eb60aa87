/** Hints of a directory: shared, counted, and silent when the watching fails. */
import { EventEmitter } from "node:events";
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type HintListener, watchDirectory } from "@branchlog/streaming";
import { DirectoryWatches } from "../../packages/streaming/src/directory-watch.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { watchersNow } from "./support/resources.ts";
import { uncaughtError } from "../support/uncaught-error.ts";

/** A watcher of the system that says what the test wants it to say. */
class StagedWatcher extends EventEmitter {
  isClosed = false;

  close(): void {
    this.isClosed = true;
  }

  hint(name: string | null, type = "change"): void {
    this.emit("change", type, name);
  }
}

/** Watches whose watchers are staged; `failure` is thrown instead of starting one. */
function stagedWatches() {
  const started: StagedWatcher[] = [];
  const stage: { failure: Error | null } = { failure: null };
  const watches = new DirectoryWatches(() => {
    if (stage.failure) throw stage.failure;
    const watcher = new StagedWatcher();
    started.push(watcher);
    return watcher;
  });
  return { watches, started, stage };
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Listens until the test is over, and keeps the hints. */
function hintsOf(directory: string): (string | null)[] {
  const hints: (string | null)[] = [];
  const watch = watchDirectory(directory, (name) => hints.push(name));
  onTestFinished(() => watch.closeSync());
  return hints;
}

it("watchDirectory hints at files that are created, changed, renamed and deleted", async () => {
  const directory = temporaryDirectory();
  const hints = hintsOf(directory);
  writeFileSync(join(directory, "a"), "1");
  await expect.poll(() => hints).toContain("a");
  renameSync(join(directory, "a"), join(directory, "b"));
  await expect.poll(() => hints).toContain("b");
  hints.length = 0;
  rmSync(join(directory, "b"));
  await expect.poll(() => hints).toContain("b");
  expect(hints).not.toContain(null);
});

it("watchDirectory hints null once when the directory is missing, then retries", async () => {
  const directory = join(temporaryDirectory(), "later");
  const first = hintsOf(directory);
  expect(first).toEqual([]);
  await expect.poll(() => first).toEqual([null]);
  mkdirSync(directory);
  const second = hintsOf(directory);
  writeFileSync(join(directory, "a"), "");
  await expect.poll(() => second).toContain("a");
  expect(first[1]).toBe("a");
  expect(second).not.toContain(null);
});

it("watchDirectory stops after one null when the directory is deleted", async () => {
  const directory = join(temporaryDirectory(), "gone");
  mkdirSync(directory);
  const hints = hintsOf(directory);
  rmSync(directory, { recursive: true });
  await expect.poll(() => hints).toContain(null);
  mkdirSync(directory);
  const others = hintsOf(directory);
  writeFileSync(join(directory, "a"), "");
  await expect.poll(() => others).toContain("a");
  await expect.poll(() => hints).toContain("a");
  expect(hints.filter((hint) => hint === null)).toHaveLength(1);
});

it("watchDirectory detects a replaced parent at the next call", async () => {
  const parent = join(temporaryDirectory(), "parent");
  const directory = join(parent, "child");
  mkdirSync(directory, { recursive: true });
  const hints = hintsOf(directory);
  renameSync(parent, `${parent}-old`);
  mkdirSync(directory, { recursive: true });
  const others = hintsOf(directory);
  writeFileSync(join(directory, "a"), "");
  await expect.poll(() => others).toContain("a");
  expect(hints).toContain(null);
  expect(hints).toContain("a");
});

it("watchDirectory keeps one watcher for a thousand listeners", async () => {
  await expect.poll(watchersNow).toBe(0);
  const directory = temporaryDirectory();
  const all = Array.from({ length: 1000 }, () => watchDirectory(directory, () => undefined));
  expect(watchersNow()).toBe(1);
  for (const watch of all.slice(1)) watch.closeSync();
  for (const watch of all.slice(1)) watch.closeSync();
  expect(watchersNow()).toBe(1);
  all[0]?.closeSync();
  await expect.poll(watchersNow).toBe(0);
});

it("a watcher is started for the first listener and closed with the last", () => {
  const { watches, started } = stagedWatches();
  const directory = temporaryDirectory();
  const same = `${directory}/./`;
  const listener: HintListener = () => undefined;
  const one = watches.watch(directory, listener);
  const two = watches.watch(same, listener);
  expect(started).toHaveLength(1);
  one.closeSync();
  one.closeSync();
  expect(started[0]?.isClosed).toBe(false);
  two.closeSync();
  expect(started[0]?.isClosed).toBe(true);
  watches.watch(directory, listener).closeSync();
  expect(started).toHaveLength(2);
});

it.each(["EMFILE", "ENOSPC"])(
  "a watcher hints null once when it cannot start for %s",
  async (code) => {
    const { watches, started, stage } = stagedWatches();
    const directory = temporaryDirectory();
    const hints: (string | null)[] = [];
    stage.failure = Object.assign(new Error("no more watchers"), { code });
    const watch = watches.watch(directory, (name) => hints.push(name));
    expect(hints).toEqual([]);
    await turn();
    expect(hints).toEqual([null]);
    stage.failure = null;
    const other = watches.watch(directory, () => undefined);
    started[0]?.hint("a");
    expect(hints).toEqual([null, "a"]);
    watch.closeSync();
    other.closeSync();
    expect(started[0]?.isClosed).toBe(true);
  },
);

it("a watcher is closed and hints null once when it fails later", async () => {
  const { watches, started } = stagedWatches();
  const hints: (string | null)[] = [];
  watches.watch(temporaryDirectory(), (name) => hints.push(name));
  const [watcher] = started;
  watcher?.hint("a");
  watcher?.emit("error", new Error("lost"));
  watcher?.emit("error", new Error("lost again"));
  watcher?.hint("b");
  await turn();
  expect(hints).toEqual(["a", null]);
  expect(watcher?.isClosed).toBe(true);
});

it("a watcher hints null when the system reports no name", () => {
  const { watches, started } = stagedWatches();
  const hints: (string | null)[] = [];
  watches.watch(temporaryDirectory(), (name) => hints.push(name));
  started[0]?.hint(null);
  expect(hints).toEqual([null]);
  expect(started[0]?.isClosed).toBe(false);
});

describe("a listener", () => {
  it("a listener that throws does not stop the others", async () => {
    const { watches, started } = stagedWatches();
    const directory = temporaryDirectory();
    const hints: (string | null)[] = [];
    watches.watch(directory, () => {
      throw new Error("a bug of the listener");
    });
    watches.watch(directory, (name) => hints.push(name));
    const error = await uncaughtError(() => started[0]?.hint("a"));
    expect(error.message).toBe("a bug of the listener");
    expect(hints).toEqual(["a"]);
  });

  it("a listener that is added or removed during a hint does not change that hint", () => {
    const { watches, started } = stagedWatches();
    const directory = temporaryDirectory();
    const hints: string[] = [];
    const first = watches.watch(directory, () => {
      hints.push("first");
      second.closeSync();
      watches.watch(directory, () => hints.push("third"));
    });
    const second = watches.watch(directory, () => hints.push("second"));
    started[0]?.hint("a");
    expect(hints).toEqual(["first"]);
    first.closeSync();
    started[0]?.hint("a");
    expect(hints).toEqual(["first", "third"]);
  });

  it("a removed listener is not notified of an earlier failure", async () => {
    const { watches, stage } = stagedWatches();
    const hints: (string | null)[] = [];
    stage.failure = new Error("no");
    watches.watch(temporaryDirectory(), (name) => hints.push(name)).closeSync();
    await turn();
    expect(hints).toEqual([]);
  });
});
