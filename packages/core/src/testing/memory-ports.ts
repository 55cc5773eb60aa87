/** Ports for sessions in memory: own files and locks, real time and real ids. */
import { basename, dirname } from "node:path";
import { systemClock } from "../platform/ports.ts";
import { randomIds } from "../platform/ids.ts";
import type { ChangeHints, FileLock, HeldLock, Ports } from "../platform/ports.ts";
import { MemoryFileSystem } from "./memory-file-system.ts";

/** New ports that share nothing with others; `parts` replaces some of them. */
export function createMemoryPorts(parts: Partial<Ports> = {}): Ports {
  return {
    fs: new MemoryFileSystem(),
    lock: new MemoryLock(),
    hints: new MemoryHints(),
    clock: systemClock,
    ids: randomIds,
    ...parts,
  };
}

/** Locks inside one process, exclusive by exact path, never stale. */
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

  /** Takes the lock from its holder, as a process that finds it stale. */
  breakLock(path: string): void {
    this.#holders.delete(path);
  }
}

type Listener = (name: string | null) => void;

/** Hints for files in memory: the writer of a file sends them, else a poll finds the change. */
export class MemoryHints implements ChangeHints {
  readonly #listeners = new Map<string, Set<Listener>>();

  /** Number of watchers, over all directories. */
  get watcherCount(): number {
    let count = 0;
    for (const listeners of this.#listeners.values()) count += listeners.size;
    return count;
  }

  watch(directory: string, onHint: Listener): { closeSync(): void } {
    const listeners = this.#listeners.get(directory) ?? new Set();
    this.#listeners.set(directory, listeners);
    const own: Listener = (name) => onHint(name);
    listeners.add(own);
    return {
      closeSync: () => {
        listeners.delete(own);
        if (listeners.size === 0) this.#listeners.delete(directory);
      },
    };
  }

  /** Notifies the watchers of its directory that a file has changed. */
  tell(path: string): void {
    const listening = [...(this.#listeners.get(dirname(path)) ?? [])];
    for (const listener of listening) listener(basename(path));
  }
}
