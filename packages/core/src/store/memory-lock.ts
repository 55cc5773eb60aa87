/**
 * The lock port inside one process: exclusive by path, never stale. A test may play the thief
 * with `breakLock`. Not for files that other processes write.
 */
import type { FileLock, HeldLock } from "./ports.ts";

/** Locks by exact path. Acquiring and releasing cost O(1). */
export class MemoryLock implements FileLock {
  readonly #holders = new Map<string, HeldLock>();

  /** Null: the path is locked already. Never throws. */
  tryAcquireSync(path: string): HeldLock | null {
    if (this.#holders.has(path)) return null;
    const isOursSync = (): boolean => this.#holders.get(path) === held;
    const held: HeldLock = {
      isOursSync,
      releaseSync: () => {
        if (isOursSync()) this.#holders.delete(path);
      },
    };
    this.#holders.set(path, held);
    return held;
  }

  /** Takes the lock from its holder, as a process does that finds it stale. */
  breakLock(path: string): void {
    this.#holders.delete(path);
  }
}

const unshared: HeldLock = { isOursSync: () => true, releaseSync: () => undefined };

/** Grants every request: for logs that nobody else can reach, such as a draft in memory. */
export const noLock: FileLock = { tryAcquireSync: () => unshared };
