/**
 * A session on a memory file system whose locks and writes are counted, with a clock that is
 * still; others that open the same log are separate processes only in their ids.
 */
import { createSession, openSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import type { EngineOptions } from "@branchlog/core/types";
import {
  ManualClock,
  MemoryFileSystem,
  MemoryLock,
  createMemoryPorts,
  createSeededIds,
} from "@branchlog/core/testing";
import type { FileLock, HeldLock, Ports } from "@branchlog/core/testing";

export const path = "/s.jsonl";

export const header = {
  type: "session",
  version: 3,
  id: "s",
  timestamp: "2026-01-01T00:00:00.000Z",
  cwd: "/w",
} as const;

export { userDraft as say } from "@branchlog/core/testing";

/** A lock that counts how often it is taken. */
class CountingLock implements FileLock {
  readonly inner = new MemoryLock();
  count = 0;

  tryAcquireSync(of: string): HeldLock | null {
    const held = this.inner.tryAcquireSync(of);
    if (held !== null) this.count += 1;
    return held;
  }
}

/** See the file comment. */
export class CountedWorld {
  readonly fs = new MemoryFileSystem();
  readonly lock = new CountingLock();
  readonly clock = new ManualClock(Date.UTC(2026, 0, 1));

  ports(seed = 1): Ports {
    const { fs, lock, clock } = this;
    return createMemoryPorts({ fs, lock, clock, ids: createSeededIds(seed, clock) });
  }

  create(options: EngineOptions = {}): Promise<Session> {
    return createSession(path, { id: "s", cwd: "/w", ports: this.ports(), ...options });
  }

  open(seed: number, options: EngineOptions = {}): Promise<Session> {
    return openSession(path, { ports: this.ports(seed), ...options });
  }

  get text(): string {
    return this.fs.readFileSync(path).toString();
  }

  get lines(): readonly string[] {
    return this.text.split("\n").slice(0, -1);
  }

  /** Calls since the last time this was asked. */
  counts(): { readonly locks: number; readonly writes: number } {
    const now = { locks: this.lock.count, writes: this.fs.callCount("writeSync") };
    const counts = { locks: now.locks - this.#last.locks, writes: now.writes - this.#last.writes };
    this.#last = now;
    return counts;
  }

  #last = { locks: 0, writes: 0 };
}

/** A new log with a session that appends to it; what creating it cost is not counted. */
export async function countedSession(
  options: EngineOptions = {},
): Promise<{ readonly world: CountedWorld; readonly session: Session }> {
  const world = new CountedWorld();
  const session = await world.create(options);
  world.counts();
  return { world, session };
}
