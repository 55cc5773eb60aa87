/** The lock between processes, seen from one; see lockfile-lock-processes.test.ts for several. */
import fs, {
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { acquire, fileLockContract } from "../../contracts/file-lock.ts";
import {
  createLockfileLock,
  isHeldByAnother,
  lockfileLock,
} from "../../../packages/core/src/platform/lockfile-lock.ts";
import { ownProcessName } from "../../../packages/core/src/platform/process-name.ts";
import { itPasses } from "../../contracts/contract.ts";
import { isLocked, lockPathOf, replaceLock } from "../../support/lock-file.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const quickLock = createLockfileLock({ staleMs: 2_000, updateMs: 1_000 });

/** The lock of a holder of which nothing is known, refreshed some time ago. */
function leaveBehind(path: string, ageMs: number): void {
  symlinkSync("elsewhere", lockPathOf(path));
  touch(path, ageMs);
}

function touch(path: string, ageMs: number): void {
  const time = new Date(Date.now() - ageMs);
  lutimesSync(lockPathOf(path), time, time);
}

itPasses(
  "proper-lockfile",
  fileLockContract(() => {
    const root = temporaryDirectory();
    const path = join(root, "a.jsonl");
    const takeOver = (): void => {
      replaceLock(lockPathOf(path));
    };
    return { lock: lockfileLock, path, otherPath: join(root, "b.jsonl"), takeOver };
  }),
);

describe("the link of a lock", () => {
  it("is next to the log while the lock is held, and the log need not exist", () => {
    const root = temporaryDirectory();
    const held = acquire(lockfileLock, join(root, "a.jsonl"));
    expect(readdirSync(root)).toEqual(["a.jsonl.branchlog-lock"]);
    held.releaseSync();
    expect(readdirSync(root)).toEqual([]);
  });

  it("is taken over from an unknown holder once it is stale, and not before", () => {
    const path = join(temporaryDirectory(), "a.jsonl");
    leaveBehind(path, 7_000);
    expect(lockfileLock.tryAcquireSync(path)).toBeNull();
    const held = acquire(quickLock, path);
    expect(held.isOursSync()).toBe(true);
    held.releaseSync();
    expect(isLocked(path)).toBe(false);
  });

  it("names its holder, and is taken over at once when that process has ended", () => {
    const path = join(temporaryDirectory(), "a.jsonl");
    const held = acquire(lockfileLock, path);
    const name = readlinkSync(lockPathOf(path));
    expect(name).toBe(ownProcessName());
    held.releaseSync();
    // The same process id with another start time: it was reused.
    symlinkSync(name.replace(/\.\d+\./, ".1."), lockPathOf(path));
    const isKnown = name.includes(".");
    expect(lockfileLock.tryAcquireSync(path)?.isOursSync() ?? false).toBe(isKnown);
  });

  it("is a directory when links are unsupported, with the same exclusion", () => {
    const path = join(temporaryDirectory(), "a.jsonl");
    const symlink = vi.spyOn(fs, "symlinkSync").mockImplementation(() => {
      throw Object.assign(new Error("EPERM"), { code: "EPERM" });
    });
    onTestFinished(() => symlink.mockRestore());
    const held = acquire(lockfileLock, path);
    expect(lstatSync(lockPathOf(path)).isDirectory()).toBe(true);
    expect(held.isOursSync()).toBe(true);
    symlink.mockRestore();
    expect(createLockfileLock({ staleMs: 2_000, updateMs: 1_000 }).tryAcquireSync(path)).toBeNull();
    expect(lockfileLock.holderSync?.(path)).toMatchObject({ pid: null, isOwnProcess: true });
    held.releaseSync();
    expect(isLocked(path)).toBe(false);
  });

  it("stays ours when the timer has touched it", async () => {
    const path = join(temporaryDirectory(), "a.jsonl");
    const held = acquire(quickLock, path);
    onTestFinished(() => held.releaseSync());
    const { mtimeMs } = lstatSync(lockPathOf(path));
    const touched = (): void =>
      expect(lstatSync(lockPathOf(path)).mtimeMs).toBeGreaterThan(mtimeMs);
    await vi.waitFor(touched, { timeout: 30_000 });
    expect(held.isOursSync()).toBe(true);
    held.releaseSync();
    expect(isLocked(path)).toBe(false);
  });

  it("is marked lost, without an exception, when the timer finds it replaced", async () => {
    const path = join(temporaryDirectory(), "a.jsonl");
    const held = acquire(quickLock, path);
    unlinkSync(lockPathOf(path));
    leaveBehind(path, 0);
    const { ino, mtimeMs } = lstatSync(lockPathOf(path));
    // A second lock, made later, is touched later: by then the timer of the first has run.
    const later = acquire(quickLock, `${path}-later`);
    onTestFinished(() => later.releaseSync());
    const before = lstatSync(lockPathOf(`${path}-later`)).mtimeMs;
    const touched = (): void =>
      expect(lstatSync(lockPathOf(`${path}-later`)).mtimeMs).toBeGreaterThan(before);
    await vi.waitFor(touched, { timeout: 30_000 });
    expect(held.isOursSync()).toBe(false);
    held.releaseSync();
    expect(lstatSync(lockPathOf(path))).toMatchObject({ ino, mtimeMs });
  });
});

describe("what is not contention", () => {
  it("is thrown: a directory that does not exist", () => {
    const path = join(temporaryDirectory(), "missing", "a.jsonl");
    expect(() => lockfileLock.tryAcquireSync(path)).toThrow(
      expect.objectContaining({ code: "ENOENT" }),
    );
  });

  it("is thrown: a stale directory with something in it", () => {
    const path = join(temporaryDirectory(), "a.jsonl");
    mkdirSync(lockPathOf(path));
    writeFileSync(join(lockPathOf(path), "note"), "");
    const time = new Date(Date.now() - 60_000);
    utimesSync(lockPathOf(path), time, time);
    expect(() => lockfileLock.tryAcquireSync(path)).toThrow(/ENOTEMPTY|EPERM/);
  });

  it.each([
    ["ELOCKED", undefined, "linux", true],
    ["EPERM", "mkdir", "win32", true],
    ["EPERM", "mkdir", "linux", false],
    ["EPERM", "rmdir", "win32", false],
    ["EACCES", "mkdir", "win32", false],
    ["ENOSPC", "mkdir", "linux", false],
    // Created, and considered stale by another before it was checked; or no place to create it.
    ["ENOENT", "stat", "linux", true],
    ["ENOENT", "mkdir", "linux", false],
    ["ENOENT", "symlink", "linux", false],
  ] as const)("classifies %s of %s on %s: held by another is %s", (code, syscall, on, held) => {
    expect(isHeldByAnother(Object.assign(new Error(code), { code, syscall }), on)).toBe(held);
    expect(isHeldByAnother(new Error(code), on)).toBe(false);
    expect(isHeldByAnother(code, on)).toBe(false);
  });

  it("never throws at release, not even when the lock cannot be removed", () => {
    const path = join(temporaryDirectory(), "a.jsonl");
    const held = acquire(lockfileLock, path);
    unlinkSync(lockPathOf(path));
    mkdirSync(join(lockPathOf(path), "note"), { recursive: true });
    expect(() => held.releaseSync()).not.toThrow();
    expect(held.isOursSync()).toBe(false);
  });
});

describe("a lock that this process holds", () => {
  it("is not taken over by itself when it became stale after a long stall", () => {
    const path = join(temporaryDirectory(), "a.jsonl");
    const held = acquire(quickLock, path);
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    vi.setSystemTime(Date.now() + 60_000);
    expect(quickLock.tryAcquireSync(path)).toBeNull();
    expect(held.isOursSync()).toBe(true);
    held.releaseSync();
    expect(isLocked(path)).toBe(false);
  });

  it("names this process as the holder, unlike one that another process holds", () => {
    const path = join(temporaryDirectory(), "a.jsonl");
    expect(lockfileLock.holderSync?.(path)).toBeNull();
    leaveBehind(path, 0);
    expect(lockfileLock.holderSync?.(path)).toMatchObject({ isOwnProcess: false });
    unlinkSync(lockPathOf(path));
    const held = acquire(lockfileLock, path);
    expect(lockfileLock.holderSync?.(path)).toMatchObject({ pid: process.pid, isOwnProcess: true });
    held.releaseSync();
    leaveBehind(path, 0);
    expect(lockfileLock.holderSync?.(path)).toMatchObject({ isOwnProcess: false });
  });
});
