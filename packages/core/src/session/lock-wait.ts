/**
 * Waits for the lock of a log: short random pauses, so that many appenders neither starve one
 * another nor wake together, and a deadline. Only "somebody else holds it" is waited out; every
 * other failure is the caller's at once.
 */
import { BranchlogError } from "../errors.ts";
import { sharingOf } from "../store/lock-sharing.ts";
import type { HeldLock, Ports } from "../store/ports.ts";
import { portStep } from "./steps.ts";
import type { Steps } from "./steps.ts";

const pauseMsMin = 1;
const pauseMsMax = 5;

/**
 * Acquires the lock of `path`, or takes over the one that this process kept.
 * @throws BranchlogError `ERR_LOCK_TIMEOUT` after `lockWaitMs`.
 */
export function* acquireLock(path: string, ports: Ports, lockWaitMs: number): Steps<HeldLock> {
  const { clock, ids, lock } = ports;
  const { lease } = sharingOf(lock);
  const startMs = clock.monotonicMs();
  const kept = lease.take(path, startMs);
  if (kept !== null) return kept;
  for (;;) {
    yield portStep("lock");
    const held = lock.tryAcquireSync(path);
    if (held !== null) {
      lease.begin(clock.monotonicMs());
      return held;
    }
    // Whoever has what we wait for may be waiting for what we keep.
    lease.release();
    const nowMs = clock.monotonicMs();
    lease.metRival(path, nowMs);
    const left = startMs + lockWaitMs - nowMs;
    if (left <= 0) throw lockTimeout(path, lockWaitMs);
    yield { kind: "wait", ms: Math.min(lockPauseMs(ids), left) };
  }
}

/** A pause as those make who wait for a lock. */
export function lockPauseMs(ids: Ports["ids"]): number {
  return pauseMsMin + ids.jitter() * (pauseMsMax - pauseMsMin);
}

function lockTimeout(path: string, lockWaitMs: number): BranchlogError {
  return new BranchlogError(
    "ERR_LOCK_TIMEOUT",
    `Another process kept the lock of ${path} for ${lockWaitMs} ms; nothing was written. ` +
      "Try again, or raise lockWaitMs.",
    { path },
  );
}
