/**
 * Brings changes to those who watch for them: after the change, never in the midst of it, so that
 * a subscriber may append. All changes of one turn come as one. While they are brought, new ones
 * wait their turn; so everybody sees the same things in the same order.
 */
import type { ChangeSignal } from "../log/change-signal.ts";

/** See the file comment. Listens to the signal only while somebody listens here. */
export class Delivery {
  readonly #changes: ChangeSignal;
  readonly #listeners = new Set<() => void>();
  #isDue = false;
  #stopListening: (() => void) | undefined;

  constructor(changes: ChangeSignal) {
    this.#changes = changes;
  }

  /** Calls `listener` after each change. Returns what ends that. */
  listen(listener: () => void): () => void {
    const own = (): void => listener();
    this.#listeners.add(own);
    this.#stopListening ??= this.#changes.listen(() => this.#schedule());
    return () => {
      this.#listeners.delete(own);
      if (this.#listeners.size > 0) return;
      this.#stopListening?.();
      this.#stopListening = undefined;
    };
  }

  #schedule(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      const listening = [...this.#listeners];
      for (const listener of listening) {
        if (this.#listeners.has(listener)) listener();
      }
    });
  }
}
