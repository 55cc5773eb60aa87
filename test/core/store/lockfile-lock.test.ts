/** The lock between processes, seen from one; see lockfile-lock-processes.test.ts for several. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  rmdirSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { acquire, fileLockContract } from "@branchlog/core/testing";
import {
  createLockfileLock,
  isHeldByAnother,
  lockfileLock,
} from "../../../packages/core/src/store/lockfile-lock.ts";
import { itPasses } from "../../support/contract.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const quickLock = createLockfileLock({ staleMs: 2_000, updateMs: 1_000 });

function directoryOf(path: string): string {
  return `${path}.branchlog-lock`;
}

/** What is left of a process that was killed while it held the lock, some time ago. */
function leaveBehind(path: string, ageMs: number): void {
  mkdirSync(directoryOf(path));
  const time = new Date(Date.now() - ageMs);
  utimesSync(directoryOf(path), time, time);
}

itPasses(
  "proper-lockfile",
  fileLockContract(() => {
    const root = temporaryDirectory();
    const path = join(root, "a.jsonl");
    const takeOver = (): void => {
      rmdirSync(directoryOf(path));
      mkdirSync(directoryOf(path));
    };
    return { lock: lockfileLock, path, otherPath: join(root, "b.jsonl"), takeOver };
  }),
);

describe("the lock directory", () => {
  it("is beside the log while the lock is held, and the log need not exist", () => {
    const root = temporaryDirectory();
    const held = acquire(lockfileLock, join(root, "a.jsonl"));
    expect(readdirSync(root)).toEqual(["a.jsonl.branchlog-lock"]);
    held.releaseSync();
    expect(readdirSync(root)).toEqual([]);
  });

  it("is taken over from a dead holder once it is stale, and not before", () => {
    const path = join(temporaryDirectory(), "a.jsonl");
    leaveBehind(path, 7_000);
    expect(lockfileLock.tryAcquireSync(path)).toBeNull();
    const held = acquire(quickLock, path);
    expect(held.isOursSync()).toBe(true);
    held.releaseSync();
    expect(existsSync(directoryOf(path))).toBe(false);
  });

  it("is taken by a waiter, once it is gone and once it is stale", () => {
    const path = join(temporaryDirectory(), "a.jsonl");
    leaveBehind(path, 0);
    for (let n = 0; n < 3; n += 1) expect(quickLock.tryAcquireSync(path)).toBeNull();
    rmdirSync(directoryOf(path));
    acquire(quickLock, path).releaseSync();
    leaveBehind(path, 1_000);
    for (let n = 0; n < 3; n += 1) expect(quickLock.tryAcquireSync(path)).toBeNull();
    const time = new Date(Date.now() - 2_500);
    utimesSync(directoryOf(path), time, time);
    acquire(quickLock, path).releaseSync();
    expect(existsSync(directoryOf(path))).toBe(false);
  });

  it("stays ours when the timer has touched it", async () => {
    const path = join(temporaryDirectory(), "a.jsonl");
    const held = acquire(quickLock, path);
    onTestFinished(() => held.releaseSync());
    const { mtimeMs } = statSync(directoryOf(path));
    const touched = (): void =>
      expect(statSync(directoryOf(path)).mtimeMs).toBeGreaterThan(mtimeMs);
    await vi.waitFor(touched, { timeout: 30_000 });
    expect(held.isOursSync()).toBe(true);
    held.releaseSync();
    expect(existsSync(directoryOf(path))).toBe(false);
  });

  it("is given up, without an exception, when the timer finds it replaced", async () => {
    const path = join(temporaryDirectory(), "a.jsonl");
    const held = acquire(quickLock, path);
    rmdirSync(directoryOf(path));
    leaveBehind(path, 0);
    const { ino, mtimeMs } = statSync(directoryOf(path));
    // A second lock, made later, is touched later: by then the timer of the first has run.
    const later = acquire(quickLock, `${path}-later`);
    onTestFinished(() => later.releaseSync());
    const before = statSync(directoryOf(`${path}-later`)).mtimeMs;
    const touched = (): void =>
      expect(statSync(directoryOf(`${path}-later`)).mtimeMs).toBeGreaterThan(before);
    await vi.waitFor(touched, { timeout: 30_000 });
    expect(held.isOursSync()).toBe(false);
    held.releaseSync();
    expect(statSync(directoryOf(path))).toMatchObject({ ino, mtimeMs });
  });
});

describe("what is not contention", () => {
  it("is thrown: a directory that does not exist", () => {
    const path = join(temporaryDirectory(), "missing", "a.jsonl");
    expect(() => lockfileLock.tryAcquireSync(path)).toThrow(
      expect.objectContaining({ code: "ENOENT" }),
    );
  });

  it("is thrown: a stale lock with something in it", () => {
    const path = join(temporaryDirectory(), "a.jsonl");
    mkdirSync(directoryOf(path));
    writeFileSync(join(directoryOf(path), "note"), "");
    const time = new Date(Date.now() - 60_000);
    utimesSync(directoryOf(path), time, time);
    expect(() => lockfileLock.tryAcquireSync(path)).toThrow(/ENOTEMPTY|EPERM/);
  });

  it.each([
    ["ELOCKED", undefined, "linux", true],
    ["EPERM", "mkdir", "win32", true],
    ["EPERM", "mkdir", "linux", false],
    ["EPERM", "rmdir", "win32", false],
    ["EACCES", "mkdir", "win32", false],
    ["ENOSPC", "mkdir", "linux", false],
    // Made, and taken for stale by another before it was checked; or no place to make it.
    ["ENOENT", "stat", "linux", true],
    ["ENOENT", "mkdir", "linux", false],
  ] as const)("tells %s of %s on %s apart: held by another is %s", (code, syscall, on, held) => {
    expect(isHeldByAnother(Object.assign(new Error(code), { code, syscall }), on)).toBe(held);
    expect(isHeldByAnother(new Error(code), on)).toBe(false);
    expect(isHeldByAnother(code, on)).toBe(false);
  });

  it("never throws at release, not even when the lock cannot be removed", () => {
    const path = join(temporaryDirectory(), "a.jsonl");
    const held = acquire(lockfileLock, path);
    writeFileSync(join(directoryOf(path), "note"), "");
    expect(() => held.releaseSync()).not.toThrow();
    expect(held.isOursSync()).toBe(false);
  });
});

describe("a lock that this process holds", () => {
  it("is not taken by itself when it has become stale after a long stall", () => {
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
    expect(existsSync(directoryOf(path))).toBe(false);
  });

  it("names itself as the holder, and not one that another process holds", () => {
    const path = join(temporaryDirectory(), "a.jsonl");
    expect(lockfileLock.holderSync?.(path)).toBeNull();
    leaveBehind(path, 0);
    expect(lockfileLock.holderSync?.(path)).toMatchObject({ isOwnProcess: false });
    rmdirSync(directoryOf(path));
    const held = acquire(lockfileLock, path);
    expect(lockfileLock.holderSync?.(path)).toMatchObject({
      pid: process.pid,
      isOwnProcess: true,
    });
    held.releaseSync();
    leaveBehind(path, 0);
    expect(lockfileLock.holderSync?.(path)).toMatchObject({ isOwnProcess: false });
  });
});
