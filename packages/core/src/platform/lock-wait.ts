/** How a waiter for a lock proceeds: its position, its pauses, its timeout. */
import { portStep } from "@branchlog/streaming";
import type { Steps } from "@branchlog/streaming";
import { BranchlogError } from "../errors.ts";
import type { LockFacts, LockHolder } from "../errors.ts";
import {
  lockPauseMsMax,
  lockPausePlaceMsMax,
  lockWaitTotalFactor,
  nearPauseMsMax,
} from "../limits.ts";
import type { HeldLock, Ports, LockPlace, LockQueue } from "./ports.ts";

/** A waiter that blocks the thread shares the place of those it blocks. */
interface SharedPlace {
  readonly place: LockPlace;
  waiters: number;
}

/** State shared by the waiters of this thread. */
export interface WaiterSharing {
  readonly retention: { release(): void };
  /** The places of this thread in queues, by path. */
  readonly places: Map<string, SharedPlace>;
}

export interface LockWaiter {
  readonly lockWaitMs: number;
  readonly startMs: number;
  /** It was its turn in the queue, and the lock was held. */
  readonly isNext: boolean;
}

/** After a failed try, or while others wait; see `acquireLock`. */
export function* waitForLock(
  path: string,
  { clock, ids, lock }: Ports,
  { retention, places }: WaiterSharing,
  waiter: LockWaiter,
): Steps<HeldLock> {
  const { lockWaitMs, startMs } = waiter;
  const queue = lockWaitMs > 0 ? lock.queue : undefined;
  const progress = new WaitProgress(lockWaitMs, startMs);
  let { isNext } = waiter;
  let ahead = 0;
  // Undefined: not requested yet; null: unavailable.
  let shared: SharedPlace | null | undefined;
  try {
    for (let tries = 1; ; tries += 1) {
      // Its holder may wait for the lock that this process retained.
      retention.release();
      const nowMs = clock.monotonicMs();
      if (shared) progress.note(nowMs, ahead, lock.holderSync?.(path) ?? null);
      const leftMs = progress.leftMs(nowMs);
      if (leftMs <= 0) {
        // Out of turn: the waiters in front may be unable to take a free lock.
        const free = isNext ? null : lock.tryAcquireSync(path);
        if (free !== null) return free;
        const holder = lock.holderSync?.(path) ?? null;
        const waitedMs = Math.round(nowMs - startMs);
        throw lockTimeout(path, { tries, waitedMs, ahead, holder });
      }
      if (shared === undefined && queue !== undefined) shared = sharePlace(places, path, queue);
      else {
        const isQueued = shared !== undefined && shared !== null;
        const wait = { ...progress.paceAt(nowMs), ahead, isQueued };
        const pauseMs = Math.min(lockPauseMs(wait, ids.jitter()), leftMs);
        shared?.place.pauseSync(pauseMs);
        yield { kind: "wait", clock, ms: pauseMs };
      }
      yield portStep("lock");
      ahead = shared?.place.aheadSync() ?? 0;
      isNext = ahead === 0;
      const held = isNext ? lock.tryAcquireSync(path) : null;
      if (held !== null) return held;
    }
  } finally {
    if (shared && (shared.waiters -= 1) === 0) {
      places.delete(path);
      shared.place.leaveSync();
    }
  }
}

function sharePlace(
  places: Map<string, SharedPlace>,
  path: string,
  queue: LockQueue,
): SharedPlace | null {
  const known = places.get(path);
  if (known !== undefined) {
    known.waiters += 1;
    return known;
  }
  const place = queue.joinSync(path);
  if (place === null) return null;
  const shared = { place, waiters: 1 };
  places.set(path, shared);
  return shared;
}

class WaitProgress {
  readonly #lockWaitMs: number;
  readonly #startMs: number;
  #progressMs: number;
  #changeMs: number;
  #paceMs = 0;
  #leastAhead = Number.POSITIVE_INFINITY;

  constructor(lockWaitMs: number, startMs: number) {
    this.#lockWaitMs = lockWaitMs;
    this.#startMs = startMs;
    this.#progressMs = startMs;
    this.#changeMs = startMs;
  }

  note(nowMs: number, ahead: number, holder: LockHolder | null): void {
    if (ahead < this.#leastAhead) {
      this.#paceMs = (nowMs - this.#changeMs) / Math.min(ahead + 1, this.#leastAhead - ahead);
      this.#changeMs = nowMs;
      this.#leastAhead = ahead;
    }
    // Not that others left the queue: they give up one after the other while a holder is stuck.
    if (holder === null || nowMs - holder.heldMs <= this.#progressMs) return;
    this.#progressMs = nowMs;
    this.#changeMs = nowMs;
  }

  /** How long nothing has changed, and how long each of those in front takes. */
  paceAt(nowMs: number): Pick<LockWait, "unchangedMs" | "paceMs"> {
    const unchangedMs = nowMs - this.#changeMs;
    return { unchangedMs, paceMs: Math.max(unchangedMs, this.#paceMs) };
  }

  leftMs(nowMs: number): number {
    const totalMs = this.#lockWaitMs * lockWaitTotalFactor;
    return Math.min(this.#progressMs + this.#lockWaitMs, this.#startMs + totalMs) - nowMs;
  }
}

export interface LockWait {
  /** Since the place advanced or the lock had a new holder. */
  readonly unchangedMs: number;
  readonly paceMs: number;
  readonly ahead: number;
  readonly isQueued: boolean;
}

/**
 * The next pause of a waiter, in milliseconds, at least 1. It grows while nothing changes, so that
 * waiters for a stuck holder cost little. For the first in the queue it is a fraction of the
 * time that the holder has had the lock; for the others, of their expected wait.
 */
export function lockPauseMs(wait: LockWait, jitter: number): number {
  const { unchangedMs, paceMs, ahead, isQueued } = wait;
  const placeMsMax = Math.max(nearPauseMsMax, ahead * lockPausePlaceMsMax, unchangedMs / 2);
  const pauseMs =
    isQueued && ahead > 0
      ? Math.min(lockPauseMsMax, placeMsMax, (paceMs * ahead) / 2)
      : Math.min(nearPauseMsMax, unchangedMs / (isQueued ? 8 : 2));
  return Math.max(2, pauseMs) * (1 + jitter) * 0.5;
}

function lockTimeout(path: string, facts: LockFacts): BranchlogError {
  const { tries, waitedMs, ahead, holder } = facts;
  const tried = tries === 1 ? "1 try" : `${tries} tries`;
  const queued = ahead > 0 ? `, ${ahead} others ahead in the queue` : "";
  const message =
    `The lock of ${path} was not acquired within ${waitedMs} ms (${tried}${queued}); nothing ` +
    `was written. ${holderText(holder)} Try again, or raise lockWaitMs.`;
  return new BranchlogError("ERR_LOCK_TIMEOUT", message, { path, lock: facts });
}

function holderText(holder: LockFacts["holder"]): string {
  if (holder === null) return "It is not held now.";
  const { pid, isOwnProcess, heldMs, refreshedMsAgo } = holder;
  const other = pid === null ? "another process" : `process ${pid}`;
  const name = isOwnProcess ? "this process" : other;
  return `It was held by ${name}, for ${heldMs} ms, last refreshed ${refreshedMsAgo} ms ago.`;
}
