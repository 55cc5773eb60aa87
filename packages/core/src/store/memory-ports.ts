/** Ports for sessions that live in memory: own files and locks, real time and real ids. */
import { MemoryFileSystem } from "./memory-file-system.ts";
import { MemoryHints } from "./memory-hints.ts";
import { MemoryLock } from "./memory-lock.ts";
import type { Ports } from "./ports.ts";
import { randomIds } from "./random-ids.ts";
import { systemClock } from "./system-clock.ts";

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
