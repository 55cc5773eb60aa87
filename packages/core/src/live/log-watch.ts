/**
 * Watches the file of a log while somebody wants to know of it: hints of the system say when to
 * look, and a slow poll behind them finds what they miss. It looks by reading what others appended;
 * if that fails, the state says so, and it looks again later.
 */
import { basename, dirname } from "node:path";
import type { Ports } from "../store/ports.ts";

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

/** What is watched, and how. */
export interface WatchedLog {
  readonly ports: Pick<Ports, "clock" | "hints">;
  readonly pollMs: number;
  /** Canonical path of the file. */
  readonly path: () => string;
  /** Reads what others appended. */
  readonly refresh: () => void;
  /** Called when the status is another, and when who failed is to try again. */
  readonly onStatus: () => void;
}

const catchingUp: LiveStatus = { kind: "catching-up" };
const live: LiveStatus = { kind: "live" };
const closed: LiveStatus = { kind: "closed" };

/** See the file comment. */
export class LogWatch {
  readonly #log: WatchedLog;
  /** Who failed to read what it shows, and why. */
  readonly #failures = new Map<object, unknown>();
  #holders = 0;
  #isDue = false;
  #isClosed = false;
  /** What came of the last look at the file. */
  #look: LiveStatus = catchingUp;
  #status: LiveStatus = catchingUp;
  #end: AbortController | undefined;
  #stopHints: (() => void) | undefined;

  constructor(log: WatchedLog) {
    this.#log = log;
  }

  /** How what is shown stands to the file. */
  get status(): LiveStatus {
    return this.#isClosed ? closed : this.#status;
  }

  /** Watches until the returned function was called, for as many as hold it. */
  hold(): () => void {
    this.#holders += 1;
    if (this.#holders === 1 && !this.#isClosed) this.#begin();
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#holders -= 1;
      if (this.#holders === 0) this.#stop();
    };
  }

  /** Takes note that somebody could not read what it shows; it is to try again when told so. */
  failed(who: object, error: unknown): void {
    if (this.#end === undefined) return;
    this.#failures.set(who, error);
    this.#update();
  }

  /** Takes note that it can, or does not want to any more. */
  succeeded(who: object): void {
    if (this.#failures.delete(who)) this.#update();
  }

  /** Ends the watching for good. */
  close(): void {
    this.#isClosed = true;
    this.#stop();
  }

  #begin(): void {
    const path = this.#log.path();
    const { hints } = this.#log.ports;
    const name = basename(path);
    const watch = hints.watch(dirname(path), (changed) => {
      if (changed === null || changed === name) this.#lookSoon();
    });
    this.#stopHints = () => watch.closeSync();
    this.#end = new AbortController();
    void this.#poll(this.#end.signal);
    this.#lookSoon();
  }

  #stop(): void {
    this.#stopHints?.();
    this.#stopHints = undefined;
    this.#end?.abort();
    this.#end = undefined;
    this.#failures.clear();
    this.#look = catchingUp;
    this.#status = catchingUp;
  }

  async #poll(signal: AbortSignal): Promise<void> {
    const { ports, pollMs } = this.#log;
    while (!signal.aborted) {
      try {
        await ports.clock.sleep(pollMs, signal);
      } catch {
        return;
      }
      this.#lookNow();
    }
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
    if (this.#end === undefined) return;
    try {
      this.#log.refresh();
      this.#look = live;
      // Who failed tries again, and says how that went.
      if (this.#failures.size > 0) this.#log.onStatus();
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
    this.#log.onStatus();
  }
}

function isSameStatus(one: LiveStatus, other: LiveStatus): boolean {
  if (one.kind !== "stalled" || other.kind !== "stalled") return one.kind === other.kind;
  return codeOf(one.error) === codeOf(other.error);
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : error;
}
