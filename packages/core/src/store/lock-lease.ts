/**
 * Keeps the lock of one log for a moment, when a process appends to it again and again: taking the
 * lock costs more than the append. It is given back when the caller's code ends, after
 * `leaseMsMax`, and before anybody in this process waits for a lock; in no case is it kept while
 * the event loop goes on. Other processes wait a little longer for it; what is safe with a lock is
 * as safe with a kept one.
 */
import { leaseAfterAppends, leaseMsMax, leasePauseMsMax, rivalMemoryMs } from "../limits.ts";
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
  #kept: { readonly path: string; readonly held: HeldLock } | undefined;
  /** Who kept the lock that was taken last, if it was kept. */
  #keeper: object | undefined;
  /** When the lock that was taken last was acquired. */
  #sinceMs = 0;
  /** The appends that followed each other closely. */
  #run = { path: "", appends: 0, pausedMs: 0, endMs: 0 };
  #isReturning = false;
  /** The lock that another process had when it was last tried. */
  #rival = { path: "", seenMs: Number.NEGATIVE_INFINITY };

  /** Whether the lock of `path` is kept, and was not for long enough. */
  isKept(path: string, nowMs: number): boolean {
    return this.#kept?.path === path && nowMs - this.#sinceMs < leaseMsMax;
  }

  /** Whether a lock is kept, by this appender. */
  isKeptBy(keeper: object): boolean {
    return this.#kept !== undefined && this.#keeper === keeper;
  }

  /** The kept lock of `path`; null: there is none, or it was kept for long enough. */
  take(path: string, nowMs: number): HeldLock | null {
    const kept = this.#kept;
    if (kept !== undefined && this.isKept(path, nowMs)) {
      this.#kept = undefined;
      return kept.held;
    }
    this.release();
    this.#keeper = undefined;
    return null;
  }

  /** Takes note that a lock was acquired: from now on it may be kept for `leaseMsMax`. */
  begin(nowMs: number): void {
    this.#sinceMs = nowMs;
  }

  /**
   * Whether the lock that was taken last was kept by `keeper`: nobody with a lock has written to
   * the log since its last append.
   */
  wasKeptBy(keeper: object): boolean {
    return this.#keeper === keeper;
  }

  /**
   * Ends an append that began at `startMs`: keeps its lock if it was one of several with hardly a
   * pause between them, else releases it. The time that appends take themselves is no pause, so
   * that a slow machine gets the same.
   */
  giveBack(path: string, held: HeldLock, { startMs, nowMs, keeper, isReturnedBy }: LeaseUse): void {
    this.#count(path, startMs, nowMs);
    const isDue = nowMs - this.#sinceMs >= leaseMsMax;
    if (this.#run.appends < leaseAfterAppends || isDue) {
      held.releaseSync();
      return;
    }
    this.#kept = { path, held };
    this.#keeper = keeper;
    if (this.#isReturning || isReturnedBy === "appender") return;
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

  /** Takes note that another process has the lock of `path`. */
  metRival(path: string, nowMs: number): void {
    this.#rival = { path, seenMs: nowMs };
  }

  /** Whether another process had the lock of `path` lately, so that it may want it again. */
  hasRivals(path: string, nowMs: number): boolean {
    return this.#rival.path === path && nowMs - this.#rival.seenMs < rivalMemoryMs;
  }

  #count(path: string, startMs: number, nowMs: number): void {
    const run = this.#run;
    const pausedMs = run.pausedMs + startMs - run.endMs;
    const goesOn = path === run.path && pausedMs <= leasePauseMsMax;
    run.appends = goesOn ? run.appends + 1 : 1;
    run.pausedMs = goesOn && run.appends < leaseAfterAppends ? pausedMs : 0;
    run.path = path;
    run.endMs = nowMs;
  }
}
