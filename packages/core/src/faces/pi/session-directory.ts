/**
 * pi's session lists over the files of a directory, or of all of them. Lists are total and stable
 * in their order, hold each file once, and are never spoiled by one bad file: it is left out. They
 * read every file in bounded memory and write nothing; a directory that is missing or cannot be
 * read is an empty list.
 */
import { chunkBytesDefault } from "@branchlog/streaming";
import { filesReadAtOnceMax } from "../../catalog/limits.ts";
import { mapConcurrently } from "../../catalog/map-concurrently.ts";
import { Ranking } from "../../catalog/ranking.ts";
import { readSessionFacts } from "../../catalog/session-facts.ts";
import type { FactsReadOptions } from "../../catalog/session-facts.ts";
import { sessionFilesBelow, sessionFilesIn } from "../../catalog/session-files.ts";
import type { SessionFile } from "../../catalog/session-files.ts";
import { resolveSessionDir, sessionsRoot } from "./agent-directory.ts";
import { expandPath } from "./local-path.ts";
import { sessionInfo } from "./session-info.ts";
import type { SessionInfo } from "./session-info.ts";
import { sessionScope } from "./session-scope.ts";

/**
 * Told after each file: how many were read, of how many, and from time to time the sessions so far,
 * in the order of the final list. Files that turn out to be no sessions count too.
 */
export type SessionListProgress = (
  loaded: number,
  total: number,
  partialSessions?: readonly SessionInfo[],
) => void;

/** One run over a list of files. */
interface Listing {
  /** In the order in which they are read; equal times of change keep it in the result. */
  readonly files: readonly SessionFile[];
  readonly includes: (session: SessionInfo) => boolean;
  /** Whether the sessions so far are told now. */
  readonly isPublished: (loaded: number, index: number) => boolean;
  readonly onProgress: SessionListProgress | undefined;
  readonly signal: AbortSignal | undefined;
}

const publishedEvery = 10;
const publishedEveryOfAll = 100;
const { compare } = new Intl.Collator();

/**
 * The sessions of `cwd` in its default directory, or in the flat directory `sessionDir`: those
 * whose header has that cwd, and in the default directory those without one. Latest change first,
 * ties by file name, descending. Partial lists come with the first, every tenth and the last file.
 * @throws The signal's reason. A failure of `onProgress` ends the list: it is empty then, as in pi.
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
 * The sessions of all working directories, or all in the flat directory `sessionDir`. Latest change
 * first, ties by the change of the file, then by file name, descending. Partial lists come once the
 * file that changed last was read: then, with every hundredth and with the last file; for a flat
 * directory as in {@link listSessions}.
 * @throws As {@link listSessions}.
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
  return orEmpty(signal, async () => {
    const files = (await sessionFilesBelow(sessionsRoot(), signal)).sort(byChange);
    let isNewestLoaded = false;
    return readSessions({
      files,
      includes: () => true,
      isPublished: (loaded, index) => {
        isNewestLoaded ||= index === 0;
        const isDue = index === 0 || loaded % publishedEveryOfAll === 0 || loaded === files.length;
        return isNewestLoaded && isDue;
      },
      onProgress,
      signal,
    });
  });
}

async function listDirectory(
  directory: string,
  includes: Listing["includes"],
  onProgress: SessionListProgress | undefined,
  signal: AbortSignal | undefined,
): Promise<SessionInfo[]> {
  return orEmpty(signal, async () => {
    const files = (await sessionFilesIn(directory, signal)).sort(byName);
    const isPublished = (loaded: number): boolean =>
      loaded === 1 || loaded % publishedEvery === 0 || loaded === files.length;
    return readSessions({ files, includes, isPublished, onProgress, signal });
  });
}

async function readSessions(listing: Listing): Promise<SessionInfo[]> {
  const { files, includes, isPublished, onProgress, signal } = listing;
  const ranking = new Ranking(comesBefore);
  const chunks: Buffer[] = [];
  let loaded = 0;
  const options = { atOnceMax: filesReadAtOnceMax, signal };
  await mapConcurrently(files, options, async (file, index, lane) => {
    chunks[lane] ??= Buffer.allocUnsafeSlow(chunkBytesDefault);
    const session = await readSession(file, { signal, chunk: chunks[lane] });
    if (session !== undefined && includes(session)) ranking.add({ session, index });
    loaded += 1;
    if (onProgress === undefined) return;
    const isDue = isPublished(loaded, index);
    onProgress(loaded, files.length, isDue ? sessionsOf(ranking) : undefined);
  });
  return sessionsOf(ranking);
}

/** A session, and the place of its file in the order of reading. */
interface RankedSession {
  readonly session: SessionInfo;
  readonly index: number;
}

/** Latest change first, ties in the order of their files. */
function comesBefore(one: RankedSession, other: RankedSession): boolean {
  const laterMs = one.session.modified.getTime() - other.session.modified.getTime();
  return laterMs === 0 ? one.index < other.index : laterMs > 0;
}

function sessionsOf(ranking: Ranking<RankedSession>): SessionInfo[] {
  return ranking.items().map(({ session }) => session);
}

/** The session in a file; undefined if it is none or cannot be read. */
async function readSession(
  file: SessionFile,
  options: FactsReadOptions,
): Promise<SessionInfo | undefined> {
  if (!file.isReadable) return undefined;
  try {
    const facts = await readSessionFacts(file.path, options);
    return facts && sessionInfo(file, facts);
  } catch {
    options.signal?.throwIfAborted();
    return undefined;
  }
}

async function orEmpty(
  signal: AbortSignal | undefined,
  list: () => Promise<SessionInfo[]>,
): Promise<SessionInfo[]> {
  signal?.throwIfAborted();
  try {
    return await list();
  } catch {
    signal?.throwIfAborted();
    return [];
  }
}

function byName(a: SessionFile, b: SessionFile): number {
  // Names may be equal to the collator without being the same.
  return compare(b.name, a.name) || (a.path < b.path ? 1 : -1);
}

function byChange(a: SessionFile, b: SessionFile): number {
  return a.mtimeMs === b.mtimeMs ? byName(a, b) : b.mtimeMs - a.mtimeMs;
}
