/** Sent during a change, without its content: listeners must read later. */
export class ChangeSignal {
  readonly #listeners = new Set<() => void>();
  #version = 0;

  get version(): number {
    return this.#version;
  }

  readonly notify = (): void => {
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  };

  /** `listener` must not throw. Returns a function that ends it. */
  listen(listener: () => void): () => void {
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
    };
  }
}
