/**
 * Appending is written once, as a generator that pauses before each call to a port and wherever it
 * has to wait. One driver blocks, one waits with timers, both by the clock port; tests interleave
 * two of them in every order. From lock to unlock there are port steps only, so that the lock is
 * held within one event-loop iteration.
 */
import { setTimeout as timeout } from "node:timers/promises";
import { quietly } from "./ports.ts";
import type { Clock } from "./ports.ts";

export type Step =
  | { readonly kind: "port"; readonly call: string }
  | { readonly kind: "wait"; readonly ms: number };

export type Steps<T> = Generator<Step, T, void>;

const ports = new Map<string, Step>();

/** The same object for the same name. */
export function portStep(call: string): Step {
  const known = ports.get(call);
  if (known !== undefined) return known;
  const step: Step = { kind: "port", call };
  ports.set(call, step);
  return step;
}

export function runSync<T>(steps: Steps<T>, clock: Clock): T {
  for (;;) {
    const next = steps.next();
    if (next.done === true) return next.value;
    if (next.value.kind === "wait") clock.sleepSync(next.value.ms);
  }
}

export async function runAsync<T>(steps: Steps<T>, clock: Clock, signal?: AbortSignal): Promise<T> {
  for (;;) {
    const next = steps.next();
    if (next.done === true) return next.value;
    if (next.value.kind !== "wait") continue;
    try {
      await clock.sleep(next.value.ms, signal);
    } catch (error) {
      // The work cleans up; the caller gets its own reason, not an error that wraps it.
      quietly(() => steps.throw(error));
      throw error;
    }
  }
}

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
