/**
 * Keeps the lock of one log for a moment, when a process appends to it synchronously again and
 * again: taking the lock costs more than the append. It is given back when the caller's code ends
 * (in a microtask), after `leaseMsMax`, and before anybody in this process waits for a lock. Other
 * processes wait a little longer for it; what is safe with a lock is as safe with a kept one.
 */
import { leaseAfterAppends, leaseMsMax, leasePauseMsMax } from "../limits.ts";
import type { HeldLock } from "./ports.ts";

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

  /** Whether a lock is kept. */
  get isKept(): boolean {
    return this.#kept !== undefined;
  }

  /** The kept lock of `path`; null: there is none, or it was kept for long enough. */
  take(path: string, nowMs: number): HeldLock | null {
    const kept = this.#kept;
    if (kept?.path === path && nowMs - this.#sinceMs < leaseMsMax) {
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
   * Ends a synchronous append that began at `startMs`: keeps its lock if it was one of several
   * with hardly a pause between them, else releases it. The time that appends take themselves is
   * no pause, so that a slow machine gets the same.
   * @param keeper Who appended.
   */
  giveBack(
    path: string,
    held: HeldLock,
    { startMs, nowMs, keeper }: { startMs: number; nowMs: number; keeper: object },
  ): void {
    this.#count(path, startMs, nowMs);
    const isDue = nowMs - this.#sinceMs >= leaseMsMax;
    if (this.#run.appends < leaseAfterAppends || isDue) {
      held.releaseSync();
      return;
    }
    this.#kept = { path, held };
    this.#keeper = keeper;
    if (this.#isReturning) return;
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
