/**
 * The list of the sessions of a directory, kept up to date through appends, creations, deletions
 * and renames of any process. It is read for the first subscriber; from then on, a change costs
 * what was appended. Without subscribers nothing is kept, watched or polled.
 */
import { join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { OptionNames } from "@branchlog/streaming";
import { EMPTY, Observable, defer, finalize, merge, of, share } from "rxjs";
import type { Subscriber } from "rxjs";
import { requireOptions, requireText } from "../argument-checks.ts";
import type { CatalogMode } from "../catalog/catalog-store.ts";
import { DirectoryCatalog } from "../catalog/directory-catalog.ts";
import type {
  CatalogLook,
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
import { engineSettings } from "../log/engine-options.ts";
import { poll } from "../store/polled-hints.ts";
import type { Ports } from "../store/ports.ts";
import { oneAtATime } from "./live-value.ts";
import { isSameStatus } from "./log-watch.ts";
import type { LiveStatus } from "./log-watch.ts";

/** The sessions of a directory, and the difference from the previous emission. */
export interface LiveSessions extends SessionListDifference {
  /** Latest change first; equal times by path. */
  readonly sessions: readonly ListedSession[];
  /**
   * `catching-up`: not all files were read yet, more sessions follow. `live`: complete as of the
   * last read. `stalled`: the directory could not be read, `error` (a BranchlogError) says why, and
   * the sessions are those of before. A missing directory is empty, and looked for at each poll.
   */
  readonly status: LiveStatus;
  /**
   * Paths of files and directories left out because their names are not UTF-8, with U+FFFD for
   * invalid bytes.
   */
  readonly unlisted: readonly string[];
}

/** How a directory is watched. */
export interface LiveSessionsOptions {
  /** Whether sessions directly in sub-directories are included, as pi keeps them. Default false. */
  readonly subdirectories?: boolean;
  /** How often all files are checked without a hint, in ms. Default 5000. */
  readonly pollMs?: number;
  /**
   * Whether the list is saved in the directory, as `.branchlog-catalog`, once it is worth it, and
   * loaded by the next list: `auto` does both, `read` only loads, `off` neither. Default `auto`.
   */
  readonly catalog?: CatalogMode;
  readonly ports?: Partial<Pick<Ports, "clock" | "hints">>;
}

const liveSessionsNames: OptionNames<LiveSessionsOptions> = {
  subdirectories: true,
  pollMs: true,
  catalog: true,
  ports: true,
};

/**
 * The sessions of a directory, live. The first emission of each subscriber holds all sessions known
 * so far as `added`; while many files are read for the first time, a part of them follows every 100
 * ms. Files that are not sessions, or cannot be read, are not listed. It never completes, and keeps
 * the process alive; failures are in `status`.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT`.
 * @example
 * sessions$("sessions").subscribe(({ sessions }) => console.log(sessions.length));
 */
export function sessions$(
  directory: string,
  options: LiveSessionsOptions = {},
): Observable<LiveSessions> {
  const {
    pollMs = directoryPollMsDefault,
    ports = {},
    catalog = "auto",
  } = requireOptions(options, liveSessionsNames);
  const settings = engineSettings({ pollMs, ports });
  const list = new LiveSessionList({
    directory: resolve(requireText("The directory", directory)),
    subdirectories: options.subdirectories ?? false,
    saved: catalog,
    pollMs: settings.pollMs,
    ports: settings.ports,
  });
  return list.observable;
}

interface ListedDirectory {
  readonly directory: string;
  readonly subdirectories: boolean;
  readonly saved: CatalogMode;
  readonly pollMs: number;
  readonly ports: Pick<Ports, "clock" | "hints">;
}

class LiveSessionList {
  readonly observable: Observable<LiveSessions>;
  readonly #directory: ListedDirectory;
  #last: LiveSessions | undefined;

  constructor(directory: ListedDirectory) {
    this.#directory = directory;
    this.observable = merge(
      this.#looks().pipe(share()),
      defer(() => this.#known()),
    );
  }

  /** The latest value of the other subscribers, as a first emission. */
  #known(): Observable<LiveSessions> {
    const last = this.#last;
    return last === undefined
      ? EMPTY
      : of({ ...last, added: last.sessions, changed: [], removed: [] });
  }

  #looks(): Observable<LiveSessions> {
    return defer(() => {
      const { ports, saved } = this.#directory;
      const list = newestFirst(this.#directory);
      const catalog = new DirectoryCatalog({ list, saved, now: () => ports.clock.now() });
      /** The files to read next, or null: all. */
      let paths: Set<string> | null = null;
      const hints$ = new Observable<unknown>((subscriber) => {
        const onHint = (hinted: string | null): void => {
          const path = hinted === null ? null : catalog.listedPath(hinted);
          if (path === null) paths = null;
          else paths?.add(path);
          subscriber.next(path);
        };
        const watches = new DirectoryWatches(this.#directory, onHint);
        void watches.renew();
        return () => watches.close();
      });
      return oneAtATime(hints$, () => {
        const look = paths;
        paths = new Set();
        return new Observable<LiveSessions>((subscriber) => {
          const end = new AbortController();
          void this.#look(catalog, { paths: look, signal: end.signal }, subscriber);
          return () => end.abort();
        });
      }).pipe(
        finalize(() => {
          this.#last = undefined;
        }),
      );
    });
  }

  async #look(
    catalog: DirectoryCatalog,
    look: Pick<CatalogLook, "paths"> & { readonly signal: AbortSignal },
    subscriber: Subscriber<LiveSessions>,
  ): Promise<void> {
    const { directory, ports } = this.#directory;
    const { clock } = ports;
    const changes = new SessionListChanges();
    let shownMs = clock.monotonicMs();
    const show = (status: LiveStatus): void => {
      const { unlisted } = catalog;
      const last = this.#last;
      const isSame =
        changes.isEmpty &&
        last !== undefined &&
        isSameStatus(last.status, status) &&
        isDeepStrictEqual(unlisted, last.unlisted);
      if (look.signal.aborted || isSame) return;
      this.#last = { sessions: catalog.sessions(), ...changes.take(), status, unlisted };
      shownMs = clock.monotonicMs();
      subscriber.next(this.#last);
    };
    try {
      await catalog.look({
        ...look,
        onChange: (change) => {
          changes.add(change);
          const isPartial = (this.#last?.status.kind ?? "catching-up") === "catching-up";
          const isDue = clock.monotonicMs() - shownMs >= partialListEveryMs;
          if (isPartial && isDue) show({ kind: "catching-up" });
        },
      });
      show({ kind: "live" });
    } catch (error) {
      show({ kind: "stalled", error: unreadableDirectory(directory, error) });
    }
    subscriber.complete();
  }
}

/** The latest change is read first, as the session most likely wanted. */
function newestFirst({
  directory,
  subdirectories,
}: ListedDirectory): DirectoryCatalogOptions["list"] {
  const list = subdirectories ? sessionFilesInAndBelow : sessionFilesIn;
  return async (signal, onAlias) => {
    const files = await list(directory, signal, onAlias);
    return files.sort((one, other) => other.mtimeMs - one.mtimeMs);
  };
}

/** Each session that changed, once. */
export interface SessionListDifference {
  readonly added: readonly ListedSession[];
  readonly changed: readonly ListedSession[];
  /** As they were before. */
  readonly removed: readonly ListedSession[];
}

/** Changes between two emissions, merged to one for each session. */
class SessionListChanges {
  readonly #changes = new Map<string, SessionChange>();

  get isEmpty(): boolean {
    return this.#changes.size === 0;
  }

  add({ before, now }: SessionChange): void {
    const path = (now ?? before)?.path ?? "";
    const known = this.#changes.get(path);
    const first = known === undefined ? before : known.before;
    if (first === undefined && now === undefined) this.#changes.delete(path);
    else this.#changes.set(path, { before: first, now });
  }

  /** Resets the changes. */
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

// Watches a directory and, if they count, its sub-directories. Sidecars, locks above all, are
// ignored.

/** Watches nothing before {@link DirectoryWatches.renew}. */
class DirectoryWatches {
  readonly #listed: ListedDirectory;
  /** Called with the path of a session file; null: anything may have changed. */
  readonly #onHint: (path: string | null) => void;
  #watched = new Map<string, () => void>();
  #stopPoll: (() => void) | undefined;
  #isClosed = false;

  constructor(listed: ListedDirectory, onHint: (path: string | null) => void) {
    this.#listed = listed;
    this.#onHint = onHint;
  }

  /**
   * Watches existing directories; repeated at every poll and when directories appear, as they are
   * replaced, too, and one that cannot be watched now may be later.
   */
  async renew(): Promise<void> {
    const { directory, subdirectories, ports, pollMs } = this.#listed;
    const below = subdirectories ? await subdirectoriesOf(directory) : [];
    if (this.#isClosed) return;
    const before = this.#watched;
    const directories = [directory, ...below];
    // The new watch starts before the old one ends: they share a watcher, and lose no hint.
    this.#watched = new Map(directories.map((one) => [one, this.#watch(one)]));
    for (const stop of before.values()) stop();
    this.#stopPoll ??= poll(ports.clock, pollMs, () => this.#renewAndTell());
    // Changes before the directories were watched gave no hint.
    if (directories.some((one) => !before.has(one))) this.#onHint(null);
  }

  close(): void {
    this.#isClosed = true;
    this.#stopPoll?.();
    for (const stop of this.#watched.values()) stop();
    this.#watched.clear();
  }

  #renewAndTell(): void {
    void this.renew();
    this.#onHint(null);
  }

  #watch(directory: string): () => void {
    const { ports, subdirectories } = this.#listed;
    const isRoot = directory === this.#listed.directory;
    const watch = ports.hints.watch(directory, (name) => {
      // Also if it cannot be watched, which must not cause an immediate retry.
      if (name === null) this.#onHint(null);
      else if (isSessionFileName(name)) this.#onHint(join(directory, name));
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
    // The read of the directory reports the failure.
    return [];
  }
}
