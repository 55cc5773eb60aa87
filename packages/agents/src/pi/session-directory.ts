/**
 * pi's session lists of one or all directories, or of a store: complete, in a stable order, each
 * file once, sessions only. Bounded memory; saves a catalog next to the files. A missing or
 * unreadable directory is empty, a store that fails is an error.
 */
import { readSessionTextSync, sessionTextSync } from "./session-text.ts";
import {
  DirectoryCatalog,
  Ranking,
  sessionFilesBelow,
  sessionFilesIn,
} from "@branchlog/library/catalogs";
import { resolveSessionDir, sessionsRoot } from "./pi-directory.ts";
import type { SessionFile } from "@branchlog/library/catalogs";
import type { ListedSession } from "@branchlog/library";
import { storedTimeMs } from "@branchlog/core/rows";
import { expandPath, storePlace } from "@branchlog/core/files";
import type { BlockingStore } from "@branchlog/core/files";
import { sessionScope } from "./session-lookup.ts";
import { openEngine } from "./session-places.ts";
import { blockingCatalog } from "./stored-sessions.ts";

/**
 * Called after each file with the counts read and total, which include files that are not sessions;
 * occasionally with the sessions so far, in final order.
 */
export type SessionListProgress = (
  loaded: number,
  total: number,
  partialSessions?: readonly SessionInfo[],
) => void;

interface Listing {
  /** In reading order, which breaks ties. */
  readonly list: (signal: AbortSignal | undefined) => Promise<SessionFile[]>;
  /** In the place of files. */
  readonly store?: BlockingStore | undefined;
  readonly includes: (session: SessionInfo) => boolean;
  /** Whether the sessions so far are reported after this file. */
  readonly isPublished: (loaded: number, total: number, index: number) => boolean;
  readonly onProgress: SessionListProgress | undefined;
  readonly signal: AbortSignal | undefined;
}

const publishedEvery = 10;
const publishedEveryOfAll = 100;
const { compare } = new Intl.Collator();

/**
 * The sessions of `cwd` in its default directory (also those without a cwd), or in the flat
 * directory `sessionDir`. Latest change first, ties by file name, descending. Partial lists follow
 * the first, every tenth and the last file.
 *
 * @throws The signal's reason. A failure of `onProgress` makes the list empty, as in pi.
 */
export async function listSessions(
  cwd: string,
  sessionDir?: string,
  onProgress?: SessionListProgress,
  signal?: AbortSignal,
): Promise<SessionInfo[]> {
  const directory = resolveSessionDir(cwd, sessionDir);
  const isInScope = sessionScope(cwd, directory);
  return listDirectory(directory, (session) => isInScope(session.cwd), onProgress, signal);
}

/**
 * All sessions, or all in the flat directory `sessionDir`. Latest change first, ties by change of
 * the file, then by file name, descending. Partial lists follow the file that changed last, every
 * hundredth after it, and the last; for a flat directory as in `list`.
 *
 * @throws As `list`.
 */
export function listAllSessions(
  onProgress?: SessionListProgress,
  signal?: AbortSignal,
): Promise<SessionInfo[]>;
export function listAllSessions(
  sessionDir?: string,
  onProgress?: SessionListProgress,
  signal?: AbortSignal,
): Promise<SessionInfo[]>;
export async function listAllSessions(
  first?: string | SessionListProgress,
  second?: SessionListProgress | AbortSignal,
  third?: AbortSignal,
): Promise<SessionInfo[]> {
  const given = [first, second, third];
  const onProgress = given.find((one) => typeof one === "function");
  const signal = given.find((one) => typeof one === "object");
  const directory = typeof first === "string" ? expandPath(first) : "";
  if (directory !== "") return listDirectory(directory, () => true, onProgress, signal);
  let isNewestLoaded = false;
  return readSessions({
    list: async () => (await sessionFilesBelow(sessionsRoot(), signal)).sort(byChange),
    includes: () => true,
    isPublished: (loaded, total, index) => {
      isNewestLoaded ||= index === 0;
      const isDue = index === 0 || loaded % publishedEveryOfAll === 0 || loaded === total;
      return isNewestLoaded && isDue;
    },
    onProgress,
    signal,
  });
}

async function listDirectory(
  directory: string,
  includes: Listing["includes"],
  onProgress: SessionListProgress | undefined,
  signal: AbortSignal | undefined,
): Promise<SessionInfo[]> {
  return readSessions({
    list: async () => (await sessionFilesIn(directory, signal)).sort(byName),
    store: storePlace(directory)?.store,
    includes,
    isPublished: (loaded, total) =>
      loaded === 1 || loaded % publishedEvery === 0 || loaded === total,
    onProgress,
    signal,
  });
}

async function readSessions(listing: Listing): Promise<SessionInfo[]> {
  const { list, store, includes, isPublished, onProgress, signal } = listing;
  const catalog =
    store === undefined
      ? new DirectoryCatalog({ list, saved: "auto", now: Date.now })
      : blockingCatalog(store);
  const ranking = new Ranking(comesBefore);
  let loaded = 0;
  signal?.throwIfAborted();
  try {
    await catalog.refresh({
      paths: null,
      signal,
      onRefreshed: ({ session, index, total }) => {
        // pi lists only its own sessions.
        const info = session && session.transcript === undefined ? sessionInfo(session) : undefined;
        if (info !== undefined && includes(info)) ranking.add({ session: info, index });
        loaded += 1;
        if (onProgress === undefined) return;
        const partial = isPublished(loaded, total, index) ? sessionsOf(ranking) : undefined;
        onProgress(loaded, total, partial);
      },
    });
    return sessionsOf(ranking);
  } catch (error) {
    signal?.throwIfAborted();
    if (store !== undefined) throw error;
    return [];
  }
}

interface RankedSession {
  readonly session: SessionInfo;
  readonly index: number;
}

function comesBefore(one: RankedSession, other: RankedSession): boolean {
  const laterMs = one.session.modified.getTime() - other.session.modified.getTime();
  return laterMs === 0 ? one.index < other.index : laterMs > 0;
}

function sessionsOf(ranking: Ranking<RankedSession>): SessionInfo[] {
  return ranking.items().map(({ session }) => session);
}

function byName(a: SessionFile, b: SessionFile): number {
  // Different names may be equal to the collator.
  return compare(b.name, a.name) || (a.path < b.path ? 1 : -1);
}

function byChange(a: SessionFile, b: SessionFile): number {
  return a.mtimeMs === b.mtimeMs ? byName(a, b) : b.mtimeMs - a.mtimeMs;
}

/** A session in a list. */
export interface SessionInfo {
  readonly path: string;
  readonly id: string;
  /** "" if absent, as in the oldest files. */
  readonly cwd: string;
  /** Absent if never named, or cleared. */
  readonly name?: string;
  /** As in the header. */
  readonly parentSessionPath?: string;
  /** Of the header; an invalid Date if unreadable. */
  readonly created: Date;
  /** Of the last message of user or assistant, else of the header, else of the file. */
  readonly modified: Date;
  /** Of every role and branch. */
  readonly messageCount: number;
  /** The first text of a user, else "(no messages)". */
  readonly firstMessage: string;
  /**
   * All user and assistant messages. Read on each access, also when copied or serialised:
   * synchronous, O(bytes of the session); "" without it.
   */
  readonly allMessagesText: string;
}

/** Invalid times are ignored: `modified` is valid. */
function sessionInfo(session: ListedSession): SessionInfo {
  const { path, header, name, summary, modifiedMs } = session;
  const { messageCount = 0 } = summary;
  // Decoding boundary: of the header only the id was checked.
  const cwd: unknown = header.cwd;
  const parentSession: unknown = header.parentSession;
  return {
    path,
    id: header.id,
    cwd: typeof cwd === "string" ? cwd : "",
    ...(name === undefined ? {} : { name }),
    ...(typeof parentSession === "string" ? { parentSessionPath: parentSession } : {}),
    created: new Date(storedTimeMs(header.timestamp)),
    modified: new Date(modifiedMs),
    messageCount,
    firstMessage: summary.firstMessage ?? "(no messages)",
    get allMessagesText() {
      return textOf(path);
    },
  };
}

function textOf(path: string): string {
  try {
    if (storePlace(path) === undefined) return readSessionTextSync(path);
    const { log } = openEngine(path, { access: "read" });
    return sessionTextSync(log.file, log.size);
  } catch {
    // The session is gone.
    return "";
  }
}
