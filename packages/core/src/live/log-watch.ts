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
  /** Called when the status is another. */
  readonly onStatus: () => void;
}

const catchingUp: LiveStatus = { kind: "catching-up" };
const live: LiveStatus = { kind: "live" };
const closed: LiveStatus = { kind: "closed" };

/** See the file comment. */
export class LogWatch {
  readonly #log: WatchedLog;
  #holders = 0;
  #isDue = false;
  #isClosed = false;
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

  /** Takes note of a failure to read the log. */
  fail(error: unknown): void {
    this.#become({ kind: "stalled", error });
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
      this.#look();
    }
  }

  /** Several hints of one turn are one look. */
  #lookSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      this.#look();
    });
  }

  #look(): void {
    if (this.#end === undefined) return;
    try {
      this.#log.refresh();
      this.#become(live);
    } catch (error) {
      this.fail(error);
    }
  }

  #become(status: LiveStatus): void {
    if (status.kind === this.#status.kind) return;
    this.#status = status;
    this.#log.onStatus();
  }
}
