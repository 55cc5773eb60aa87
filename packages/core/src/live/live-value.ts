/**
 * A value that is watched: the current one at once, then each other one, to all who watch the same
 * in the same order. Hot, shared and conflating: what came and went between two looks is not seen.
 * Nothing is computed and nobody listens while no one watches.
 */
import { Observable } from "@branchlog/streaming";
import type { Subscriber } from "@branchlog/streaming";
import { isTransient } from "./transient-failure.ts";
import { Subscribers } from "./subscribers.ts";

/** A value and the revision of the log that it is of. */
export interface Live<T> {
  readonly value: T;
  /** Entries of the log that were known when the value was looked at. */
  readonly revision: number;
}

/** What a live value is made from. */
export interface LiveSource<T> {
  /** The value as it is now. */
  readonly read: () => T;
  readonly isSame: (one: T, other: T) => boolean;
  readonly revision: () => number;
  /** Begins to watch; `onChange` is called when the value may be another. Returns what ends it. */
  readonly watch: (onChange: () => void) => () => void;
  /** Whether the session is closed: whoever comes gets the last value and the end. */
  readonly isClosed: () => boolean;
  /** Told who could not read for now; the value stays what it was, and is read again. */
  readonly failed: (who: object, error: unknown) => void;
  readonly succeeded: (who: object) => void;
}

/** See the file comment. */
export class LiveValue<T> {
  /** Emits the current value at once, then each other one; completes when the session closes. */
  readonly observable: Observable<Live<T>>;
  readonly #source: LiveSource<T>;
  readonly #subscribers: Subscribers<Live<T>>;
  #last: Live<T> | undefined;

  constructor(source: LiveSource<T>) {
    this.#source = source;
    this.observable = new Observable((subscriber) => this.#subscribe(subscriber));
    this.#subscribers = new Subscribers(() => {
      const stop = source.watch(() => this.#changed());
      return () => {
        source.succeeded(this);
        stop();
      };
    }, isSameValue);
  }

  #subscribe(subscriber: Subscriber<Live<T>>): () => void {
    if (this.#source.isClosed()) {
      subscriber.next(this.#readLast());
      subscriber.complete();
      return () => undefined;
    }
    const release = this.#subscribers.add(subscriber);
    try {
      this.#subscribers.showTo(subscriber, this.#read());
    } catch (error) {
      if (isTransient(error)) this.#source.failed(this, error);
      else subscriber.error(error);
    }
    return release;
  }

  /** The value now; the same reference as before if it is the same. */
  #read(): Live<T> {
    const { read, isSame, revision } = this.#source;
    const value = read();
    const last = this.#last;
    const isKept = last !== undefined && isSame(last.value, value);
    this.#last = { value: isKept ? last.value : value, revision: revision() };
    return this.#last;
  }

  /** The value at the close; the one before if what it needs cannot be read any more. */
  #readLast(): Live<T> {
    try {
      return this.#read();
    } catch (error) {
      if (this.#last === undefined) throw error;
      return this.#last;
    }
  }

  #changed(): void {
    const { isClosed, failed, succeeded } = this.#source;
    try {
      const live = this.#read();
      succeeded(this);
      this.#subscribers.show(live);
    } catch (error) {
      if (isTransient(error)) failed(this, error);
      else this.#subscribers.fail(error);
    }
    if (isClosed()) this.#subscribers.complete();
  }
}

/** Whether two emissions are of the same value, whatever the revision. */
export function isSameValue<T>(one: Live<T>, other: Live<T>): boolean {
  return one.value === other.value;
}
