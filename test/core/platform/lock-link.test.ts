/** What the link of a lock removes, and what it leaves: the races, one step at a time. */
import nodeFs, {
  lstatSync,
  lutimesSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { LockLink, holderOf } from "../../../packages/core/src/platform/lockfile-lock.ts";
import { isThere, replaceLock } from "../../support/lock-file.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const staleMs = 2_000;

function setUp(): { path: string; link: LockLink } {
  const path = join(temporaryDirectory(), "lock");
  return { path, link: new LockLink(path, staleMs) };
}

/** The link of an unknown holder, refreshed `ageMs` ago. */
function makeOld(path: string, ageMs: number): void {
  symlinkSync("elsewhere", path);
  const time = new Date(Date.now() - ageMs);
  lutimesSync(path, time, time);
}

/** The steps by which proper-lockfile acquires. */
function make({ fs }: LockLink, path: string): void {
  fs.mkdirSync();
  fs.utimesSync(path, new Date(0), new Date(0));
  fs.statSync();
}

describe("the link of another holder", () => {
  it.each<readonly [what: string, change: (path: string) => void]>([
    ["another process took it over since our stat (proper-lockfile#121)", replaceLock],
    [
      "its holder woke up and touched it since we looked",
      (path) => lutimesSync(path, new Date(), new Date()),
    ],
    [
      "another stale one is there than the one of our stat",
      (path) => {
        unlinkSync(path);
        makeOld(path, staleMs + 900);
      },
    ],
  ])("is kept if %s", (_, change) => {
    const { path, link } = setUp();
    makeOld(path, staleMs + 500);
    link.fs.statSync();
    change(path);
    link.fs.rmdirSync();
    expect(isThere(path)).toBe(true);
  });
});

describe("a link of ours", () => {
  it("keeps its creation time when its precision is probed", () => {
    const { path, link } = setUp();
    make(link, path);
    expect(lstatSync(path).mtimeMs).toBeGreaterThan(1_700_000_000_000);
  });

  it("is not ours after it was marked lost", () => {
    const { path, link } = setUp();
    make(link, path);
    link.markLost();
    expect(link.isOurs()).toBe(false);
    link.removeIfOurs();
    expect(isThere(path)).toBe(false);
  });

  it("is not ours if it cannot be read", () => {
    const { path, link } = setUp();
    make(link, path);
    unlinkSync(path);
    expect(link.isOurs()).toBe(false);
    expect(() => link.removeIfOurs()).not.toThrow();
  });
});

describe("a lock taken over while its holder touches it", () => {
  const inThatMoment: readonly (readonly [string, (path: string) => void])[] = [
    [
      "by another link of the same time",
      (path) => {
        const { mtime } = lstatSync(path);
        // Not removed: the number of its inode would be free then.
        renameSync(path, `${path}.before`);
        symlinkSync(readlinkSync(`${path}.before`), path);
        lutimesSync(path, mtime, mtime);
      },
    ],
    ["by a touch of another process", (path) => lutimesSync(path, new Date(), new Date(1_000))],
  ];

  it.each(inThatMoment)("is lost, %s", (_, takeOver) => {
    const { path, link } = setUp();
    make(link, path);
    // The two steps of the holder have another process between them.
    const touch = vi.spyOn(nodeFs, "lutimesSync").mockImplementationOnce((...call) => {
      touch.mockRestore();
      lutimesSync(...call);
      takeOver(path);
    });
    onTestFinished(() => touch.mockRestore());
    expect(() => link.fs.utimesSync(path, new Date(), new Date())).toThrow("taken over");
    expect(isThere(path)).toBe(true);
  });
});

describe("the holder of a lock", () => {
  it("has its process id and start while there is a link", () => {
    const { path, link } = setUp();
    expect(holderOf(path)).toBeNull();
    make(link, path);
    const { pid, heldMs, refreshedMsAgo } = holderOf(path) ?? {};
    expect(pid).toBe(process.pid);
    for (const ms of [heldMs, refreshedMsAgo]) {
      expect(ms).toBeGreaterThanOrEqual(0);
      expect(ms).toBeLessThan(60_000);
    }
    const minuteAgo = new Date(Date.now() - 60_000);
    lutimesSync(path, minuteAgo, minuteAgo);
    expect(Math.round((holderOf(path)?.refreshedMsAgo ?? 0) / 10_000)).toBe(6);
  });

  it("is unknown when the link has another form, or a directory has its name", () => {
    const { path } = setUp();
    symlinkSync("elsewhere", path);
    expect(holderOf(path)).toMatchObject({ pid: null });
    unlinkSync(path);
    mkdirSync(path);
    expect(holderOf(path)).toMatchObject({ pid: null });
  });

  it("has held it for 0 ms when the clock went back", () => {
    const { path } = setUp();
    mkdirSync(path);
    utimesSync(path, 1, new Date(Date.now() + 60_000));
    expect(holderOf(path)).toMatchObject({ refreshedMsAgo: 0 });
  });
});
