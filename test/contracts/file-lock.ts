/** What every lock adapter must do: exclude, and never give away what is somebody else's. */
import { describe, expect, it } from "vitest";
import type { FileLock, HeldLock } from "../../packages/core/src/store/ports.ts";

/** A lock, and paths that it can lock. */
export interface FileLockSetting {
  readonly lock: FileLock;
  readonly path: string;
  readonly otherPath: string;
  /** Takes the lock of `path` from its holder, as another process does that finds it stale. */
  readonly takeOver: () => void;
}

/** Acquires a lock that must be free. */
export function acquire(lock: FileLock, path: string): HeldLock {
  const held = lock.tryAcquireSync(path);
  if (held === null) throw new Error(`somebody holds the lock of ${path}`);
  return held;
}

/** The suite. `setUp` is called inside each test. */
export function fileLockContract(name: string, setUp: () => FileLockSetting): void {
  describe(`${name} as a lock`, () => {
    describe("exclusion", () => {
      exclusion(setUp);
    });
    describe("a lock that was taken over", () => {
      takenOver(setUp);
    });
  });
}

function exclusion(setUp: () => FileLockSetting): void {
  it("is given to one holder at a time, also in one process", () => {
    const { lock, path } = setUp();
    const held = acquire(lock, path);
    expect(held.isOursSync()).toBe(true);
    expect(lock.tryAcquireSync(path)).toBeNull();
    expect(lock.tryAcquireSync(path)).toBeNull();
    expect(held.isOursSync()).toBe(true);
    held.releaseSync();
  });

  it("can be acquired again once it was released", () => {
    const { lock, path } = setUp();
    for (let turn = 0; turn < 20; turn += 1) acquire(lock, path).releaseSync();
    const held = acquire(lock, path);
    expect(held.isOursSync()).toBe(true);
    held.releaseSync();
    expect(held.isOursSync()).toBe(false);
  });

  it("locks paths independently of each other", () => {
    const { lock, path, otherPath } = setUp();
    const one = acquire(lock, path);
    const other = acquire(lock, otherPath);
    one.releaseSync();
    expect(other.isOursSync()).toBe(true);
    expect(lock.tryAcquireSync(otherPath)).toBeNull();
    other.releaseSync();
  });

  it("does not give away its successor's lock when it is released twice", () => {
    const { lock, path } = setUp();
    const first = acquire(lock, path);
    first.releaseSync();
    const second = acquire(lock, path);
    first.releaseSync();
    expect(first.isOursSync()).toBe(false);
    expect(second.isOursSync()).toBe(true);
    expect(lock.tryAcquireSync(path)).toBeNull();
    second.releaseSync();
  });
}

function takenOver(setUp: () => FileLockSetting): void {
  it("is no longer its old holder's", () => {
    const { lock, path, takeOver } = setUp();
    const held = acquire(lock, path);
    takeOver();
    expect(held.isOursSync()).toBe(false);
    held.releaseSync();
  });

  it("is left to its new holder when the old one releases", () => {
    const { lock, path, takeOver } = setUp();
    const held = acquire(lock, path);
    takeOver();
    held.releaseSync();
    expect(lock.tryAcquireSync(path)).toBeNull();
  });

  it("is not given to others of the old holder's process either", () => {
    const { lock, path, takeOver } = setUp();
    const held = acquire(lock, path);
    takeOver();
    expect(lock.tryAcquireSync(path)).toBeNull();
    held.releaseSync();
  });
}
