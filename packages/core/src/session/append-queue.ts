/**
 * The appends of one asynchronous session, one after the other in the order of their calls. A
 * failed one is its caller's business only; the next goes on.
 */
import type { AppendRequest, AppendResult } from "./append-entries.ts";
import type { Engine } from "./engine.ts";
import type { LeafCursor } from "./leaf-cursor.ts";
import { runAsync } from "./steps.ts";

/** See the file comment. */
export class AppendQueue {
  readonly #engine: Engine;
  readonly #leaf: LeafCursor;
  #last: Promise<unknown> = Promise.resolve();

  constructor(engine: Engine, leaf: LeafCursor) {
    this.#engine = engine;
    this.#leaf = leaf;
  }

  /** Appends once everything that was asked for earlier is done. */
  append(request: AppendRequest, signal?: AbortSignal): Promise<readonly AppendResult[]> {
    return this.run(() => {
      signal?.throwIfAborted();
      const steps = this.#engine.append(request, this.#leaf);
      return runAsync(steps, this.#engine.settings.ports.clock, signal);
    });
  }

  /** Runs `work` once everything that was asked for earlier is done. */
  run<T>(work: () => T | Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    // The queue goes on after a failure, which is reported to the caller through `result`.
    this.#last = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  }

  /** Resolves once nothing is under way. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
