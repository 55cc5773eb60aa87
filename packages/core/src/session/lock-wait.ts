/**
 * Waits for the lock of a log, with a deadline. Waiters queue up where the lock has a queue; their
 * pauses follow the time that they are likely to wait. Only a lock that is held is waited for;
 * every other failure is the caller's at once.
 */
import { BranchlogError } from "../errors.ts";
import type { LockFacts } from "../errors.ts";
import { lockPauseMsMax, lockPausePlaceMsMax, nextPauseMsMax } from "../limits.ts";
import { sharingOf } from "../store/lock-sharing.ts";
import type { HeldLock, LockPlace, Ports } from "../store/ports.ts";
import { portStep } from "./steps.ts";
import type { Steps } from "./steps.ts";

/**
 * Acquires the lock of `path`, or takes over the one that this process kept. With a `lockWaitMs` of
 * 0 it is tried once, whether others wait or not.
 * @throws BranchlogError `ERR_LOCK_TIMEOUT` after `lockWaitMs`.
 */
export function* acquireLock(path: string, ports: Ports, lockWaitMs: number): Steps<HeldLock> {
  const { clock, ids, lock } = ports;
  const { lease } = sharingOf(lock);
  const startMs = clock.monotonicMs();
  const kept = lease.take(path, startMs);
  if (kept !== null) return kept;
  const queue = lockWaitMs > 0 ? lock.queue : undefined;
  // Undefined: no place was asked for yet; null: there is none to be had.
  let place: LockPlace | null | undefined;
  let aheadAtFirst: number | undefined;
  try {
    for (let tries = 1; ; tries += 1) {
      yield portStep("lock");
      const ahead = place?.aheadSync() ?? 0;
      const isNext = place === undefined ? queue?.isBusySync(path) !== true : ahead === 0;
      const held = isNext ? lock.tryAcquireSync(path) : null;
      if (held !== null) {
        lease.begin(clock.monotonicMs());
        return held;
      }
      // Its holder may wait for the lock that this process kept.
      lease.release();
      const waitedMs = clock.monotonicMs() - startMs;
      if (waitedMs >= lockWaitMs) {
        const holder = lock.holderSync?.(path) ?? null;
        throw lockTimeout(path, { tries, waitedMs: Math.round(waitedMs), ahead, holder });
      }
      if (place === undefined && queue !== undefined) {
        place = queue.joinSync(path);
        continue;
      }
      aheadAtFirst ??= ahead;
      const isQueued = place !== undefined && place !== null;
      const wait = { waitedMs, ahead, passed: Math.max(0, aheadAtFirst - ahead), isQueued };
      yield { kind: "wait", ms: Math.min(lockPauseMs(wait, ids.jitter()), lockWaitMs - waitedMs) };
    }
  } finally {
    place?.leaveSync();
  }
}

/** What a waiter knows of its wait. */
export interface LockWait {
  /** How long it has lasted, in milliseconds. */
  readonly waitedMs: number;
  /** How many wait in front. */
  readonly ahead: number;
  /** How many of those that were in front are not any more. */
  readonly passed: number;
  readonly isQueued: boolean;
}

/**
 * The next pause of a waiter, in milliseconds: an eighth to a quarter of the time that it is likely
 * to wait, told from the pace so far. It grows as long as nothing moves, so that a wait of any
 * length costs few looks, however many wait, and is never below 1.
 * @param jitter From 0 up to 1, exclusive.
 */
export function lockPauseMs(wait: LockWait, jitter: number): number {
  const { waitedMs, ahead, passed, isQueued } = wait;
  const paceMs = waitedMs / (passed + 1);
  const isNext = isQueued && ahead === 0;
  const pauseMs = isNext
    ? Math.min(nextPauseMsMax, paceMs / 8)
    : Math.min(pauseMsMax(ahead), (paceMs * Math.max(1, ahead)) / 2);
  return Math.max(2, pauseMs) * (1 + jitter) * 0.5;
}

function pauseMsMax(ahead: number): number {
  return Math.max(lockPauseMsMax, ahead * lockPausePlaceMsMax);
}

function lockTimeout(path: string, facts: LockFacts): BranchlogError {
  const { tries, waitedMs, ahead, holder } = facts;
  const tried = tries === 1 ? "1 try" : `${tries} tries`;
  const queued = ahead > 0 ? `, ${ahead} more waited in front` : "";
  const message =
    `The lock of ${path} was not free within ${waitedMs} ms (${tried}${queued}); nothing ` +
    `was written. ${holderText(holder)} Try again, or raise lockWaitMs.`;
  return new BranchlogError("ERR_LOCK_TIMEOUT", message, { path, lock: facts });
}

function holderText(holder: LockFacts["holder"]): string {
  if (holder === null) return "Nobody holds it now.";
  const { pid, isOwnProcess, heldMs, refreshedMsAgo } = holder;
  const other = pid === null ? "another process" : `process ${pid}`;
  const name = isOwnProcess ? "this process" : other;
  return `It was held by ${name}, for ${heldMs} ms, last refreshed ${refreshedMsAgo} ms ago.`;
}
