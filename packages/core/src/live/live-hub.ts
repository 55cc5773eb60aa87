/**
 * The shared delivery of changes of one session, the watching of its file, and the end of both when
 * it is closed; and observables of values: hot, shared and conflating, they emit the current value
 * at once, then each different one, to all subscribers in the same order. Without subscribers
 * nothing is watched or computed.
 */
import {
  EMPTY,
  Observable,
  asapScheduler,
  auditTime,
  catchError,
  concatMap,
  defer,
  distinctUntilChanged,
  finalize,
  from,
  merge,
  of,
  share,
  takeWhile,
} from "rxjs";
import type { LeafCursor } from "../append/leaf-cursor.ts";
import type { Engine } from "../session/engine.ts";
import type { WatchedSession } from "../session/watched-session.ts";
import { isTransient, oneAtATime } from "./live-value.ts";
import type { Live } from "./live-value.ts";
import { LogWatch } from "./log-watch.ts";
import type { LiveStatus } from "./log-watch.ts";

export class LiveHub {
  /**
   * Changes of the log, the leaf and the known damage, foreign ones too; completes when the session
   * is closed. The file is watched while anything subscribes. A change is delivered after it, never
   * during it, so that a subscriber may append; all changes of one event-loop iteration are one
   * delivery.
   */
  readonly changes$: Observable<unknown>;
  readonly #session: WatchedSession;
  readonly #watch: LogWatch;

  constructor(session: WatchedSession) {
    this.#session = session;
    this.#watch = new LogWatch(session);
    this.changes$ = new Observable<undefined>((subscriber) => {
      if (this.isClosed) {
        subscriber.complete();
        return;
      }
      subscriber.add(this.#watch.start());
      subscriber.add(session.changes.listen(() => subscriber.next(undefined)));
    }).pipe(
      auditTime(0, asapScheduler),
      takeWhile(() => !this.isClosed, true),
      share(),
    );
  }

  get engine(): Engine {
    return this.#session.engine;
  }

  get leaf(): LeafCursor {
    return this.#session.leaf;
  }

  get version(): number {
    return this.#session.changes.version;
  }

  get isClosed(): boolean {
    return this.#session.isClosed();
  }

  reading<T>(read: () => T): T {
    return this.#session.reading(read);
  }

  get status(): LiveStatus {
    return this.#watch.status;
  }

  /** Emits what `read` returns whenever it differs by `isSame`. */
  value<T>(read: () => T, isSame: (one: T, other: T) => boolean = Object.is): Observable<Live<T>> {
    const reader = {};
    let last: Live<T> | undefined;
    const readNow = (): Live<T> => {
      last = { value: kept(last, read(), isSame), revision: this.#revision };
      return last;
    };
    const readAnew = (): Observable<Live<T>> => {
      try {
        const live = readNow();
        this.succeeded(reader);
        return of(live);
      } catch (error) {
        if (!isTransient(error)) throw error;
        this.failed(reader, error);
        return EMPTY;
      }
    };
    const readFirst = (): Observable<Live<T>> => {
      if (!this.isClosed) return readAnew();
      try {
        return of(readNow());
      } catch (error) {
        if (last === undefined) throw error;
        return of(last);
      }
    };
    const changed$ = this.changes$.pipe(concatMap(readAnew));
    return this.#shared(reader, changed$, readFirst);
  }

  /**
   * As {@link LiveHub.value}, for an asynchronous value. It is computed for the first subscriber,
   * and again after changes, one computation at a time; changes during a computation cause another
   * one.
   */
  computation<T>(
    compute: () => Promise<T>,
    isSame: (one: T, other: T) => boolean = Object.is,
  ): Observable<Live<T>> {
    const reader = {};
    let last: Live<T> | undefined;
    let lastVersion = -1;
    let running: Promise<unknown> = Promise.resolve();
    const runNow = async (): Promise<Live<T>> => {
      const { version } = this;
      const revision = this.#revision;
      if (last === undefined || lastVersion !== version) {
        last = { value: kept(last, await compute(), isSame), revision };
        lastVersion = version;
      }
      this.succeeded(reader);
      return last;
    };
    // A run continues after its last subscriber left: the next one waits for it, and may use it.
    const run = (): Promise<Live<T>> => {
      const ended = running.then(runNow);
      running = ended.catch(() => undefined);
      return ended;
    };
    const runOrFail = (isDue: () => boolean): Observable<Live<T>> =>
      from(run()).pipe(
        catchError((error: unknown) => {
          // The log may have been replaced or completed during the computation.
          if (isDue()) return EMPTY;
          if (!isTransient(error) || this.isClosed) throw error;
          this.failed(reader, error);
          return EMPTY;
        }),
      );
    const known = (): Observable<Live<T>> =>
      last !== undefined && lastVersion === this.version ? of(last) : EMPTY;
    const isKnown = (): boolean => lastVersion === this.version;
    const due$ = defer(() => merge(isKnown() ? EMPTY : of(undefined), this.changes$));
    return this.#shared(reader, oneAtATime(due$, runOrFail), known);
  }

  /** Resolves once something may have changed after `version`, or at the signal or the close. */
  // Without operators, which would double the memory of each waiting reader of entries.
  changed(version: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      if (this.version !== version || this.isClosed || signal?.aborted === true) {
        resolve();
        return;
      }
      const end = (): void => {
        waiting.unsubscribe();
        signal?.removeEventListener("abort", end);
        resolve();
      };
      const waiting = this.changes$.subscribe(end);
      signal?.addEventListener("abort", end, { once: true });
    });
  }

  /** Another read of the log is scheduled. */
  failed(reader: object, error: unknown): void {
    this.#watch.failed(reader, error);
  }

  succeeded(reader: object): void {
    this.#watch.succeeded(reader);
  }

  get #revision(): number {
    return this.engine.log.state.revision;
  }

  /** Later values are computed once for all; the first is computed for each subscriber at once. */
  #shared<T>(
    reader: object,
    later$: Observable<Live<T>>,
    first: () => Observable<Live<T>>,
  ): Observable<Live<T>> {
    const shared$ = later$.pipe(
      finalize(() => this.succeeded(reader)),
      share(),
    );
    return merge(shared$, defer(first)).pipe(
      distinctUntilChanged((one, other) => one.value === other.value),
    );
  }
}

function kept<T>(last: Live<T> | undefined, value: T, isSame: (one: T, other: T) => boolean): T {
  return last !== undefined && isSame(last.value, value) ? last.value : value;
}
