/**
 * A generator that may wait for ever, and can be ended all the same: a plain one that is told to
 * return ends only after what it waits for has come.
 */

/** Hands on what the generator yields; when it is ended from outside, `end` is called first. */
export class EndableGenerator<T> implements AsyncGenerator<T, void, undefined> {
  readonly #items: AsyncGenerator<T, void, undefined>;
  readonly #end: () => void;

  /** @param end Makes what the generator waits for settle. May be called more than once. */
  constructor(items: AsyncGenerator<T, void, undefined>, end: () => void) {
    this.#items = items;
    this.#end = end;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<T, void>> {
    return this.#items.next();
  }

  return(): Promise<IteratorResult<T, void>> {
    this.#end();
    return this.#items.return();
  }

  throw(error: unknown): Promise<IteratorResult<T, void>> {
    this.#end();
    return this.#items.throw(error);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }
}
