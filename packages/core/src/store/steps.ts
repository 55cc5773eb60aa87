/**
 * Appending is written once, as a generator that pauses before each call to a port and wherever it
 * has to wait. One driver runs it synchronously, one waits with timers; tests run two of them step
 * by step in every order. From lock to unlock there are port steps only, so that the asynchronous
 * driver, too, holds the lock within one event-loop iteration.
 */
import type { Clock } from "./ports.ts";

/** A pause: before a call to a port, or for so many milliseconds. */
export type Step = { readonly kind: "port"; readonly call: string } | WaitStep;

/** A pause that takes time. */
export interface WaitStep {
  readonly kind: "wait";
  readonly ms: number;
}

/** Work in steps, with a result. */
export type Steps<T> = Generator<Step, T, void>;

const ports = new Map<string, Step>();

/** The step before a call to a port; the same object for the same name. */
export function portStep(call: string): Step {
  const known = ports.get(call);
  if (known !== undefined) return known;
  const step: Step = { kind: "port", call };
  ports.set(call, step);
  return step;
}

/** Runs steps to their end, blocking the thread while they wait. */
export function runSync<T>(steps: Steps<T>, clock: Clock): T {
  for (;;) {
    const next = steps.next();
    if (next.done === true) return next.value;
    if (next.value.kind === "wait") clock.sleepSync(next.value.ms);
  }
}

/** Runs steps to their end, waiting with timers; an aborted wait ends the work at that step. */
export async function runAsync<T>(steps: Steps<T>, clock: Clock, signal?: AbortSignal): Promise<T> {
  for (;;) {
    const next = steps.next();
    if (next.done === true) return next.value;
    if (next.value.kind === "wait") await waitOrEnd(steps, next.value.ms, clock, signal);
  }
}

async function waitOrEnd(
  steps: Steps<unknown>,
  ms: number,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    await clock.sleep(ms, signal);
  } catch (error) {
    endQuietly(steps, error);
    throw error;
  }
}

/** Lets the work clean up; however it words its end, the caller gets the reason it gave itself. */
function endQuietly(steps: Steps<unknown>, reason: unknown): void {
  try {
    steps.throw(reason);
  } catch {
    // The reason, or an error that wraps it.
  }
}
