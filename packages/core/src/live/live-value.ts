/**
 * A value that is watched: the current one at once, then each other one, to all who watch the same
 * in the same order. Hot, shared and conflating: what came and went between two looks is not seen.
 * Nothing is computed and nobody listens while no one watches.
 */
import { Observable } from "@branchlog/streaming";
import { isPassing } from "./passing-failure.ts";
import type { Subscriber } from "@branchlog/streaming";

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
  /** Who watches, and what each was shown last. */
  readonly #shown = new Map<Subscriber<Live<T>>, T>();
  #last: { readonly value: T } | undefined;
  #stop: (() => void) | undefined;

  constructor(source: LiveSource<T>) {
    this.#source = source;
    this.observable = new Observable((subscriber) => this.#subscribe(subscriber));
  }

  #subscribe(subscriber: Subscriber<Live<T>>): () => void {
    const { isClosed, watch, revision } = this.#source;
    const value = this.#read();
    if (isClosed()) {
      subscriber.next({ value, revision: revision() });
      subscriber.complete();
      return () => undefined;
    }
    this.#shown.set(subscriber, value);
    this.#stop ??= watch(() => this.#changed());
    subscriber.next({ value, revision: revision() });
    return () => {
      this.#shown.delete(subscriber);
      if (this.#shown.size > 0) return;
      this.#source.succeeded(this);
      this.#stop?.();
      this.#stop = undefined;
    };
  }

  /** The value now; the same reference as before if it is the same. */
  #read(): T {
    const value = this.#source.read();
    if (this.#last === undefined || !this.#source.isSame(this.#last.value, value)) {
      this.#last = { value };
    }
    return this.#last.value;
  }

  #changed(): void {
    const { isClosed, failed, succeeded, revision } = this.#source;
    const watching = [...this.#shown];
    try {
      const live = { value: this.#read(), revision: revision() };
      succeeded(this);
      for (const [subscriber, shown] of watching) {
        // Whoever came while the others were told has seen it; others may be gone.
        if (shown === live.value || !this.#shown.has(subscriber)) continue;
        this.#shown.set(subscriber, live.value);
        subscriber.next(live);
      }
    } catch (error) {
      if (isPassing(error)) failed(this, error);
      else for (const [subscriber] of watching) subscriber.error(error);
    }
    const left = isClosed() ? [...this.#shown.keys()] : [];
    for (const subscriber of left) subscriber.complete();
  }
}
