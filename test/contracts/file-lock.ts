/**
 * What every lock adapter must do: exclude others, and never release the lock of another holder.
 */
import { equal } from "node:assert/strict";
import type { FileLock, HeldLock } from "@branchlog/core/testing";
import type { Contract } from "./contract.ts";

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
  if (held === null) throw new Error(`the lock of ${path} is held`);
  return held;
}

/** The suite. `setUp` is called inside each check. */
export function fileLockContract(setUp: () => FileLockSetting): Contract {
  return {
    "is given to one holder at a time, also in one process"() {
      const { lock, path } = setUp();
      const held = acquire(lock, path);
      equal(held.isOursSync(), true);
      equal(lock.tryAcquireSync(path), null);
      equal(lock.tryAcquireSync(path), null);
      equal(held.isOursSync(), true);
      held.releaseSync();
    },

    "can be acquired again once it was released"() {
      const { lock, path } = setUp();
      for (let turn = 0; turn < 20; turn += 1) acquire(lock, path).releaseSync();
      const held = acquire(lock, path);
      equal(held.isOursSync(), true);
      held.releaseSync();
      equal(held.isOursSync(), false);
    },

    "locks paths independently of each other"() {
      const { lock, path, otherPath } = setUp();
      const one = acquire(lock, path);
      const other = acquire(lock, otherPath);
      one.releaseSync();
      equal(other.isOursSync(), true);
      equal(lock.tryAcquireSync(otherPath), null);
      other.releaseSync();
    },

    "does not give away its successor's lock when it is released twice"() {
      const { lock, path } = setUp();
      const first = acquire(lock, path);
      first.releaseSync();
      const second = acquire(lock, path);
      first.releaseSync();
      equal(first.isOursSync(), false);
      equal(second.isOursSync(), true);
      equal(lock.tryAcquireSync(path), null);
      second.releaseSync();
    },

    "that was taken over is no longer its old holder's"() {
      const { lock, path, takeOver } = setUp();
      const held = acquire(lock, path);
      takeOver();
      equal(held.isOursSync(), false);
      held.releaseSync();
    },

    "that was taken over is left to its new holder when the old one releases"() {
      const { lock, path, takeOver } = setUp();
      const held = acquire(lock, path);
      takeOver();
      held.releaseSync();
      equal(lock.tryAcquireSync(path), null);
    },

    "that was taken over is not given to others of the old holder's process either"() {
      const { lock, path, takeOver } = setUp();
      const held = acquire(lock, path);
      takeOver();
      equal(lock.tryAcquireSync(path), null);
      held.releaseSync();
    },
  };
}
