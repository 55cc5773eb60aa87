/**
 * What all observables of one session share: the delivery of changes, the watching of the file, and
 * the end of both when the session is closed.
 */
import type { LeafCursor } from "../append/leaf-cursor.ts";
import type { ChangeSignal } from "../log/change-signal.ts";
import type { Engine } from "../session/engine.ts";
import type { WatchedSession } from "../session/watched-session.ts";
import type { EventSource } from "./entry-events.ts";
import { LiveComputation, LiveValue } from "./live-value.ts";
import { LogWatch } from "./log-watch.ts";
import type { LiveStatus } from "./log-watch.ts";

/** See the file comment. */
export class LiveHub implements EventSource {
  readonly #session: WatchedSession;
  readonly #delivery: Delivery;
  readonly #watch: LogWatch;

  constructor(session: WatchedSession) {
    this.#session = session;
    this.#delivery = new Delivery(session.changes);
    this.#watch = new LogWatch(session);
  }

  get engine(): Engine {
    return this.#session.engine;
  }

  get leaf(): LeafCursor {
    return this.#session.leaf;
  }

  get version(): number {
    return this.#session.changes.version;
  }

  get isClosed(): boolean {
    return this.#session.isClosed();
  }

  /** Runs a function that reads the session, which may be closed. */
  reading<T>(read: () => T): T {
    return this.#session.reading(read);
  }

  /** How current the values are. */
  get status(): LiveStatus {
    return this.#watch.status;
  }

  /** A value that is the same until `read` gives another, by `isSame`. */
  value<T>(read: () => T, isSame: (one: T, other: T) => boolean = Object.is): LiveValue<T> {
    return new LiveValue<T>({
      read,
      isSame,
      revision: () => this.engine.log.state.revision,
      watch: (onChange) => this.watch(onChange),
      isClosed: () => this.isClosed,
      failed: (reader, error) => this.failed(reader, error),
      succeeded: (reader) => this.succeeded(reader),
    });
  }

  /** As {@link LiveHub.value}, of something that takes time. */
  computation<T>(
    compute: () => Promise<T>,
    isSame: (one: T, other: T) => boolean = Object.is,
  ): LiveComputation<T> {
    return new LiveComputation<T>({
      compute,
      isSame,
      version: () => this.version,
      revision: () => this.engine.log.state.revision,
      watch: (onChange) => this.watch(onChange),
      isClosed: () => this.isClosed,
      failed: (reader, error) => this.failed(reader, error),
      succeeded: (reader) => this.succeeded(reader),
    });
  }

  /** Calls `onChange` after each change, foreign ones too, until that is ended. */
  watch(onChange: () => void): () => void {
    const release = this.#watch.hold();
    const stop = this.#delivery.listen(onChange);
    return () => {
      stop();
      release();
    };
  }

  /** Watches the file until the returned function was called. */
  hold(): () => void {
    return this.#watch.hold();
  }

  changed(version: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      if (this.version !== version || this.isClosed || signal?.aborted === true) {
        resolve();
        return;
      }
      const end = (): void => {
        stop();
        signal?.removeEventListener("abort", end);
        resolve();
      };
      const stop = this.#delivery.listen(end);
      signal?.addEventListener("abort", end, { once: true });
    });
  }

  failed(reader: object, error: unknown): void {
    this.#watch.failed(reader, error);
  }

  succeeded(reader: object): void {
    this.#watch.succeeded(reader);
  }
}

// Delivers changes to listeners: after the change, never during it, so that a subscriber may
// append. All changes of one event-loop iteration are one delivery, and a change during a delivery
// is the next one; so all listeners see the same values in the same order.

/** Listens to the signal only while it has listeners. */
class Delivery {
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
