/**
 * Watches a log while there are subscribers: hints of the system or of a store, and a slow poll
 * that finds what they miss. If reading fails, the status has the error, and the log is read again
 * later.
 */
import { basename, dirname } from "node:path";
import type { Engine } from "../session/engine.ts";
import { poll, watchWithPoll } from "../platform/polled-hints.ts";
import type { WatchedSession } from "../session/watched-session.ts";

/**
 * `catching-up`: the file was not read yet. `live`: the values are what the file held a moment ago.
 * `stalled`: it could not be read, and `error` says why; that may pass. `closed`: it is not read
 * any more.
 */
export type LiveStatus =
  | { readonly kind: "catching-up" | "live" | "closed"; readonly error?: undefined }
  | { readonly kind: "stalled"; readonly error: unknown };

const catchingUp: LiveStatus = { kind: "catching-up" };
const live: LiveStatus = { kind: "live" };
const closed: LiveStatus = { kind: "closed" };

export class LogWatch {
  readonly #session: WatchedSession;
  #isReading = false;
  /** By reader. */
  readonly #failures = new Map<object, unknown>();
  #isDue = false;
  #found: LiveStatus = catchingUp;
  #status: LiveStatus = catchingUp;
  #watched: { readonly engine: Engine; readonly stop: () => void } | undefined;
  #stopListening: (() => void) | undefined;

  /** @param session Signalled when the status changes, and when failed readers should retry. */
  constructor(session: WatchedSession) {
    this.#session = session;
  }

  get status(): LiveStatus {
    return this.#session.isClosed() ? closed : this.#status;
  }

  /** Watches until the returned function is called, or the session is closed. */
  start(): () => void {
    this.#watch();
    this.#stopListening = this.#session.changes.listen(() => {
      if (this.#session.isClosed()) {
        this.#end();
      } else if (this.#session.engine !== this.#watched?.engine) {
        this.#unwatch();
        this.#watch();
      }
    });
    return () => this.#end();
  }

  /** The reader should retry at the next signal. */
  failed(reader: object, error: unknown): void {
    if (this.#watched === undefined) return;
    this.#failures.set(reader, error);
    this.#update();
  }

  /** It succeeded, or has ended. */
  succeeded(reader: object): void {
    if (this.#failures.delete(reader)) this.#update();
  }

  #end(): void {
    this.#stopListening?.();
    this.#stopListening = undefined;
    this.#unwatch();
  }

  #watch(): void {
    const { engine } = this.#session;
    const isStalled = (): boolean => this.#found.kind === "stalled";
    this.#watched = { engine, stop: watchLog(engine, () => this.#scheduleRefresh(), isStalled) };
    this.#scheduleRefresh();
  }

  #unwatch(): void {
    this.#watched?.stop();
    this.#watched = undefined;
    this.#failures.clear();
    this.#found = catchingUp;
    this.#status = catchingUp;
  }

  /** Several hints of one event-loop iteration, or of one answer of a store, are one read. */
  #scheduleRefresh(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    if (!this.#isReading) queueMicrotask(() => this.#refreshNow());
  }

  #refreshNow(): void {
    this.#isDue = false;
    const engine = this.#watched?.engine;
    if (engine === undefined) return;
    const { stored } = engine.log;
    if (stored === undefined || stored.isBlocking === true) {
      try {
        engine.refreshSync();
        this.#refreshed(live);
      } catch (error) {
        this.#refreshed({ kind: "stalled", error });
      }
      return;
    }
    this.#isReading = true;
    void engine
      .refresh()
      .then(
        () => live,
        (error: unknown) => ({ kind: "stalled", error }) as const,
      )
      .then((status) => {
        this.#isReading = false;
        if (engine === this.#watched?.engine) this.#refreshed(status);
        if (this.#isDue) queueMicrotask(() => this.#refreshNow());
      });
  }

  #refreshed(status: LiveStatus): void {
    const { onCaughtUp, changes } = this.#session;
    this.#found = status;
    if (status === live) {
      onCaughtUp();
      // Failed readers retry, and report the result.
      if (this.#failures.size > 0) changes.notify();
    }
    this.#update();
  }

  #update(): void {
    const [failure] = this.#failures.values();
    const isFailing = this.#found.kind === "live" && this.#failures.size > 0;
    const status: LiveStatus = isFailing ? { kind: "stalled", error: failure } : this.#found;
    if (isSameStatus(status, this.#status)) return;
    this.#status = status;
    this.#session.changes.notify();
  }
}

/** Keeps the process alive until the returned function is called. */
function watchLog(
  { log, path, settings }: Engine,
  onHint: () => void,
  isStalled: () => boolean,
): () => void {
  const { ports, pollMs } = settings;
  if (log.stored === undefined) {
    const name = basename(path);
    return watchWithPoll({ ports, directory: dirname(path), pollMs }, (changed) => {
      if (changed === null || changed === name) onHint();
    });
  }
  const leave = log.stored.watch(onHint);
  // A store hints at what was appended, not at its own return.
  const stopRetrying = poll(ports.clock, pollMs, () => {
    if (isStalled()) onHint();
  });
  return () => {
    leave();
    stopRetrying();
  };
}

/** Of errors, the codes are compared. */
export function isSameStatus(one: LiveStatus, other: LiveStatus): boolean {
  if (one.kind !== "stalled" || other.kind !== "stalled") return one.kind === other.kind;
  return codeOf(one.error) === codeOf(other.error);
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : error;
}
