/**
 * How the appenders of one process share the lock of a log. One of them at a time contends for it,
 * with a deadline, and in the queue of the lock if it has one. It is retained briefly between
 * appends in close sequence, as acquiring it costs more than an append. Without the sharing, a
 * blocked thread could wait forever for a lock that only its own event loop releases.
 */
import { portStep } from "@branchlog/streaming";
import type { Steps } from "@branchlog/streaming";
import { BranchlogError } from "../errors.ts";
import type { LockFacts, LockHolder } from "../errors.ts";
import {
  awaitedPauseMsMax,
  retentionAfterAppends,
  retentionAfterAwaited,
  retentionMsMax,
  retentionPauseMsMax,
  lockPauseMsMax,
  lockPausePlaceMsMax,
  lockWaitTotalFactor,
  nearPauseMsMax,
  unawaitedRetentionMsMax,
} from "../limits.ts";
import { lockfileLock } from "./lockfile-lock.ts";
import { onePerPort } from "./ports.ts";
import type { FileLock, HeldLock, LockPlace, LockQueue, Ports } from "./ports.ts";

export interface LockSharing {
  readonly mutex: KeyedMutex;
  readonly retention: LockRetention;
  /** The places of this thread in queues, by path. */
  readonly places: Map<string, SharedPlace>;
}

/** A waiter that blocks the thread shares the place of those it blocks. */
interface SharedPlace {
  readonly place: LockPlace;
  waiters: number;
}

/** Its key changes also when the methods of a held lock do. */
export const sharingOf: (lock: FileLock) => LockSharing = onePerPort(
  lockfileLock,
  "branchlog.lock-sharing.6",
  () => ({ mutex: new KeyedMutex(), retention: new LockRetention(), places: new Map() }),
);

function takeRetained(path: string, { lock }: Ports, nowMs: number): HeldLock | null {
  const isAwaited = (): boolean => lock.queue?.isBusySync(path) ?? true;
  return sharingOf(lock).retention.take(path, nowMs, isAwaited);
}

/**
 * Acquires the lock of `path`, or takes the retained one. A `lockWaitMs` of 0 means one try,
 * whether others wait or not; a free lock is also tried once at the end of a wait.
 * @throws BranchlogError `ERR_LOCK_TIMEOUT` once the queue has not advanced for `lockWaitMs`, or a
 * wait without a place has lasted as long; in any case after `lockWaitTotalFactor` times as long.
 */
export function* acquireLock(path: string, ports: Ports, lockWaitMs: number): Steps<HeldLock> {
  const { clock, ids, lock } = ports;
  const { retention, places } = sharingOf(lock);
  const startMs = clock.monotonicMs();
  const retained = takeRetained(path, ports, startMs);
  if (retained !== null) return retained;
  const queue = lockWaitMs > 0 ? lock.queue : undefined;
  const progress = new WaitProgress(lockWaitMs, startMs);
  // Undefined: not requested yet; null: unavailable.
  let shared: SharedPlace | null | undefined;
  try {
    for (let tries = 1; ; tries += 1) {
      yield portStep("lock");
      const ahead = shared?.place.aheadSync() ?? 0;
      const isNext = shared === undefined ? queue?.isBusySync(path) !== true : ahead === 0;
      const held = isNext ? lock.tryAcquireSync(path) : null;
      if (held !== null) {
        retention.begin(clock.monotonicMs());
        return held;
      }
      // Its holder may wait for the lock that this process retained.
      retention.release();
      const nowMs = clock.monotonicMs();
      const waitedMs = nowMs - startMs;
      if (shared) progress.note(nowMs, ahead, lock.holderSync?.(path) ?? null);
      const leftMs = progress.leftMs(nowMs);
      if (leftMs <= 0) {
        // Out of turn: the waiters in front may be unable to take a free lock.
        const free = isNext ? null : lock.tryAcquireSync(path);
        if (free !== null) {
          retention.begin(nowMs);
          return free;
        }
        const holder = lock.holderSync?.(path) ?? null;
        throw lockTimeout(path, { tries, waitedMs: Math.round(waitedMs), ahead, holder });
      }
      if (shared === undefined && queue !== undefined) {
        shared = sharePlace(places, path, queue);
        continue;
      }
      const isQueued = shared !== undefined && shared !== null;
      const wait = { ...progress.paceAt(nowMs), ahead, isQueued };
      const pauseMs = Math.min(lockPauseMs(wait, ids.jitter()), leftMs);
      shared?.place.pauseSync(pauseMs);
      yield { kind: "wait", clock, ms: pauseMs };
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
    // Not that others left the queue: behind a stuck holder they give up one after the other.
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
 * waiters behind a stuck holder cost little. For the first in the queue it is a fraction of the
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
  const queued = ahead > 0 ? `, ${ahead} more waited in front` : "";
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

/**
 * When a lock is released after an append: `immediate`, at once; `microtask`, by the retention,
 * once the caller's code ends; `caller`, by the appender, after the microtasks of its callers.
 */
export type ReleasePolicy = "immediate" | "microtask" | "caller";

export interface RetainedUse {
  readonly startMs: number;
  readonly nowMs: number;
  readonly keeper: object;
  readonly releasePolicy: ReleasePolicy;
}

/**
 * Retains the lock of at most one log, and which appender validated the log under it. It is
 * released when the caller's code ends, and before another appender of this process waits for a
 * lock; after `retentionMsMax` if others wait for it, else, between blocking appends, after
 * `unawaitedRetentionMsMax`; always before the event loop continues. Times are monotonic.
 */
export class LockRetention {
  #kept: { readonly path: string; readonly held: HeldLock; readonly keeper: object } | undefined;
  #sinceMs = 0;
  /** When it was last known to have no waiters. */
  #unawaitedMs = 0;
  /** The last appender that validated log and lock since the acquisition. */
  #validated: { readonly keeper: object; readonly atMs: number } | undefined;
  #run = { path: "", appends: 0, pausedMs: 0, looseAppends: 0, endMs: 0 };
  #isReturning = false;

  isRetainedBy(keeper: object): boolean {
    return this.#kept?.keeper === keeper;
  }

  isOverdue(path: string, nowMs: number): boolean {
    return this.#kept?.path === path && nowMs - this.#unawaitedMs >= retentionMsMax;
  }

  /** `isAwaited`, whether others wait for it, is called every `retentionMsMax` at most. */
  take(path: string, nowMs: number, isAwaited: () => boolean): HeldLock | null {
    const kept = this.#kept;
    if (kept?.path === path && this.#canRetain(nowMs, isAwaited)) {
      this.#kept = undefined;
      return kept.held;
    }
    this.release();
    return null;
  }

  #canRetain(nowMs: number, isAwaited: () => boolean): boolean {
    if (nowMs - this.#unawaitedMs < retentionMsMax) return true;
    if (nowMs - this.#sinceMs >= unawaitedRetentionMsMax || isAwaited()) return false;
    this.#unawaitedMs = nowMs;
    return true;
  }

  begin(nowMs: number): void {
    this.#sinceMs = nowMs;
    this.#unawaitedMs = nowMs;
    this.#validated = undefined;
  }

  validated(keeper: object, nowMs: number): void {
    this.#validated = { keeper, atMs: nowMs };
  }

  /** Whether that appender validated last under this lock, less than `retentionMsMax` ago. */
  isValidated(keeper: object, nowMs: number): boolean {
    return this.#validated?.keeper === keeper && nowMs - this.#validated.atMs < retentionMsMax;
  }

  /** The time that appends take themselves is not a pause: slow machines behave the same. */
  retainOrRelease(
    path: string,
    held: HeldLock,
    { startMs, nowMs, keeper, releasePolicy }: RetainedUse,
  ): void {
    if (releasePolicy === "immediate") return held.releaseSync();
    this.#count(path, startMs, nowMs);
    const isOwn = releasePolicy === "caller";
    const { appends, looseAppends } = this.#run;
    const isRow = isOwn ? looseAppends >= retentionAfterAwaited : appends >= retentionAfterAppends;
    const inUseMs = nowMs - Math.max(startMs, this.#unawaitedMs);
    // The appender itself checks whether it is time to release it.
    if (!isRow || (!isOwn && inUseMs >= retentionMsMax)) {
      held.releaseSync();
      return;
    }
    this.#kept = { path, held, keeper };
    if (this.#isReturning || isOwn) return;
    this.#isReturning = true;
    queueMicrotask(() => {
      this.#isReturning = false;
      this.release();
    });
  }

  release(): void {
    const kept = this.#kept;
    this.#kept = undefined;
    this.#validated = undefined;
    kept?.held.releaseSync();
  }

  #count(path: string, startMs: number, nowMs: number): void {
    const run = this.#run;
    const isSame = path === run.path;
    const pauseMs = startMs - run.endMs;
    const pausedMs = run.pausedMs + pauseMs;
    const isContinued = isSame && pausedMs <= retentionPauseMsMax;
    run.appends = isContinued ? run.appends + 1 : 1;
    run.pausedMs = isContinued && run.appends < retentionAfterAppends ? pausedMs : 0;
    run.looseAppends = isSame && pauseMs <= awaitedPauseMsMax ? run.looseAppends + 1 : 1;
    run.path = path;
    run.endMs = nowMs;
  }
}

/** Runs one piece of work at a time for each path, in the order of the calls. */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<void>>();

  get busyCount(): number {
    return this.#last.size;
  }

  run<T>(path: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(path) ?? Promise.resolve();
    const result = before.then(work);
    const done = (): void => {
      if (this.#last.get(path) === last) this.#last.delete(path);
    };
    const last = result.then(done, done);
    this.#last.set(path, last);
    return result;
  }
}
