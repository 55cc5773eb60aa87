/**
 * `return()` of a plain async generator takes effect only after the promise that it awaits has
 * settled; this generator can be ended while it waits: `return()` and `throw()` call `end` first.
 */

export class EndableGenerator<T> implements AsyncGenerator<T, void, undefined> {
  readonly #items: AsyncGenerator<T, void, undefined>;
  readonly #end: () => void;

  /** @param end Settles the promise that the generator awaits. May be called more than once. */
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
