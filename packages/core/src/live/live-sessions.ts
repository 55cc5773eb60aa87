/**
 * The list of the sessions of a directory, kept up to date, whoever appends, creates, deletes or
 * renames. It is read when the first subscribes, newest first; from then on, what changes costs
 * what was appended. Nothing is kept, watched or polled once nobody subscribes.
 */
import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { Observable } from "@branchlog/streaming";
import type { Subscriber } from "@branchlog/streaming";
import type { CatalogMode } from "../catalog/catalog-store.ts";
import { DirectoryCatalog } from "../catalog/directory-catalog.ts";
import type { CatalogLook, DirectoryCatalogOptions } from "../catalog/directory-catalog.ts";
import { directoryPollMsDefault, partialListEveryMs } from "../catalog/limits.ts";
import type { ListedSession } from "../catalog/listed-session.ts";
import { sessionFilesIn, sessionFilesInAndBelow } from "../catalog/session-files.ts";
import { unreadableDirectory } from "../catalog/unreadable-directory.ts";
import { requireOptions, requireText } from "../argument-checks.ts";
import { engineSettings } from "../log/engine-options.ts";
import type { Ports } from "../store/ports.ts";
import { DirectoryWatches } from "./directory-watches.ts";
import { DueLooks } from "./due-looks.ts";
import { isSameStatus } from "./log-watch.ts";
import type { LiveStatus } from "./log-watch.ts";
import { SessionListChanges } from "./session-list-changes.ts";
import type { SessionListDifference } from "./session-list-changes.ts";
import { Subscribers } from "./subscribers.ts";

/** The sessions of a directory, and what became of them since the emission before. */
export interface LiveSessions extends SessionListDifference {
  /** All of them, latest change first; equal times by path. */
  readonly sessions: readonly ListedSession[];
  /**
   * `catching-up`: not all files were read yet, more sessions come. `live`: all that was known at
   * the last look. `stalled`: the directory could not be read, and `error`, a BranchlogError, says
   * why; the sessions are those of before. A directory that is missing is no error: it has none,
   * and is looked for at each poll.
   */
  readonly status: LiveStatus;
  /**
   * Files and directories that are left out because their names are not UTF-8: their paths, with
   * U+FFFD for what cannot be written.
   */
  readonly unlisted: readonly string[];
}

/** How a directory is watched. */
export interface LiveSessionsOptions {
  /** Whether the sessions right in sub-directories count, too, as pi keeps them. Default false. */
  readonly subdirectories?: boolean;
  /** How often all files are looked at without a hint, in ms. Default 5000. */
  readonly pollMs?: number;
  /**
   * Whether what is known of the sessions is saved in the directory, as `.branchlog-catalog`, once
   * it is worth it, and taken up by the next list: `auto` does both, `read` only takes up, `off`
   * neither. Default `auto`.
   */
  readonly catalog?: CatalogMode;
  /** Hints and time from elsewhere. */
  readonly ports?: Partial<Pick<Ports, "clock" | "hints">>;
}

/**
 * The sessions of a directory, live. The first emission of each subscriber holds all sessions known
 * so far as `added`; while many files are read for the first time, a part of them comes every 100
 * ms. Files that are no sessions, or cannot be read, are not listed. It never ends by itself, and
 * keeps the process alive; what goes wrong is in `status`.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT`.
 * @example
 * sessions$("sessions").subscribe(({ sessions }) => console.log(sessions.length));
 */
export function sessions$(
  directory: string,
  options: LiveSessionsOptions = {},
): Observable<LiveSessions> {
  const { pollMs = directoryPollMsDefault, ports = {}, catalog = "auto" } = requireOptions(options);
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
  readonly #subscribers: Subscribers<LiveSessions>;
  #last: LiveSessions | undefined;

  constructor(directory: ListedDirectory) {
    this.#directory = directory;
    this.#subscribers = new Subscribers<LiveSessions>(() => this.#begin(), Object.is);
    this.observable = new Observable((subscriber) => this.#subscribe(subscriber));
  }

  #subscribe(subscriber: Subscriber<LiveSessions>): () => void {
    const last = this.#last;
    const known = last && { ...last, added: last.sessions, changed: [], removed: [] };
    const release = this.#subscribers.add(subscriber);
    if (known !== undefined) this.#subscribers.showTo(subscriber, known);
    return release;
  }

  #begin(): () => void {
    const end = new AbortController();
    void this.#follow(end.signal);
    return () => {
      end.abort();
      this.#last = undefined;
    };
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { clock } = this.#directory.ports;
    const due = new DueLooks(signal);
    const { saved } = this.#directory;
    const list = newestFirst(this.#directory);
    const catalog = new DirectoryCatalog({ list, saved, now: () => clock.now() });
    const onHint = (path: string | null): void => {
      due.add(path === null ? null : catalog.listedPath(path));
    };
    const watches = new DirectoryWatches({ ...this.#directory, onHint });
    signal.addEventListener("abort", () => watches.close(), { once: true });
    await watches.renew();
    for (;;) {
      const look = await due.next();
      if (look === undefined) return;
      await this.#look(catalog, { ...look, signal });
    }
  }

  async #look(
    catalog: DirectoryCatalog,
    look: Pick<CatalogLook, "paths"> & { readonly signal: AbortSignal },
  ): Promise<void> {
    const { directory, ports } = this.#directory;
    const { clock } = ports;
    const changes = new SessionListChanges();
    let shownMs = clock.monotonicMs();
    const show = (status: LiveStatus): void => {
      const { unlisted } = catalog;
      const isNews =
        this.#isNews(changes, status) || !isDeepStrictEqual(unlisted, this.#last?.unlisted);
      if (look.signal.aborted || !isNews) return;
      this.#last = { sessions: catalog.sessions(), ...changes.take(), status, unlisted };
      shownMs = clock.monotonicMs();
      this.#subscribers.show(this.#last);
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
  }

  #isNews(changes: SessionListChanges, status: LiveStatus): boolean {
    return !changes.isEmpty || this.#last === undefined || !isSameStatus(this.#last.status, status);
  }
}

/** Latest change first, so that what is looked for most often is read first. */
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
