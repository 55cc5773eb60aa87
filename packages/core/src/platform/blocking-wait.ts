/**
 * Blocks this thread, as session managers must, whose callers cannot wait otherwise. The listeners
 * of a signal run in the event loop, which stands still meanwhile, and keep the system from ending
 * the process: a long wait therefore lets signals through.
 */
import { Script } from "node:vm";
import { isMainThread } from "node:worker_threads";
import { BranchlogError } from "../errors.ts";

/** As the parameters of `Atomics.wait`. */
export interface BlockingWait {
  readonly state: Int32Array<SharedArrayBuffer>;
  readonly at: number;
  readonly value: number;
  readonly ms: number;
}

/** After a shorter wait, as for a lock or a commit, the listeners run soon enough. */
const uninterruptedMs = 100;

/** Their listeners cannot be called from a wait: it ends the process as if there were none. */
const endingSignals = ["SIGTERM", "SIGHUP"] as const;

/**
 * Whether `state[at]` was no longer `value`, or notified, before the time was over.
 * @throws BranchlogError `ERR_INTERRUPTED` on SIGINT, if the program listens to it; its listeners
 * are called once the event loop runs.
 */
export function waitBlocking({ state, at, value, ms }: BlockingWait): boolean {
  const first = Math.min(ms, uninterruptedMs);
  if (Atomics.wait(state, at, value, first) !== "timed-out") return true;
  if (ms <= first) return false;
  const wait = (): boolean => Atomics.wait(state, at, value, ms - first) !== "timed-out";
  return isMainThread ? withoutEndingListeners(() => interruptible(wait)) : wait();
}

function withoutEndingListeners<T>(work: () => T): T {
  const listeners = endingSignals.map((signal) => [signal, process.rawListeners(signal)] as const);
  for (const signal of endingSignals) process.removeAllListeners(signal);
  try {
    return work();
  } finally {
    for (const [signal, all] of listeners) {
      for (const one of all) process.on(signal, one as NodeJS.SignalsListener);
    }
  }
}

/** A script reaches nothing but what is global. */
const called = Symbol.for("branchlog.blocking-wait");
const call = new Script(`globalThis[Symbol.for("branchlog.blocking-wait")]()`);

/** Node ends a script on SIGINT, whatever it waits for. */
function interruptible(wait: () => boolean): boolean {
  // Without listeners, the system ends the process.
  if (process.listenerCount("SIGINT") === 0) return wait();
  let hasEnded: boolean | undefined;
  Reflect.set(globalThis, called, () => {
    hasEnded = wait();
  });
  try {
    call.runInThisContext({ breakOnSigint: true });
  } catch (cause) {
    if (hasEnded === undefined) {
      process.kill(process.pid, "SIGINT");
      throw interrupted(cause);
    }
  } finally {
    Reflect.deleteProperty(globalThis, called);
  }
  return hasEnded === true;
}

function interrupted(cause: unknown): BranchlogError {
  const message =
    "SIGINT ended a wait for a lock or a store. The operation may " +
    "still take effect; call again to continue.";
  return new BranchlogError("ERR_INTERRUPTED", message, { cause });
}
