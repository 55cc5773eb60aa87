/**
 * Watches the file of a log while somebody wants to know of it: hints of the system say when to
 * look, and a slow poll behind them finds what they miss. It looks by reading what others appended;
 * if that fails, the state says so, and it looks again later.
 */
import { basename, dirname } from "node:path";
import type { Engine } from "../session/engine.ts";
import { watchWithPoll } from "../store/polled-hints.ts";
import type { WatchedSession } from "../session/watched-session.ts";

/**
 * How what is shown stands to the file. `catching-up`: it was not looked at yet. `live`: what is
 * shown is what the file held a moment ago. `stalled`: it could not be read, and `error` says why;
 * that may pass. `closed`: it is not looked at any more.
 */
export type LiveStatus =
  | { readonly kind: "catching-up" }
  | { readonly kind: "live" }
  | { readonly kind: "stalled"; readonly error: unknown }
  | { readonly kind: "closed" };

const catchingUp: LiveStatus = { kind: "catching-up" };
const live: LiveStatus = { kind: "live" };
const closed: LiveStatus = { kind: "closed" };

/** See the file comment. */
export class LogWatch {
  readonly #session: WatchedSession;
  /** Who failed to read what it shows, and why. */
  readonly #failures = new Map<object, unknown>();
  #holders = 0;
  #isDue = false;
  /** What came of the last look at the file. */
  #look: LiveStatus = catchingUp;
  #status: LiveStatus = catchingUp;
  /** Whose file is watched, and what ends that. */
  #watched: { readonly engine: Engine; readonly stop: () => void } | undefined;
  #stopListening: (() => void) | undefined;

  /** @param session Is told when the status is another, and when who failed is to try again. */
  constructor(session: WatchedSession) {
    this.#session = session;
  }

  /** How what is shown stands to the file. */
  get status(): LiveStatus {
    return this.#session.isClosed() ? closed : this.#status;
  }

  /** Watches until the returned function was called, for as many as hold it. */
  hold(): () => void {
    this.#holders += 1;
    if (this.#holders === 1 && !this.#session.isClosed()) this.#begin();
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#holders -= 1;
      if (this.#holders === 0) this.#end();
    };
  }

  /** Takes note that somebody could not read what it shows; it is to try again when told so. */
  failed(who: object, error: unknown): void {
    if (this.#watched === undefined) return;
    this.#failures.set(who, error);
    this.#update();
  }

  /** Takes note that it can, or does not want to any more. */
  succeeded(who: object): void {
    if (this.#failures.delete(who)) this.#update();
  }

  #begin(): void {
    this.#watch();
    this.#stopListening = this.#session.changes.listen(() => {
      if (this.#session.isClosed()) {
        this.#end();
      } else if (this.#session.engine !== this.#watched?.engine) {
        this.#unwatch();
        this.#watch();
      }
    });
  }

  #end(): void {
    this.#stopListening?.();
    this.#stopListening = undefined;
    this.#unwatch();
  }

  #watch(): void {
    const { engine } = this.#session;
    const { ports, pollMs } = engine.settings;
    const name = basename(engine.path);
    const directory = dirname(engine.path);
    const stop = watchWithPoll({ ports, directory, pollMs }, (changed) => {
      if (changed === null || changed === name) this.#lookSoon();
    });
    this.#watched = { engine, stop };
    this.#lookSoon();
  }

  #unwatch(): void {
    this.#watched?.stop();
    this.#watched = undefined;
    this.#failures.clear();
    this.#look = catchingUp;
    this.#status = catchingUp;
  }

  /** Several hints of one turn are one look. */
  #lookSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      this.#lookNow();
    });
  }

  #lookNow(): void {
    if (this.#watched === undefined) return;
    const { refresh, changes } = this.#session;
    try {
      refresh();
      this.#look = live;
      // Who failed tries again, and says how that went.
      if (this.#failures.size > 0) changes.notify();
    } catch (error) {
      this.#look = { kind: "stalled", error };
    }
    this.#update();
  }

  #update(): void {
    const [failure] = this.#failures.values();
    const isFailing = this.#look.kind === "live" && this.#failures.size > 0;
    const status: LiveStatus = isFailing ? { kind: "stalled", error: failure } : this.#look;
    if (isSameStatus(status, this.#status)) return;
    this.#status = status;
    this.#session.changes.notify();
  }
}

/** Whether two statuses say the same; of errors, their codes. */
export function isSameStatus(one: LiveStatus, other: LiveStatus): boolean {
  if (one.kind !== "stalled" || other.kind !== "stalled") return one.kind === other.kind;
  return codeOf(one.error) === codeOf(other.error);
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : error;
}
