/**
 * Keeps the lock of one log for a moment, when a process appends to it again and again: taking the
 * lock costs more than the append. It is given back when the caller's code ends, after
 * `leaseMsMax`, and before anybody in this process waits for a lock; in no case is it kept while
 * the event loop goes on. Other processes wait a little longer for it; what is safe with a lock is
 * as safe with a kept one.
 */
import {
  awaitedPauseMsMax,
  leaseAfterAppends,
  leaseAfterAwaited,
  leaseMsMax,
  leasePauseMsMax,
} from "../limits.ts";
import type { HeldLock } from "./ports.ts";

/** An append that has ended, for {@link LockLease.giveBack}. */
export interface LeaseUse {
  readonly startMs: number;
  readonly nowMs: number;
  /** Who appended. */
  readonly keeper: object;
  /**
   * Who gives a kept lock back: the lease itself, in a microtask; or the appender, which waits for
   * what its callers do in theirs.
   */
  readonly isReturnedBy: "lease" | "appender";
}

/** See the file comment. At most one lock is kept. Times are those of a monotonic clock. */
export class LockLease {
  #kept: { readonly path: string; readonly held: HeldLock; readonly keeper: object } | undefined;
  /** When the lock that was taken last was acquired. */
  #sinceMs = 0;
  /** The appends that followed each other closely; and those not quite so closely. */
  #run = { path: "", appends: 0, pausedMs: 0, looseAppends: 0, endMs: 0 };
  #isReturning = false;

  /** Whether a lock is kept, by this appender. */
  isKeptBy(keeper: object): boolean {
    return this.#kept?.keeper === keeper;
  }

  /** Whether the lock of `path` is kept, and has been for as long as it may be. */
  isOverdue(path: string, nowMs: number): boolean {
    return this.#kept?.path === path && this.#isSpent(nowMs);
  }

  /** The kept lock of `path`; null: there is none, or it was kept for long enough. */
  take(path: string, nowMs: number): HeldLock | null {
    const kept = this.#kept;
    if (kept?.path === path && !this.#isSpent(nowMs)) {
      this.#kept = undefined;
      return kept.held;
    }
    this.release();
    return null;
  }

  /** Takes note that a lock was acquired: from now on it may be kept for `leaseMsMax`. */
  begin(nowMs: number): void {
    this.#sinceMs = nowMs;
  }

  /**
   * Ends an append that began at `startMs`: keeps its lock if it was one of several with hardly a
   * pause between them, else releases it. The time that appends take themselves is no pause, so
   * that a slow machine gets the same.
   */
  giveBack(path: string, held: HeldLock, { startMs, nowMs, keeper, isReturnedBy }: LeaseUse): void {
    this.#count(path, startMs, nowMs);
    const isOwn = isReturnedBy === "appender";
    const { appends, looseAppends } = this.#run;
    const isRow = isOwn ? looseAppends >= leaseAfterAwaited : appends >= leaseAfterAppends;
    // The appender looks for itself whether it is time to return it.
    if (!isRow || (!isOwn && this.#isSpent(nowMs))) {
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

  /** Gives a kept lock back. */
  release(): void {
    const kept = this.#kept;
    this.#kept = undefined;
    kept?.held.releaseSync();
  }

  #isSpent(nowMs: number): boolean {
    return nowMs - this.#sinceMs >= leaseMsMax;
  }

  #count(path: string, startMs: number, nowMs: number): void {
    const run = this.#run;
    const isSame = path === run.path;
    const pauseMs = startMs - run.endMs;
    const pausedMs = run.pausedMs + pauseMs;
    const goesOn = isSame && pausedMs <= leasePauseMsMax;
    run.appends = goesOn ? run.appends + 1 : 1;
    run.pausedMs = goesOn && run.appends < leaseAfterAppends ? pausedMs : 0;
    run.looseAppends = isSame && pauseMs <= awaitedPauseMsMax ? run.looseAppends + 1 : 1;
    run.path = path;
    run.endMs = nowMs;
  }
}
