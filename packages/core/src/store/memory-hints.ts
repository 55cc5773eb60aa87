/** Hints for files in memory: whoever changes one says so, or nobody does and a poll finds it. */
import { basename, dirname } from "node:path";
import type { ChangeHints } from "./ports.ts";

type Listener = (name: string | null) => void;

/** See the file comment. */
export class MemoryHints implements ChangeHints {
  readonly #listeners = new Map<string, Set<Listener>>();

  /** How many watch, over all directories. */
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

  /** Tells all who watch its directory that a file has changed. */
  tell(path: string): void {
    const listening = [...(this.#listeners.get(dirname(path)) ?? [])];
    for (const listener of listening) listener(basename(path));
  }
}
