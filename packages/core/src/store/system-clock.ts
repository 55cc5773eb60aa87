/** The clock of this machine. Sleeping synchronously blocks the whole thread, timers included. */
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
