/** What the lock directory removes, and what it leaves: the races, one step at a time. */
import nodeFs, {
  existsSync,
  mkdirSync,
  renameSync,
  rmdirSync,
  statSync,
  utimesSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { LockDirectory, holderOf } from "../../../packages/core/src/store/lockfile-lock.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const staleMs = 2_000;

function setUp(): { path: string; directory: LockDirectory } {
  const path = join(temporaryDirectory(), "lock");
  return { path, directory: new LockDirectory(path, staleMs) };
}

/** A directory that was made `ageMs` ago. */
function makeOld(path: string, ageMs: number): void {
  mkdirSync(path);
  const time = new Date(Date.now() - ageMs);
  utimesSync(path, time, time);
}

/** The steps by which proper-lockfile acquires. */
function make({ fs }: LockDirectory, path: string): void {
  fs.mkdirSync();
  fs.utimesSync(path, new Date(0), new Date(0));
  fs.statSync();
}

describe("a directory that is in the place of the lock", () => {
  it("is removed if it is stale", () => {
    const { path, directory } = setUp();
    makeOld(path, staleMs + 500);
    expect(() => directory.fs.mkdirSync()).toThrow(expect.objectContaining({ code: "EEXIST" }));
    directory.fs.statSync();
    directory.fs.rmdirSync();
    expect(existsSync(path)).toBe(false);
  });

  it("stays if another process took it over since our stat (proper-lockfile#121)", () => {
    const { path, directory } = setUp();
    makeOld(path, staleMs + 500);
    directory.fs.statSync();
    rmdirSync(path);
    mkdirSync(path);
    directory.fs.rmdirSync();
    expect(existsSync(path)).toBe(true);
  });

  it("stays if its holder woke up and touched it since we looked", () => {
    const { path, directory } = setUp();
    makeOld(path, staleMs + 500);
    directory.fs.statSync();
    utimesSync(path, new Date(), new Date());
    directory.fs.rmdirSync();
    expect(existsSync(path)).toBe(true);
  });

  it("stays if another stale one is there than the one of our stat", () => {
    const { path, directory } = setUp();
    makeOld(path, staleMs + 500);
    directory.fs.statSync();
    rmdirSync(path);
    makeOld(path, staleMs + 900);
    directory.fs.rmdirSync();
    expect(existsSync(path)).toBe(true);
  });
});

describe("a directory of ours", () => {
  it("is ours from the moment it was made until it is removed", () => {
    const { path, directory } = setUp();
    expect(directory.isOurs()).toBe(false);
    make(directory, path);
    expect(directory.isOurs()).toBe(true);
    directory.fs.rmdirSync();
    expect(existsSync(path)).toBe(false);
    expect(directory.isOurs()).toBe(false);
  });

  it("keeps the time it was made when its precision is probed", () => {
    const { path, directory } = setUp();
    make(directory, path);
    expect(statSync(path).mtimeMs).toBeGreaterThan(1_700_000_000_000);
  });

  it("stays ours when it is touched by our timer", () => {
    const { path, directory } = setUp();
    make(directory, path);
    const time = new Date(1_700_000_000_123);
    directory.fs.utimesSync(path, time, time);
    expect(directory.isOurs()).toBe(true);
    expect(directory.fs.statSync().mtime).toEqual(time);
    directory.fs.rmdirSync();
    expect(existsSync(path)).toBe(false);
  });

  it("is not ours once it was replaced, and then neither touched nor removed", () => {
    const { path, directory } = setUp();
    make(directory, path);
    rmdirSync(path);
    mkdirSync(path);
    const { mtimeMs } = statSync(path);
    expect(directory.isOurs()).toBe(false);
    const touch = (): void => directory.fs.utimesSync(path, new Date(0), new Date(0));
    expect(touch).toThrow(expect.objectContaining({ code: "ENOENT" }));
    expect(statSync(path).mtimeMs).toBe(mtimeMs);
    directory.fs.rmdirSync();
    expect(existsSync(path)).toBe(true);
  });

  it("is not ours once it was marked lost", () => {
    const { path, directory } = setUp();
    make(directory, path);
    directory.markLost();
    expect(directory.isOurs()).toBe(false);
    directory.removeIfOurs();
    expect(existsSync(path)).toBe(false);
  });

  it("is not ours if it cannot be read", () => {
    const { path, directory } = setUp();
    make(directory, path);
    rmdirSync(path);
    expect(directory.isOurs()).toBe(false);
    expect(() => directory.removeIfOurs()).not.toThrow();
  });
});

describe("a lock that is taken over while its holder touches it", () => {
  const inThatMoment: readonly (readonly [string, (path: string) => void])[] = [
    [
      "by another directory of the same time",
      (path) => {
        const { mtime } = statSync(path);
        // Not removed: the number of its inode would be free then.
        renameSync(path, `${path}.before`);
        mkdirSync(path);
        utimesSync(path, mtime, mtime);
      },
    ],
    ["by a touch of another process", (path) => utimesSync(path, new Date(), new Date(1_000))],
  ];

  it.each(inThatMoment)("is lost, %s", (_, takeOver) => {
    const { path, directory } = setUp();
    make(directory, path);
    // The two steps of the holder have another process between them.
    const touch = vi.spyOn(nodeFs, "utimesSync").mockImplementationOnce((...call) => {
      touch.mockRestore();
      utimesSync(...call);
      takeOver(path);
    });
    onTestFinished(() => touch.mockRestore());
    expect(() => directory.fs.utimesSync(path, new Date(), new Date())).toThrow("taken over");
    expect(existsSync(path)).toBe(true);
  });
});

describe("the holder of a lock directory", () => {
  it("is known by its process id, and since when, while there is a directory", () => {
    const { path, directory } = setUp();
    expect(holderOf(path)).toBeNull();
    make(directory, path);
    const { pid, heldMs, refreshedMsAgo } = holderOf(path) ?? {};
    expect(pid).toBe(process.pid);
    for (const ms of [heldMs, refreshedMsAgo]) {
      expect(ms).toBeGreaterThanOrEqual(0);
      expect(ms).toBeLessThan(60_000);
    }
    const minuteAgo = new Date(Date.now() - 60_000);
    utimesSync(path, 4_194_304, minuteAgo);
    expect(holderOf(path)).toMatchObject({ pid: 4_194_304 });
    expect(Math.round((holderOf(path)?.refreshedMsAgo ?? 0) / 10_000)).toBe(6);
  });

  it.each([0, -1, 4_194_305, 1_790_000_000])(
    "is not told by %d seconds, which are no process id",
    (seconds) => {
      const { path } = setUp();
      mkdirSync(path);
      utimesSync(path, seconds, new Date());
      expect(holderOf(path)).toMatchObject({ pid: null });
    },
  );

  it("was there for no time at all when the directory is of the future", () => {
    const { path } = setUp();
    mkdirSync(path);
    utimesSync(path, 1, new Date(Date.now() + 60_000));
    expect(holderOf(path)).toMatchObject({ refreshedMsAgo: 0 });
  });
});
