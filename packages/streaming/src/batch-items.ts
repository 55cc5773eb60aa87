/**
 * Yields the items of batches one by one, like an async generator, at a third of its cost for each
 * item already in memory.
 */

/**
 * The items of the batches, in order. Ends `batches` when it is ended itself, and when an item
 * throws. An aborted signal makes it throw the reason instead of the next item.
 */
export function itemsOf<T>(
  batches: AsyncGenerator<Iterable<T>, void, undefined>,
  signal?: AbortSignal,
): AsyncGenerator<T, void, undefined> {
  return new BatchItems(batches, signal);
}

type Answer<T> = IteratorResult<T, void>;

/** See the file comment. Concurrent calls are answered in their order. */
class BatchItems<T> implements AsyncGenerator<T, void, undefined> {
  readonly #batches: AsyncGenerator<Iterable<T>, void, undefined>;
  readonly #signal: AbortSignal | undefined;
  #items: Iterator<T> | undefined;
  /** Calls without an answer yet; later calls queue after them. */
  #open = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    batches: AsyncGenerator<Iterable<T>, void, undefined>,
    signal: AbortSignal | undefined,
  ) {
    this.#batches = batches;
    this.#signal = signal;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Answer<T>> {
    if (this.#open > 0) return this.#enqueue(() => this.#pull());
    try {
      const item = this.#nextItem();
      if (item !== undefined) return Promise.resolve(item);
    } catch (error) {
      return this.throw(error);
    }
    return this.#enqueue(() => this.#pull());
  }

  return(): Promise<Answer<T>> {
    return this.#enqueue(async () => {
      await this.#end();
      return { done: true, value: undefined };
    });
  }

  throw(error: unknown): Promise<Answer<T>> {
    return this.#enqueue(async () => {
      await this.#end();
      throw error;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  #enqueue(action: () => Promise<Answer<T>>): Promise<Answer<T>> {
    const countAnswer = (): void => {
      this.#open -= 1;
    };
    this.#open += 1;
    const answer = this.#last.then(action);
    this.#last = answer.then(countAnswer, countAnswer);
    return answer;
  }

  async #pull(): Promise<Answer<T>> {
    try {
      for (;;) {
        const item = this.#nextItem();
        if (item !== undefined) return item;
        const batch = await this.#batches.next();
        if (batch.done === true) return batch;
        this.#items = batch.value[Symbol.iterator]();
      }
    } catch (error) {
      await this.#end();
      throw error;
    }
  }

  async #end(): Promise<void> {
    this.#items = undefined;
    await this.#batches.return();
  }

  /** The next item of the current batch, or undefined. */
  #nextItem(): Answer<T> | undefined {
    if (this.#items === undefined) return undefined;
    this.#signal?.throwIfAborted();
    const item = this.#items.next();
    if (item.done !== true) return item;
    this.#items = undefined;
    return undefined;
  }
}
