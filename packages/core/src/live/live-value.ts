/**
 * A value as an observable: the current one at once, then each other one, to all subscribers the
 * same in the same order. Hot, shared and conflating: a value that changed twice between two reads
 * is emitted once. Without subscribers nothing is computed.
 */
import { Observable } from "@branchlog/streaming";
import type { Subscriber } from "@branchlog/streaming";
import { isBranchlogError } from "../errors.ts";

/** A value and the revision of the log that it is of. */
export interface Live<T> {
  readonly value: T;
  /** Entries of the log that were known when the value was read. */
  readonly revision: number;
}

/** What a live value is made from. */
interface LiveSource<T> {
  /** The value as it is now. */
  readonly read: () => T;
  readonly isSame: (one: T, other: T) => boolean;
  readonly revision: () => number;
  /** Begins to watch; `onChange` is called when the value may be another. Returns what ends it. */
  readonly watch: (onChange: () => void) => () => void;
  /** Whether the session is closed: a new subscriber gets the last value and the completion. */
  readonly isClosed: () => boolean;
  /** Called when reading failed for now; the value stays what it was, and is read again. */
  readonly failed: (reader: object, error: unknown) => void;
  readonly succeeded: (reader: object) => void;
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
function isSameValue<T>(one: Live<T>, other: Live<T>): boolean {
  return one.value === other.value;
}

/** As {@link LiveSource}, but for the reading. */
interface ComputationSource<T> extends Omit<LiveSource<T>, "read"> {
  /** The value as it is when this is called, or somewhat later; the revision is taken before. */
  readonly compute: () => Promise<T>;
  /** Counts the changes, to tell whether a value is of now. */
  readonly version: () => number;
}

/**
 * A value that is watched and takes time to compute, since bodies are read for it. As a live value:
 * shared, conflating, each other one to all subscribers. It is computed for the first of them, and
 * again after changes, one computation at a time; what changes meanwhile is the next one's.
 */
export class LiveComputation<T> {
  /** Emits the current value once it is computed, then each other one; completes at the close. */
  readonly observable: Observable<Live<T>>;
  readonly #source: ComputationSource<T>;
  readonly #subscribers: Subscribers<Live<T>>;
  #last: { readonly live: Live<T>; readonly version: number } | undefined;
  #isRunning = false;
  #isDue = false;

  constructor(source: ComputationSource<T>) {
    this.#source = source;
    this.observable = new Observable((subscriber) => this.#subscribe(subscriber));
    this.#subscribers = new Subscribers(() => {
      const stop = source.watch(() => this.#run());
      return () => {
        source.succeeded(this);
        stop();
      };
    }, isSameValue);
  }

  #subscribe(subscriber: Subscriber<Live<T>>): () => void {
    const release = this.#subscribers.add(subscriber);
    const isOfNow = this.#last?.version === this.#source.version();
    if (this.#last !== undefined && isOfNow) this.#subscribers.showTo(subscriber, this.#last.live);
    else this.#run();
    this.#completeIfClosed();
    return release;
  }

  #run(): void {
    this.#isDue = true;
    if (this.#isRunning) return;
    this.#isRunning = true;
    void this.#computeWhileDue();
  }

  async #computeWhileDue(): Promise<void> {
    const { version, revision, compute, isSame, succeeded } = this.#source;
    while (this.#isDue && !this.#subscribers.isEmpty) {
      this.#isDue = false;
      const at = version();
      const before = revision();
      try {
        const value = await compute();
        const last = this.#last?.live;
        const isKept = last !== undefined && isSame(last.value, value);
        const live = { value: isKept ? last.value : value, revision: before };
        this.#last = { live, version: at };
        succeeded(this);
        this.#subscribers.show(live);
      } catch (error) {
        // What changed meanwhile is another log, maybe, or the same without what was missing.
        if (!this.#isDue && !this.#subscribers.isEmpty) this.#fail(error);
      }
    }
    this.#isRunning = false;
    this.#completeIfClosed();
  }

  #fail(error: unknown): void {
    const { failed, isClosed } = this.#source;
    if (isTransient(error) && !isClosed()) failed(this, error);
    else this.#subscribers.fail(error);
  }

  /** A last computation may be under way; the end comes after it. */
  #completeIfClosed(): void {
    if (this.#source.isClosed() && !this.#isRunning) this.#subscribers.complete();
  }
}

/**
 * The subscribers of one value, and what each got last. They are called in the order of their
 * subscriptions; one that has left, or has the value, is skipped. A resource is held while there
 * are any.
 */
export class Subscribers<T> {
  readonly #begin: () => () => void;
  readonly #isSame: (one: T, other: T) => boolean;
  readonly #shown = new Map<Subscriber<T>, T | undefined>();
  #end: (() => void) | undefined;

  /**
   * @param begin Called when the first comes; returns what is called when the last has gone.
   * @param isSame Whether a subscriber that has the one need not get the other.
   */
  constructor(begin: () => () => void, isSame: (one: T, other: T) => boolean) {
    this.#begin = begin;
    this.#isSame = isSame;
  }

  get isEmpty(): boolean {
    return this.#shown.size === 0;
  }

  /** Adds one, which has no value yet; returns what removes it. */
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

  /** Emits a value to all that have another one, or none. */
  show(value: T): void {
    for (const subscriber of this.#all()) {
      // Others may have left since, or got it through a subscription made meanwhile.
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

  /** A copy, since a subscriber that is called may unsubscribe itself or others, or subscribe. */
  #all(): Subscriber<T>[] {
    return [...this.#shown.keys()];
  }
}

// Which failures to read a log may pass: those of its file, not those of a caller's code.

/** Whether to try again after the next read of the file. */
export function isTransient(error: unknown): boolean {
  return isBranchlogError(error, "ERR_LOG_GONE") || isBranchlogError(error, "ERR_LOG_UNREADABLE");
}
