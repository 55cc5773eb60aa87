/**
 * What emissions are, which failures pass, and the operators that rxjs does not have: one run of
 * work at a time, and an observable of what an async iterator yields.
 */
import { EMPTY, defer, exhaustMap, finalize, from, of, repeat, tap } from "rxjs";
import type { Observable, ObservableInput } from "rxjs";
import { isBranchlogError } from "../errors.ts";

/** A value and the revision of the log that it is of. */
export interface Live<T> {
  readonly value: T;
  /** Entries of the log that were known when the value was read. */
  readonly revision: number;
}

/** Whether to try again after the next read of the file: not for errors of a caller's code. */
export function isTransient(error: unknown): boolean {
  return isBranchlogError(error, "ERR_LOG_GONE") || isBranchlogError(error, "ERR_LOG_UNREADABLE");
}

/**
 * Runs `work` for a signal, one run at a time; all signals during a run are one more run. `work`
 * is told whether one is due already, so that it can drop its own result. rxjs has operators that
 * drop these signals, queue each of them, or run at the same time.
 */
export function oneAtATime<T>(
  signals: Observable<unknown>,
  work: (isDue: () => boolean) => ObservableInput<T>,
): Observable<T> {
  return defer(() => {
    let isDue = false;
    const run = defer(() => {
      isDue = false;
      return work(() => isDue);
    });
    return signals.pipe(
      tap(() => {
        isDue = true;
      }),
      exhaustMap(() => run.pipe(repeat({ delay: () => (isDue ? of(isDue) : EMPTY) }))),
    );
  });
}

/**
 * A cold observable of what an async iterator yields: each subscription calls `iterate` and pulls
 * one item at a time, the next one after `next()` returned. Nothing is emitted while `subscribe`
 * runs. Unsubscribing aborts the signal, at which the iterator should end.
 */
export function observableOf<T>(iterate: (signal: AbortSignal) => AsyncIterable<T>): Observable<T> {
  return defer(() => {
    const ending = new AbortController();
    return from(iterate(ending.signal)).pipe(finalize(() => ending.abort()));
  });
}
