/**
 * Those who watch one value, and what each was shown last. They are told in the order in which they
 * came; one that is gone, or has seen it, is left out. Something goes on while there is anybody.
 */
import type { Subscriber } from "@branchlog/streaming";

/** See the file comment. */
export class Subscribers<T> {
  readonly #begin: () => () => void;
  readonly #isSame: (one: T, other: T) => boolean;
  readonly #shown = new Map<Subscriber<T>, T | undefined>();
  #end: (() => void) | undefined;

  /**
   * @param begin Called when the first comes; returns what is called when the last has gone.
   * @param isSame Whether who was shown the one need not be shown the other.
   */
  constructor(begin: () => () => void, isSame: (one: T, other: T) => boolean) {
    this.#begin = begin;
    this.#isSame = isSame;
  }

  get isEmpty(): boolean {
    return this.#shown.size === 0;
  }

  /** Takes in one more, which was shown nothing yet; returns what lets it go. */
  add(subscriber: Subscriber<T>): () => void {
    this.#shown.set(subscriber, undefined);
    this.#end ??= this.#begin();
    return () => {
      this.#shown.delete(subscriber);
      if (!this.isEmpty) return;
      this.#end?.();
      this.#end = undefined;
    };
  }

  /** Shows a value to all who were shown another one, or none. */
  show(value: T): void {
    for (const subscriber of this.#all()) {
      // Others may be gone by now, or were shown it by whoever came while they waited.
      if (!this.#shown.has(subscriber)) continue;
      const shown = this.#shown.get(subscriber);
      if (shown !== undefined && this.#isSame(shown, value)) continue;
      this.showTo(subscriber, value);
    }
  }

  /** Shows a value to one of them alone. */
  showTo(subscriber: Subscriber<T>, value: T): void {
    this.#shown.set(subscriber, value);
    subscriber.next(value);
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
  #all(): Subscriber<T>[] {
    return [...this.#shown.keys()];
  }
}
