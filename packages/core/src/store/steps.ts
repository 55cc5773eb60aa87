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
  | { readonly kind: "wait"; readonly ms: number }
  /** Input or output that only an asynchronous driver can wait for. */
  | { readonly kind: "io"; readonly run: (signal: AbortSignal | undefined) => Promise<void> };

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

/** The result of `work`; what it rejects with is thrown where it is awaited. */
export function* io<T>(work: (signal: AbortSignal | undefined) => Promise<T>): Steps<T> {
  let result: { readonly value: T } | undefined;
  const run = async (signal: AbortSignal | undefined): Promise<void> => {
    result = { value: await work(signal) };
  };
  yield { kind: "io", run };
  if (result === undefined) throw new Error("a step that no driver waited for");
  return result.value;
}

export function runSync<T>(steps: Steps<T>, clock: Clock): T {
  for (;;) {
    const next = steps.next();
    if (next.done === true) return next.value;
    if (next.value.kind === "wait") clock.sleepSync(next.value.ms);
    else if (next.value.kind === "io") throw new Error("a log in a store cannot be waited for");
  }
}

export async function runAsync<T>(steps: Steps<T>, clock: Clock, signal?: AbortSignal): Promise<T> {
  let next = steps.next();
  while (next.done !== true) {
    const { value: step } = next;
    try {
      if (step.kind === "wait") await clock.sleep(step.ms, signal);
      else if (step.kind === "io") await step.run(signal);
    } catch (error) {
      if (step.kind === "io" && signal?.aborted !== true) {
        next = steps.throw(error);
        continue;
      }
      // The work cleans up; the caller gets its own reason, not an error that wraps it.
      quietly(() => steps.throw(error));
      throw error;
    }
    next = steps.next();
  }
  return next.value;
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
