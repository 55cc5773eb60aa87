/**
 * Watches a directory of sessions, and its sub-directories if they count: says which session file a
 * hint is about, or that anything may have changed. What stands beside sessions, their locks above
 * all, is passed over.
 */
import { join } from "node:path";
import { directoriesBelow, isSessionFileName, isSidecarName } from "../catalog/session-files.ts";
import { poll } from "../store/polled-hints.ts";
import type { Ports } from "../store/ports.ts";

/** What is watched, and who is told. */
export interface DirectoryWatchOptions {
  readonly directory: string;
  readonly subdirectories: boolean;
  readonly ports: Pick<Ports, "clock" | "hints">;
  readonly pollMs: number;
  /** Told the path of a session file; null: anything. */
  readonly onHint: (path: string | null) => void;
}

/** See the file comment. Watches nothing before {@link DirectoryWatches.renew}. */
export class DirectoryWatches {
  readonly #options: DirectoryWatchOptions;
  /** What ends the watching, by directory. */
  #watched = new Map<string, () => void>();
  #stopPoll: (() => void) | undefined;
  #isClosed = false;

  constructor(options: DirectoryWatchOptions) {
    this.#options = options;
  }

  /**
   * Watches what is there now, and does so again at every poll and when directories come: they are
   * replaced, too, and what cannot be watched now may be later.
   */
  async renew(): Promise<void> {
    const { directory, subdirectories, ports, pollMs, onHint } = this.#options;
    const below = subdirectories ? await subdirectoriesOf(directory) : [];
    if (this.#isClosed) return;
    const before = this.#watched;
    const directories = [directory, ...below];
    // The new watch comes before the end of the old one: they share a watcher, and lose no hint.
    this.#watched = new Map(directories.map((one) => [one, this.#watch(one)]));
    for (const stop of before.values()) stop();
    this.#stopPoll ??= poll(ports.clock, pollMs, () => this.#renewAndTell());
    // What came before they were watched gave no hint.
    if (directories.some((one) => !before.has(one))) onHint(null);
  }

  close(): void {
    this.#isClosed = true;
    this.#stopPoll?.();
    for (const stop of this.#watched.values()) stop();
    this.#watched.clear();
  }

  #renewAndTell(): void {
    void this.renew();
    this.#options.onHint(null);
  }

  #watch(directory: string): () => void {
    const { ports, onHint, subdirectories } = this.#options;
    const isRoot = directory === this.#options.directory;
    const watch = ports.hints.watch(directory, (name) => {
      // Also if it cannot be watched: that is no reason to try again at once.
      if (name === null) onHint(null);
      else if (isSessionFileName(name)) onHint(join(directory, name));
      else if (isRoot && subdirectories && !isSidecarName(name)) this.#renewAndTell();
    });
    return () => watch.closeSync();
  }
}

async function subdirectoriesOf(directory: string): Promise<string[]> {
  try {
    const found = await directoriesBelow(directory);
    return found.filter((name) => !isSidecarName(name)).map((name) => join(directory, name));
  } catch {
    // Whoever looks at the directory says what is wrong with it.
    return [];
  }
}
