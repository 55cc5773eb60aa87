/**
 * The list of the sessions of directories, kept up to date through appends, creations, deletions
 * and renames of any process. It is read for the first subscriber, newest first; from then on, a
 * change costs what was appended. Without subscribers nothing is kept, watched or polled.
 */
import { mayBeDocument } from "../catalog/agent-files.ts";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { pollMsDefault } from "@branchlog/streaming";
import type { OptionNames } from "@branchlog/streaming";
import { EMPTY, Observable, defer, finalize, merge, of, share } from "rxjs";
import type { Subscriber } from "rxjs";
import {
  requireList,
  requireOptions,
  requireText,
  engineSettings,
  isInStore,
  poll,
} from "@branchlog/core/files";
import type { CatalogMode } from "../catalog/catalog-store.ts";
import { DirectoryCatalog } from "../catalog/directory-catalog.ts";
import type {
  CatalogRefresh,
  DirectoryCatalogOptions,
  SessionChange,
} from "../catalog/directory-catalog.ts";
import { directoryPollMsDefault, partialListEveryMs } from "../catalog/limits.ts";
import type { ListedSession } from "../catalog/listed-session.ts";
import {
  directoriesBelow,
  isSessionFileName,
  isSidecarName,
  sessionFilesIn,
  sessionFilesInAndBelow,
} from "../catalog/session-files.ts";
import { unreadableDirectory } from "../catalog/unreadable-directory.ts";
import { filesIn, sessionDirectories } from "../find/find-sessions.ts";
import { storedCatalog } from "../find/stored-sessions.ts";
import type { SearchedStore } from "../find/find-options.ts";
import { requireNoAddress } from "@branchlog/core/addresses";
import { BranchlogError } from "@branchlog/core";
import type { EngineSettings } from "@branchlog/core/files";
import type { ListingStore, Ports } from "@branchlog/core/types";
import { oneAtATime, isSameStatus } from "@branchlog/core/live-values";
import type { LiveStatus } from "@branchlog/core/live";

/** The sessions of the directories, and their changes since the previous emission. */
export interface LiveSessions extends SessionListDifference {
  /** All of them, latest change first; equal times by path. */
  readonly sessions: readonly ListedSession[];
  /**
   * `catching-up`: not all files were read yet, more sessions come. `live`: all that was known at
   * the last refresh. `stalled`: a directory could not be read, and `error`, a BranchlogError, says
   * why; the sessions are those of before. A missing directory is not an error: it has no sessions,
   * and is checked at each poll.
   */
  readonly status: LiveStatus;
  /**
   * Files and directories skipped because their names are not UTF-8: their paths, with U+FFFD for
   * the invalid bytes.
   */
  readonly unlisted: readonly string[];
}

/** How a directory is watched. */
export interface LiveSessionsOptions {
  /**
   * Whether the sessions right in the subdirectories of one directory count, too, as pi keeps
   * them. Default false. Of several directories, everything below counts.
   */
  readonly subdirectories?: boolean;
  /** How often all files are checked without a hint, in ms. Default 5000; of a store 1000. */
  readonly pollMs?: number;
  /**
   * Whether what is known of the sessions is saved in the directory, as `.branchlog-catalog`, once
   * it is worth it, and loaded by the next list: `auto` does both, `read` only loads, `off`
   * neither. Default `auto`.
   */
  readonly catalog?: CatalogMode;
  /** Hints and time from elsewhere. */
  readonly ports?: Partial<Pick<Ports, "clock" | "hints">>;
}

const liveSessionsNames: OptionNames<LiveSessionsOptions> = {
  subdirectories: true,
  pollMs: true,
  catalog: true,
  ports: true,
};

/**
 * The sessions of a directory, of everything below several, or of a store, live. The first emission
 * of each subscriber holds all sessions known so far as `added`; while many files are read for the
 * first time, a part of them comes every 100 ms. Files that are neither sessions nor transcripts,
 * or cannot be read, are not listed. It never ends by itself, and keeps the process alive; errors
 * are in `status`.
 * @param places A directory; a list, as `knownPlaces` gives it; or a store, whose sessions are read
 * whole when they change, after at most `pollMs`.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT`.
 * @example
 * sessions$("sessions").subscribe(({ sessions }) => console.log(sessions.length));
 */
export function sessions$(
  places: string | readonly string[] | SearchedStore,
  options: LiveSessionsOptions = {},
): Observable<LiveSessions> {
  const { pollMs, ports = {}, catalog = "auto" } = requireOptions(options, liveSessionsNames);
  const isStored = isInStore<SearchedStore>(places);
  const own = isStored ? pollMsDefault : directoryPollMsDefault;
  const settings = engineSettings({ pollMs: pollMs ?? own, ports });
  const listed = isStored
    ? listedStore(places.store, settings)
    : listedDirectory(placeOf(places, options.subdirectories ?? false), catalog, settings);
  return new LiveSessionList(listed).observable;
}

/** Which directories: one, with its subdirectories or without, or everything below several. */
type ListedPlace =
  | { readonly kind: "directory" | "subdirectories"; readonly directory: string }
  | { readonly kind: "below"; readonly directories: readonly string[] };

function placeOf(places: string | readonly string[], subdirectories: boolean): ListedPlace {
  if (typeof places === "string") {
    requireNoAddress(places);
    return { kind: subdirectories ? "subdirectories" : "directory", directory: resolve(places) };
  }
  const directories = requireList("The directories", places);
  for (const one of directories) requireNoAddress(requireText("A directory", one));
  return { kind: "below", directories: directories.map((one) => resolve(one)) };
}

/** The listed sources, directories or a store. */
interface Listed {
  readonly clock: Ports["clock"];
  /** Restarts. */
  readonly makeCatalog: () => SessionCatalog;
  /** Reports changes at a path, or null for any change, until it is ended. */
  readonly watch: (onHint: (path: string | null) => void) => () => void;
  /** Of the error of a refresh. */
  readonly failure: (error: unknown) => unknown;
}

interface SessionCatalog {
  readonly unlisted: readonly string[];
  /** Null if there was none so far. */
  listedPath(path: string): string | null;
  sessions(): ListedSession[];
  refresh(options: CatalogRefresh): Promise<void>;
}

function listedDirectory(
  place: ListedPlace,
  saved: CatalogMode,
  { ports, pollMs }: EngineSettings,
): Listed {
  const { clock } = ports;
  const list = newestFirst(place);
  return {
    clock,
    makeCatalog: () => new DirectoryCatalog({ list, saved, now: () => clock.now() }),
    watch: (onHint) => {
      const watches = new DirectoryWatches({ place, ports, pollMs, onHint });
      void watches.renew();
      return () => watches.close();
    },
    failure: (error) => unreadable(place, error),
  };
}

function listedStore(store: ListingStore, { ports, pollMs }: EngineSettings): Listed {
  const { clock } = ports;
  return {
    clock,
    makeCatalog: () => storedCatalog(store),
    watch: (onHint) => {
      onHint(null);
      return poll(clock, pollMs, () => onHint(null));
    },
    failure: (error) => error,
  };
}

class LiveSessionList {
  readonly observable: Observable<LiveSessions>;
  readonly #listed: Listed;
  #last: LiveSessions | undefined;

  constructor(listed: Listed) {
    this.#listed = listed;
    this.observable = merge(
      this.#refreshes().pipe(share()),
      defer(() => this.#known()),
    );
  }

  /** What the others got last, as a first emission. */
  #known(): Observable<LiveSessions> {
    const last = this.#last;
    return last === undefined
      ? EMPTY
      : of({ ...last, added: last.sessions, changed: [], removed: [] });
  }

  #refreshes(): Observable<LiveSessions> {
    return defer(() => {
      const catalog = this.#listed.makeCatalog();
      /** The next read: some files, or everything. */
      let paths: Set<string> | null = null;
      const hints$ = new Observable<unknown>((subscriber) => {
        const onHint = (hinted: string | null): void => {
          const path = hinted === null ? null : catalog.listedPath(hinted);
          if (path === null) paths = null;
          else paths?.add(path);
          subscriber.next(path);
        };
        return this.#listed.watch(onHint);
      });
      return oneAtATime(hints$, () => {
        const refresh = this.#refresh(catalog, paths);
        paths = new Set();
        return refresh;
      }).pipe(
        finalize(() => {
          this.#last = undefined;
        }),
      );
    });
  }

  #refresh(catalog: SessionCatalog, paths: ReadonlySet<string> | null): Observable<LiveSessions> {
    return new Observable((subscriber) => {
      const end = new AbortController();
      void this.#lookAt(catalog, { paths, signal: end.signal }, subscriber);
      return () => end.abort();
    });
  }

  async #lookAt(
    catalog: SessionCatalog,
    refresh: Pick<CatalogRefresh, "paths"> & { readonly signal: AbortSignal },
    subscriber: Subscriber<LiveSessions>,
  ): Promise<void> {
    const { clock, failure } = this.#listed;
    const changes = new SessionListChanges();
    let shownMs = clock.monotonicMs();
    const show = (status: LiveStatus): void => {
      const { unlisted } = catalog;
      const isNews =
        this.#isNews(changes, status) || !isDeepStrictEqual(unlisted, this.#last?.unlisted);
      if (refresh.signal.aborted || !isNews) return;
      this.#last = { sessions: catalog.sessions(), ...changes.take(), status, unlisted };
      shownMs = clock.monotonicMs();
      subscriber.next(this.#last);
    };
    try {
      await catalog.refresh({
        ...refresh,
        onChange: (change) => {
          changes.add(change);
          const isPartial = (this.#last?.status.kind ?? "catching-up") === "catching-up";
          const isDue = clock.monotonicMs() - shownMs >= partialListEveryMs;
          if (isPartial && isDue) show({ kind: "catching-up" });
        },
      });
      show({ kind: "live" });
    } catch (error) {
      show({ kind: "stalled", error: failure(error) });
    }
    subscriber.complete();
  }

  #isNews(changes: SessionListChanges, status: LiveStatus): boolean {
    return !changes.isEmpty || this.#last === undefined || !isSameStatus(this.#last.status, status);
  }
}

/** Latest change first, so that the most requested files are read first. */
function newestFirst(place: ListedPlace): DirectoryCatalogOptions["list"] {
  if (place.kind === "below") {
    return async (signal) => {
      return filesIn(await sessionDirectories(there(place.directories), signal), signal);
    };
  }
  const list = place.kind === "subdirectories" ? sessionFilesInAndBelow : sessionFilesIn;
  return async (signal, onAlias) => {
    const files = await list(place.directory, signal, onAlias);
    return files.sort((one, other) => other.mtimeMs - one.mtimeMs);
  };
}

/** Directories that are missing have no sessions, and may come. */
function there(directories: readonly string[]): readonly string[] {
  return directories.filter((directory) => existsSync(directory));
}

function unreadable(place: ListedPlace, error: unknown): unknown {
  if (error instanceof BranchlogError) return error;
  const directory = place.kind === "below" ? place.directories.join(", ") : place.directory;
  return unreadableDirectory(directory, error);
}

/** Each session that is another now, once. */
export interface SessionListDifference {
  readonly added: readonly ListedSession[];
  readonly changed: readonly ListedSession[];
  /** As they were. */
  readonly removed: readonly ListedSession[];
}

/** The changes of the sessions of a directory between two emissions, one for each session. */
class SessionListChanges {
  /** By path. */
  readonly #changes = new Map<string, SessionChange>();

  /** Whether nothing has happened, or all of it was undone. */
  get isEmpty(): boolean {
    return this.#changes.size === 0;
  }

  /** Adds a change, which comes after those before. */
  add({ before, now }: SessionChange): void {
    const path = (now ?? before)?.path ?? "";
    const known = this.#changes.get(path);
    const first = known === undefined ? before : known.before;
    if (first === undefined && now === undefined) this.#changes.delete(path);
    else this.#changes.set(path, { before: first, now });
  }

  /** All of it, and restarts. */
  take(): SessionListDifference {
    const added: ListedSession[] = [];
    const changed: ListedSession[] = [];
    const removed: ListedSession[] = [];
    for (const { before, now } of this.#changes.values()) {
      if (now === undefined) removed.push(...(before === undefined ? [] : [before]));
      else if (before === undefined) added.push(now);
      else changed.push(now);
    }
    this.#changes.clear();
    return { added, changed, removed };
  }
}

// Watches a directory of sessions, and its subdirectories if they count: reports the session file
// of a hint, or that anything may have changed. Sidecars, locks above all, are ignored.

/** What is watched, and the listener. */
interface DirectoryWatchOptions {
  readonly place: ListedPlace;
  readonly ports: Pick<Ports, "clock" | "hints">;
  readonly pollMs: number;
  /** Told the path of a session file; null: anything. */
  readonly onHint: (path: string | null) => void;
}

/** Watches nothing before {@link DirectoryWatches.renew}. */
class DirectoryWatches {
  readonly #options: DirectoryWatchOptions;
  /** The functions that end the watches, by directory. */
  #watched = new Map<string, () => void>();
  #stopPoll: (() => void) | undefined;
  #isClosed = false;

  constructor(options: DirectoryWatchOptions) {
    this.#options = options;
  }

  /**
   * Watches what exists now, and does so again at every poll and when directories come: they are
   * replaced, too, and what cannot be watched now may be later.
   */
  async renew(): Promise<void> {
    const { place, ports, pollMs, onHint } = this.#options;
    const directories = await watchedIn(place);
    if (this.#isClosed) return;
    const before = this.#watched;
    // The new watch comes before the end of the old one: they share a watcher, and lose no hint.
    this.#watched = new Map(directories.map((one) => [one, this.#watch(one)]));
    for (const stop of before.values()) stop();
    this.#stopPoll ??= poll(ports.clock, pollMs, () => this.#renewAndTell());
    // Changes before they were watched gave no hint.
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
    const { ports, onHint, place } = this.#options;
    const hasBelow =
      place.kind === "below" || (place.kind === "subdirectories" && directory === place.directory);
    const watch = ports.hints.watch(directory, (name) => {
      // Also if it cannot be watched: that does not justify an immediate retry.
      if (name === null) onHint(null);
      else if (isSessionFileName(name) || mayBeDocument(name)) onHint(join(directory, name));
      else if (hasBelow && !isSidecarName(name)) this.#renewAndTell();
    });
    return () => watch.closeSync();
  }
}

async function watchedIn(place: ListedPlace): Promise<readonly string[]> {
  switch (place.kind) {
    case "directory":
      return [place.directory];
    case "subdirectories":
      return [place.directory, ...(await subdirectoriesOf(place.directory))];
    case "below":
      try {
        // A missing directory cannot be watched: it is checked at each poll.
        return (await sessionDirectories(there(place.directories))).visited;
      } catch {
        // One was removed meanwhile.
        return there(place.directories);
      }
  }
}

async function subdirectoriesOf(directory: string): Promise<string[]> {
  try {
    const found = await directoriesBelow(directory);
    return found.filter((name) => !isSidecarName(name)).map((name) => join(directory, name));
  } catch {
    // The read of the directory reports the failure.
    return [];
  }
}
