/**
 * Those who watch one value, and what each was shown last. They are told in the order in which they
 * came; one that is gone, or has seen it, is left out. Something goes on while there is anybody.
 */
import type { Subscriber } from "@branchlog/streaming";

/** A value and the revision of the log that it is of. */
export interface Live<T> {
  readonly value: T;
  /** Entries of the log that were known when the value was looked at. */
  readonly revision: number;
}

/** See the file comment. */
export class Subscribers<T> {
  readonly #begin: () => () => void;
  readonly #shown = new Map<Subscriber<Live<T>>, Live<T> | undefined>();
  #end: (() => void) | undefined;

  /** @param begin Called when the first comes; returns what is called when the last has gone. */
  constructor(begin: () => () => void) {
    this.#begin = begin;
  }

  get isEmpty(): boolean {
    return this.#shown.size === 0;
  }

  /**
   * Takes in one more; returns what lets it go.
   * @param shown What the caller shows it.
   */
  add(subscriber: Subscriber<Live<T>>, shown?: Live<T>): () => void {
    this.#shown.set(subscriber, shown);
    this.#end ??= this.#begin();
    return () => {
      this.#shown.delete(subscriber);
      if (!this.isEmpty) return;
      this.#end?.();
      this.#end = undefined;
    };
  }

  /** Shows a value to all who were shown another one, or none. */
  show(live: Live<T>): void {
    for (const subscriber of this.#all()) {
      // Others may be gone by now, or were shown it by whoever came while they waited.
      if (!this.#shown.has(subscriber)) continue;
      const shown = this.#shown.get(subscriber);
      if (shown !== undefined && shown.value === live.value) continue;
      this.#shown.set(subscriber, live);
      subscriber.next(live);
    }
  }

  /** Ends them all with an error. */
  fail(error: unknown): void {
    for (const subscriber of this.#all()) subscriber.error(error);
  }

  /** Ends them all. */
  complete(): void {
    for (const subscriber of this.#all()) subscriber.complete();
  }

  /** A copy, since those who are told may leave, and others come. */
  #all(): Subscriber<Live<T>>[] {
    return [...this.#shown.keys()];
  }
}
