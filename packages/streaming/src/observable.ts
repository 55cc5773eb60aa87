/**
 * The only import of rxjs, and the conversion of an async iterator to an observable. Only the
 * module of the class is loaded: all of rxjs would take three times as long, at the start of every
 * program. It is the class that "rxjs" exports, so operators work on it, also those of another
 * copy.
 */
import { Observable } from "rxjs/internal/Observable";
import type { Subscriber } from "rxjs/internal/Subscriber";

export { Observable } from "rxjs/internal/Observable";
export type { Subscriber } from "rxjs/internal/Subscriber";
export type { Subscription } from "rxjs/internal/Subscription";

/**
 * A cold observable of what an async iterator yields: each subscription calls `iterate` and pulls
 * one item at a time, the next one after `next()` returned. So nothing is queued and nothing is
 * dropped; but an operator that waits itself (`concatMap`, `mergeMap`) buffers the items that
 * arrive meanwhile, without a bound. Nothing is emitted while `subscribe` runs.
 *
 * Unsubscribing aborts the signal and ends the iterator; an exception after that is ignored. The
 * iterator should end at the signal; one that ignores it is ended after its next item.
 *
 * @example
 * // import { setInterval } from "node:timers/promises";
 * const ticks = observableOf((signal) => setInterval(1000, "tick", { signal }));
 */
export function observableOf<T>(iterate: (signal: AbortSignal) => AsyncIterable<T>): Observable<T> {
  return new Observable<T>((subscriber) => {
    const controller = new AbortController();
    void pushAll(iterate, controller.signal, subscriber);
    return () => controller.abort();
  });
}

async function pushAll<T>(
  iterate: (signal: AbortSignal) => AsyncIterable<T>,
  signal: AbortSignal,
  subscriber: Subscriber<T>,
): Promise<void> {
  try {
    for await (const item of iterate(signal)) {
      if (subscriber.closed) return;
      subscriber.next(item);
      if (subscriber.closed) return;
    }
    subscriber.complete();
  } catch (error) {
    // A closed subscriber would report it as an unhandled error.
    if (!subscriber.closed) subscriber.error(error);
  }
}
