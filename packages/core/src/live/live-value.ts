/** Emitted values, transient failures, and two operators that rxjs does not have. */
import { EMPTY, defer, exhaustMap, finalize, from, of, repeat, tap } from "rxjs";
import type { Observable, ObservableInput } from "rxjs";
import { isBranchlogError } from "../errors.ts";

/** A value, and the number of entries of the log that were known when it was read. */
export interface Live<T> {
  readonly value: T;
  readonly revision: number;
}

/** Whether another read of the file may succeed; false for errors of a caller's code. */
export function isTransient(error: unknown): boolean {
  return isBranchlogError(error, "ERR_LOG_GONE") || isBranchlogError(error, "ERR_LOG_UNREADABLE");
}

/**
 * Runs `work` for a signal, one run at a time; all signals during a run cause one more run. `work`
 * is passed whether one is due, so that it can drop its own result. The operators of rxjs drop
 * these signals, queue each of them, or run concurrently.
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
 * A cold observable of an async iterable: each subscription calls `iterate` and pulls one item at a
 * time, the next one after `next()` returned. Nothing is emitted during `subscribe`. Unsubscribing
 * aborts the signal, at which the iterator should end.
 */
export function observableOf<T>(iterate: (signal: AbortSignal) => AsyncIterable<T>): Observable<T> {
  return defer(() => {
    const ending = new AbortController();
    return from(iterate(ending.signal)).pipe(finalize(() => ending.abort()));
  });
}
