/**
 * Signals that the values of a session may have changed: its log has grown, was replaced, or was
 * found damaged; its leaf has moved. It does not say what changed, and it is sent during the
 * change: listeners read later.
 */

/** See the file comment. */
export class ChangeSignal {
  readonly #listeners = new Set<() => void>();
  #version = 0;

  /** Counts the changes. */
  get version(): number {
    return this.#version;
  }

  /** Signals a change. */
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
