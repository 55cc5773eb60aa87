/**
 * Whose turn it is to append to a log, among those of one process: one at a time, in the order in
 * which they asked. Whoever wants another turn goes to the end, so that nobody starves. It keeps
 * nothing of a log that nobody waits for.
 */

/** Turns by the path of the log. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();

  /** How many logs somebody has a turn on, or waits for one. */
  get busyCount(): number {
    return this.#last.size;
  }

  /** Runs `work` once everybody who asked earlier for the same path is done, failed or not. */
  take<T>(path: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(path) ?? Promise.resolve();
    const result = before.then(work);
    const done = (): void => {
      if (this.#last.get(path) === last) this.#last.delete(path);
    };
    const last = result.then(done, done);
    this.#last.set(path, last);
    return result;
  }
}
