/**
 * The clock port: the clock of the machine, and one for tests that moves only when a test moves it.
 */
import { setTimeout as timeout } from "node:timers/promises";
import type { Clock } from "./ports.ts";

const never = new Int32Array(new SharedArrayBuffer(4));

async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await timeout(ms, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    // The caller's own reason says more than the timer's AbortError.
    signal?.throwIfAborted();
    throw error;
  }
}

/** Real time: `Date`, `performance`, `Atomics.wait` and timers. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleepSync(ms) {
    if (ms > 0) Atomics.wait(never, 0, 0, ms);
  },
  sleep,
};

// Sleeping synchronously moves a manual clock, as nothing else could; sleeping asynchronously waits
// until it was moved.

interface Sleeper {
  readonly dueMs: number;
  readonly wake: () => void;
}

/** Time under control. Sleepers wake in the order in which they are due. */
export class ManualClock implements Clock {
  #epochMs: number;
  #elapsedMs = 0;
  #sleepers: Sleeper[] = [];

  /** @param epochMs What `now()` says first. */
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

  /** Sets the wall clock, also back; `monotonicMs` and sleepers do not notice. */
  jumpTo(epochMs: number): void {
    this.#epochMs = epochMs - this.#elapsedMs;
  }

  /** Settles when the time has come or the signal is aborted. */
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
