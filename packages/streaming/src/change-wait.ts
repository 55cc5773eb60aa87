/**
 * Waits for a change of a file: until a hint from its directory, and at most for the poll interval.
 * A hint between two waits ends the second at once, so no change is missed.
 */
import { realpathSync } from "node:fs";
import { basename, dirname } from "node:path";
import type { DirectoryWatch, HintListener } from "./directory-watch.ts";
import { timerMsMax } from "./limits.ts";

/** {@link watchDirectory}, or a substitute. */
export type WatchDirectory = (directory: string, onHint: HintListener) => DirectoryWatch;

/** How long to wait, at most. */
export interface ChangeWaitOptions {
  /** Longest wait, in milliseconds. */
  readonly pollMs: number;
  /** Ends every wait. */
  readonly signal?: AbortSignal | undefined;
}

/** The waits for one path. Between `watch` and `end` it watches; it has a timer while it waits. */
export class ChangeWait {
  readonly #watchDirectory: WatchDirectory;
  readonly #options: ChangeWaitOptions;
  #watch: DirectoryWatch | null = null;
  #hasChanged = false;
  #isEnded = false;
  #wake: () => void = () => undefined;

  constructor(watchDirectory: WatchDirectory, options: ChangeWaitOptions) {
    this.#watchDirectory = watchDirectory;
    this.#options = options;
  }

  /** Whether `end` was called. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Watches the file that the path resolves to now; for a symbolic link, its target. */
  watch(path: string): void {
    const before = this.#watch;
    const target = realPathOf(path);
    const name = basename(target).normalize();
    this.#watch = this.#watchDirectory(dirname(target), (changed) => {
      // Some file systems report a name in another Unicode normalization.
      if (changed === null || changed.normalize() === name) this.#noteChange();
    });
    before?.closeSync();
  }

  /** A change from now on ends the next wait. */
  arm(): void {
    this.#hasChanged = false;
  }

  /** Resolves at a change after `arm`, at the timeout, when the signal aborts, and at `end`. */
  async change(): Promise<void> {
    const { pollMs, signal } = this.#options;
    if (this.#hasChanged || this.#isEnded || signal?.aborted === true) return;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const timer = setTimeout(wake, Math.min(pollMs, timerMsMax));
      signal?.addEventListener("abort", wake);
      this.#wake = wake;
    });
  }

  /** Stops watching, and ends a wait. May be repeated. */
  end(): void {
    this.#isEnded = true;
    this.#watch?.closeSync();
    this.#watch = null;
    this.#wake();
  }

  #noteChange(): void {
    this.#hasChanged = true;
    this.#wake();
  }
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // It may have vanished again; the next read detects that.
    return path;
  }
}
