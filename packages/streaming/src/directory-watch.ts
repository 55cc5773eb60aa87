/**
 * Hints of changes in a directory, from `fs.watch`, with one watcher per directory for any number
 * of listeners. A hint can be late, doubled or lost, so a listener polls as well. A failure of the
 * watcher is never thrown: the hints end.
 */
import { statSync, watch } from "node:fs";
import { basename, resolve } from "node:path";

/**
 * Receives hints: the name of a file in the directory; null if anything may have changed, or if
 * the hints end.
 */
export type HintListener = (name: string | null) => void;

/** One listener's registration. */
export interface DirectoryWatch {
  /** Removes this listener; the watcher closes with the last one. Idempotent. */
  closeSync(): void;
}

/** The part of `fs.FSWatcher` in use. */
export interface SystemWatcher {
  on(event: "change", listener: (type: string, name: string | Buffer | null) => void): unknown;
  on(event: "error", listener: () => void): unknown;
  close(): void;
}

/** Watches a directory, or throws. */
export type StartWatching = (directory: string) => SystemWatcher;

/** The watched directories, each with one watcher that its listeners share. */
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
    // An object of its own, since one function may be registered twice.
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
 * Listens for changes of the files directly in a directory. Hints come from the event loop, never
 * during this call, and keep the process alive. An exception of a listener becomes an uncaught
 * exception, as from an event handler; the other listeners still get the hint.
 *
 * If the directory cannot be watched (missing, too many watchers), or is removed, the listeners get
 * null once and then nothing; the next call for it tries again, for all of them. A replaced parent
 * directory is noticed only by the next call.
 */
export function watchDirectory(directory: string, onHint: HintListener): DirectoryWatch {
  return watches.watch(directory, onHint);
}

interface Listener {
  readonly onHint: HintListener;
}

/** One directory with its listeners, and its watcher if it has one. */
class WatchedDirectory {
  readonly #path: string;
  readonly #start: StartWatching;
  readonly #listeners = new Set<Listener>();
  /** Listeners still to be notified that the watcher failed. */
  #unnotified = new Set<Listener>();
  #watcher: SystemWatcher | null = null;
  /** Device and inode of the watched directory: another one can get the same path. */
  #identity: string | null = null;

  constructor(path: string, start: StartWatching) {
    this.#path = path;
    this.#start = start;
  }

  get isUnused(): boolean {
    return this.#listeners.size === 0;
  }

  add(listener: Listener): void {
    // A parent may have been replaced, which the watcher does not report.
    if (this.#watcher !== null && identityOf(this.#path) !== this.#identity) this.#fail();
    this.#listeners.add(listener);
    if (this.#watcher === null) this.#watch();
  }

  /** False if it was already removed. */
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
      this.#notify(name, this.#listeners);
      return;
    }
    // Its own name: the directory was removed or renamed, unless a file in it has the same name. An
    // inode number may be reused at once, so only a new watcher is certain.
    this.#fail();
    this.#watch();
  }

  /** Closes the watcher; its listeners are notified once, from the event loop. */
  #fail(): void {
    this.#stop();
    if (this.#unnotified.size === 0) {
      setImmediate(() => {
        const unnotified = this.#unnotified;
        this.#unnotified = new Set();
        this.#notify(null, unnotified);
      });
    }
    for (const listener of this.#listeners) this.#unnotified.add(listener);
  }

  #stop(): void {
    this.#watcher?.close();
    this.#watcher = null;
    this.#identity = null;
  }

  #notify(name: string | null, listeners: ReadonlySet<Listener>): void {
    // A copy: a listener added during a hint gets the next one.
    const notified = [...listeners];
    for (const listener of notified) {
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
