/**
 * Hints that something changed in a directory, from `fs.watch`. However many listen, a directory is
 * watched once. A hint can be late, doubled or lost, so whoever listens looks by itself from time
 * to time, too. No failure of the watching is ever thrown: it falls silent.
 */
import { statSync, watch } from "node:fs";
import { basename, resolve } from "node:path";

/**
 * Receives hints: the name of a file in the directory; null if anything may have changed, or if
 * the hints end.
 */
export type HintListener = (name: string | null) => void;

/** A listener's hold on the watching. */
export interface DirectoryWatch {
  /** Ends the hints to this listener; with the last one the watching ends. May be repeated. */
  closeSync(): void;
}

/** What this needs of `fs.FSWatcher`. */
export interface SystemWatcher {
  on(event: "change", listener: (type: string, name: string | Buffer | null) => void): unknown;
  on(event: "error", listener: () => void): unknown;
  close(): void;
}

/** Starts to watch a directory; throws if it cannot. */
export type StartWatching = (directory: string) => SystemWatcher;

/** The directories that are watched, each by one watcher that its listeners share. */
export class DirectoryWatches {
  readonly #start: StartWatching;
  readonly #watched = new Map<string, WatchedDirectory>();

  constructor(start: StartWatching) {
    this.#start = start;
  }

  /** See {@link watchDirectory}. */
  watch(directory: string, onHint: HintListener): DirectoryWatch {
    const path = resolve(directory);
    const watched = this.#watched.get(path) ?? new WatchedDirectory(path, this.#start);
    this.#watched.set(path, watched);
    // An object of its own, since one function may listen twice.
    const listener = { onHint };
    watched.add(listener);
    return {
      closeSync: () => {
        if (watched.remove(listener) && watched.isUnused) this.#watched.delete(path);
      },
    };
  }
}

const watches = new DirectoryWatches((directory) => watch(directory));

/**
 * Listens for changes of the files right in a directory. Hints come from the event loop, never
 * while this runs, and keep the process alive. What a listener throws is thrown to the process, as
 * from an event handler; the others get the hint all the same.
 *
 * If the directory cannot be watched (missing, too many watchers), or goes away, the listeners get
 * null once and then nothing; the next call for it tries again, for all of them. That a directory
 * further up was replaced is noticed by the next call only.
 */
export function watchDirectory(directory: string, onHint: HintListener): DirectoryWatch {
  return watches.watch(directory, onHint);
}

interface Listener {
  readonly onHint: HintListener;
}

/** One directory with its listeners, and its watcher while there is one. */
class WatchedDirectory {
  readonly #path: string;
  readonly #start: StartWatching;
  readonly #listeners = new Set<Listener>();
  /** Those who are to hear that the watcher failed. */
  #uninformed = new Set<Listener>();
  #watcher: SystemWatcher | null = null;
  /** Which directory the watcher watches: another one can get the same path. */
  #identity: string | null = null;

  constructor(path: string, start: StartWatching) {
    this.#path = path;
    this.#start = start;
  }

  get isUnused(): boolean {
    return this.#listeners.size === 0;
  }

  add(listener: Listener): void {
    // A parent of it may have been replaced, of which no watcher knows.
    if (this.#watcher !== null && identityOf(this.#path) !== this.#identity) this.#fail();
    this.#listeners.add(listener);
    if (this.#watcher === null) this.#watch();
  }

  /** False if it was removed before. */
  remove(listener: Listener): boolean {
    const isRemoved = this.#listeners.delete(listener);
    if (this.isUnused) this.#stop();
    return isRemoved;
  }

  #watch(): void {
    try {
      const watcher = this.#start(this.#path);
      this.#watcher = watcher;
      watcher.on("change", (type, name) => {
        if (watcher === this.#watcher) this.#changed(type, name === null ? null : String(name));
      });
      watcher.on("error", () => {
        if (watcher === this.#watcher) this.#fail();
      });
      this.#identity = identityOf(this.#path);
    } catch {
      this.#fail();
    }
  }

  #changed(type: string, name: string | null): void {
    if (type !== "rename" || name !== basename(this.#path)) {
      this.#tell(name, this.#listeners);
      return;
    }
    // Its own name: the directory itself has gone or moved, unless a file in it has this name, too.
    // The number of a deleted one may be that of the next, so only a new watcher is sure.
    this.#fail();
    this.#watch();
  }

  /** This watcher is over; its listeners hear it once, soon. */
  #fail(): void {
    this.#stop();
    if (this.#uninformed.size === 0) {
      setImmediate(() => {
        const uninformed = this.#uninformed;
        this.#uninformed = new Set();
        this.#tell(null, uninformed);
      });
    }
    for (const listener of this.#listeners) this.#uninformed.add(listener);
  }

  #stop(): void {
    this.#watcher?.close();
    this.#watcher = null;
    this.#identity = null;
  }

  #tell(name: string | null, listeners: ReadonlySet<Listener>): void {
    // A copy: who listens anew from within a hint gets the next one.
    const told = [...listeners];
    for (const listener of told) {
      if (!this.#listeners.has(listener)) continue;
      try {
        listener.onHint(name);
      } catch (error) {
        setImmediate(() => {
          throw error;
        });
      }
    }
  }
}

function identityOf(directory: string): string | null {
  try {
    const { dev, ino } = statSync(directory, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return null;
  }
}
