/** Time and ids for reproducible runs: a clock that moves only when it is moved, and seeded ids. */
import { createUuidV7, urlSafeText } from "../platform/ids.ts";
import type { Clock, IdSource } from "../platform/ports.ts";

interface Sleeper {
  readonly dueMs: number;
  readonly wake: () => void;
}

/**
 * A clock that `advance` moves. `sleepSync` moves it too; `sleep` waits until it was moved.
 * Sleepers wake in the order in which they are due.
 */
export class ManualClock implements Clock {
  #epochMs: number;
  #elapsedMs = 0;
  #sleepers: Sleeper[] = [];

  /** First value of `now()`. */
  constructor(epochMs: number = 0) {
    this.#epochMs = epochMs;
  }

  now(): number {
    return this.#epochMs + this.#elapsedMs;
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  sleepSync(ms: number): void {
    this.advance(Math.max(0, ms));
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (ms <= 0) return;
    await this.#wake(ms, signal);
    signal?.throwIfAborted();
  }

  /** Moves time on and wakes the sleepers that are due. */
  advance(ms: number): void {
    this.#elapsedMs += ms;
    const due = this.#sleepers.filter(({ dueMs }) => dueMs <= this.#elapsedMs);
    due.sort((one, other) => one.dueMs - other.dueMs);
    for (const { wake } of due) wake();
  }

  /** Sets the wall clock, also back; `monotonicMs` and sleepers are not affected. */
  jumpTo(epochMs: number): void {
    this.#epochMs = epochMs - this.#elapsedMs;
  }

  #wake(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#sleepers = this.#sleepers.filter((one) => one !== sleeper);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const sleeper: Sleeper = { dueMs: this.#elapsedMs + ms, wake };
      this.#sleepers.push(sleeper);
      signal?.addEventListener("abort", wake, { once: true });
    });
  }
}

/**
 * Ids drawn from a generator seeded with `seed`, session ids with the time of `clock`. Not for
 * production: the seed makes them predictable.
 */
export function createSeededIds(seed: number, clock: Pick<Clock, "now">): IdSource {
  const random32 = sfc32(seed);
  return {
    entryId: () => random32().toString(16).padStart(8, "0"),
    urlSafeId: (length) => urlSafeText(Uint8Array.from({ length }, () => random32() >>> 24)),
    sessionId: createUuidV7({ now: () => clock.now(), random32 }),
    jitter: () => random32() / 2 ** 32,
  };
}

/** Small fast chaotic generator (PractRand) of unsigned 32-bit integers. */
function sfc32(seed: number): () => number {
  let [a, b, c, counter] = [0, Math.floor(seed / 2 ** 32) | 0, seed | 0, 1];
  const next = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  // The first outputs still resemble the seed.
  for (let round = 0; round < 12; round += 1) next();
  return next;
}
