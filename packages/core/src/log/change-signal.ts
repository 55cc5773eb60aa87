/**
 * Tells that what a session shows may be something else now: its log has grown, was replaced, or
 * turned out damaged; its leaf has moved. It says that, not what, and it says it in the midst of
 * the change: listeners read later.
 */

/** See the file comment. */
export class ChangeSignal {
  readonly #listeners = new Set<() => void>();
  #version = 0;

  /** Counts the changes. */
  get version(): number {
    return this.#version;
  }

  /** Tells of a change. */
  readonly notify = (): void => {
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  };

  /** Calls `listener` at every change; it must not throw. Returns what ends that. */
  listen(listener: () => void): () => void {
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
    };
  }
}
