/**
 * A value that is watched and takes time to compute, since bodies are read for it. As a live value:
 * shared, conflating, each other one to all who watch. It is computed when the first comes, and
 * again after changes, one computation at a time; what changes meanwhile is the next one's.
 */
import { Observable } from "@branchlog/streaming";
import type { Subscriber } from "@branchlog/streaming";
import { isSameValue } from "./live-value.ts";
import type { Live, LiveSource } from "./live-value.ts";
import { isTransient } from "./transient-failure.ts";
import { Subscribers } from "./subscribers.ts";

/** As {@link LiveSource}, but for the reading. */
export interface ComputationSource<T> extends Omit<LiveSource<T>, "read"> {
  /** The value as it is when this is called, or somewhat later; the revision is taken before. */
  readonly compute: () => Promise<T>;
  /** Counts the changes, to tell whether a value is of now. */
  readonly version: () => number;
}

/** See the file comment. */
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
