/**
 * The sessions of pi, omp and ConnectOnion below directories: session files with their exact facts,
 * from the catalogs of their directories where nothing changed, and ConnectOnion files by what
 * stands at their top. A file that cannot be read is left out.
 */
import { DirectoryCatalog } from "../catalog/directory-catalog.ts";
import type { CatalogMode } from "../catalog/catalog-store.ts";
import type { ListedSession } from "../catalog/listed-session.ts";
import { isUnlistable, lookAtFile, sessionFilesIn } from "../catalog/session-files.ts";
import type { SessionFile } from "../catalog/session-files.ts";
import { requireList, requireOptions, requireText } from "../argument-checks.ts";
import { readAgent } from "./agent-file.ts";
import type { ListedAgent } from "./agent-file.ts";
import { knownPlaces } from "./known-places.ts";
import { walkSessions } from "./session-walk.ts";

/** How sessions are found. */
export interface FindOptions {
  /** Whether transcripts of subagents, which omp keeps beside a session, count. Default false. */
  readonly artifacts?: boolean;
  /** Whether what is known of the files is saved and taken up; see `sessions$`. Default `auto`. */
  readonly catalog?: CatalogMode;
  /** Ends the search with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Sessions that were found, latest change first. */
export interface FoundSessions {
  /** Of pi, co-mono and omp. */
  readonly sessions: readonly ListedSession[];
  /** Of ConnectOnion: a file holds all runs of one agent. */
  readonly agents: readonly ListedAgent[];
  /**
   * Files and directories that are left out because their names are not UTF-8: their paths, with
   * U+FFFD for what cannot be written. Rename them, and they are found.
   */
  readonly unlisted: readonly string[];
}

/**
 * Finds the sessions below directories, each file once.
 * @param places Default: where the agents of this machine keep theirs, see `knownPlaces`.
 * @throws BranchlogError `ERR_LOG_MISSING`, `ERR_LOG_UNREADABLE` for a place; the signal's reason.
 * @example
 * const { sessions } = await findSessions(["/home/me/.pi/agent/sessions"]);
 */
export async function findSessions(
  places: readonly string[] = knownPlaces(),
  options: FindOptions = {},
): Promise<FoundSessions> {
  const { artifacts = false, catalog = "auto", signal } = requireOptions(options);
  for (const place of requireList("What holds the places", places)) requireText("A place", place);
  const cleans = catalog === "auto";
  const found = await walkSessions(places, { artifacts, cleans, signal });
  const list = (): Promise<SessionFile[]> => filesIn(found.directories, signal);
  const directories = new DirectoryCatalog({ list, saved: catalog, now: Date.now });
  await directories.look({ paths: null, signal });
  const agents: ListedAgent[] = [];
  for (const path of found.agentFiles) {
    const agent = await agentIn(path, signal);
    if (agent !== undefined) agents.push(agent);
  }
  agents.sort(
    (one, other) => other.modifiedMs - one.modifiedMs || (one.path < other.path ? -1 : 1),
  );
  const agentFiles = found.agentFiles.filter((path) => isUnlistable(lookAtFile(path)));
  const unlisted = [...found.unlisted, ...directories.unlisted, ...agentFiles];
  return { sessions: directories.sessions(), agents, unlisted };
}

/** The session files of directories, those that changed last first; each once. */
async function filesIn(
  directories: readonly string[],
  signal: AbortSignal | undefined,
): Promise<SessionFile[]> {
  const files = new Map<string, SessionFile>();
  for (const directory of directories) {
    for (const file of await filesOf(directory, signal)) {
      const key = file.identity ?? file.path;
      if (!files.has(key)) files.set(key, file);
    }
  }
  return [...files.values()].sort((one, other) => other.mtimeMs - one.mtimeMs);
}

/** None of a directory that went away since it was found: the others are listed all the same. */
async function filesOf(directory: string, signal: AbortSignal | undefined): Promise<SessionFile[]> {
  try {
    return await sessionFilesIn(directory, signal);
  } catch {
    signal?.throwIfAborted();
    return [];
  }
}

async function agentIn(
  path: string,
  signal: AbortSignal | undefined,
): Promise<ListedAgent | undefined> {
  try {
    return await readAgent(path, signal);
  } catch {
    signal?.throwIfAborted();
    return undefined;
  }
}
