/**
 * Finds the sessions of every agent below directories, with exact facts from their catalogs, and
 * ConnectOnion files by their first lines. Unreadable files are left out.
 */
import { existsSync } from "node:fs";
import type { Dirent } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { OptionNames } from "@branchlog/streaming";
import {
  requireAtLeast,
  requireList,
  requireOptions,
  requireText,
  isInStore,
  foreignPlaceCheck,
  nodeFileSystem,
  isOwnDirectory,
} from "@branchlog/core/files";
import type { CatalogMode } from "../catalog/catalog-store.ts";
import { DirectoryCatalog } from "../catalog/directory-catalog.ts";
import { registeredAgents } from "@branchlog/core/rows";
import type { ListingStore } from "@branchlog/core/types";
import type { ListedSession, ListedTranscript } from "../catalog/listed-session.ts";
import { removeOrphansAmong } from "../catalog/catalog-store.ts";
import {
  isSessionFileName,
  isSidecarName,
  isUnlistable,
  lookAtFile,
  nameBeforeCompression,
  sessionFilesIn,
} from "../catalog/session-files.ts";
import type { SessionFile } from "../catalog/session-files.ts";
import { unreadableDirectory } from "../catalog/unreadable-directory.ts";
import { requireNoAddress } from "@branchlog/core/addresses";
import { LatestSessions } from "./latest-sessions.ts";
import { findStored } from "./stored-sessions.ts";
import { isAgentDirectory, isAgentFileName, readAgent } from "./agent-file.ts";
import type { ListedDocument } from "./agent-file.ts";

/** How far a search is, in sessions. */
export interface SearchProgress {
  readonly searched: number;
  /** Of a store, which is read page by page, as many as are known. */
  readonly total: number;
}

/** Options of {@link findSessions}. */
export interface FindOptions {
  /**
   * Whether sub-agents' sessions are listed. Default false: omp's are left out, those of Claude
   * Code and Codex count as part of their parent session.
   */
  readonly artifacts?: boolean;
  /** Only of these agents, by their names. Default: all. */
  readonly agents?: readonly string[] | undefined;
  /** Only what changed since, in epoch ms. */
  readonly sinceMs?: number | undefined;
  /**
   * Only so many sessions, and so many agents of ConnectOnion: those that changed last. Files are
   * read from the latest to the oldest, until no older one can be among them.
   */
  readonly limit?: number | undefined;
  /** Whether facts are saved and loaded; see `sessions$`. Default `auto`. */
  readonly catalog?: CatalogMode;
  /** Called before each file. */
  readonly onProgress?: ((progress: SearchProgress) => void) | undefined;
  /** Ends the search with its reason. */
  readonly signal?: AbortSignal | undefined;
}

const findNames: OptionNames<FindOptions> = {
  artifacts: true,
  agents: true,
  sinceMs: true,
  limit: true,
  catalog: true,
  onProgress: true,
  signal: true,
};

/** Latest change first. */
export interface FoundSessions {
  /** Of pi, co-mono and omp, and transcripts of Claude Code and Codex. */
  readonly sessions: readonly ListedSession[];
  /** Of ConnectOnion: a file holds all runs of one agent. */
  readonly agents: readonly ListedDocument[];
  /**
   * Paths left out: those that are not UTF-8, with U+FFFD for the invalid bytes, and rollouts that
   * Codex compressed (`.jsonl.zst`).
   */
  readonly unlisted: readonly string[];
  /** Of all sessions there, also those left out; of files that were not read, from their names. */
  readonly knownIds: readonly string[];
}

/** Where sessions are looked for in a store. */
export interface SearchedStore {
  /** As `postgresStore()` of `@branchlog/postgres`. */
  readonly store: ListingStore;
}

/**
 * Finds the sessions below directories, each file once, or all of a store, each read whole.
 * @param places Default: where the agents of this machine keep theirs, see `knownPlaces`.
 * @throws BranchlogError `ERR_LOG_MISSING`, `ERR_LOG_UNREADABLE` for a place; `ERR_STORE_*`; the
 * signal's reason.
 * @example
 * const { sessions } = await findSessions(["/home/me/.pi/agent/sessions"]);
 */
export async function findSessions(
  places: readonly string[] | SearchedStore = knownPlaces(),
  options: FindOptions = {},
): Promise<FoundSessions> {
  if (isInStore(places)) return findStored(places.store, requireOptions(options, findNames));
  return findAmong(places, requireOptions(options, findNames), () => true);
}

/** As {@link findSessions}, of files with certain names only. */
export async function findAmong(
  places: readonly string[],
  options: FindOptions,
  isCandidate: (file: SessionFile) => boolean,
): Promise<FoundSessions> {
  const { artifacts = false, catalog = "auto", signal } = options;
  for (const place of requireList("What holds the places", places)) requireText("A place", place);
  requireAtLeast("limit", options.limit ?? 0, 0);
  const cleans = catalog === "auto";
  const found = await walkSessions(places, { artifacts, cleans, signal });
  let [searched, total] = [0, 0];
  const list = async (): Promise<SessionFile[]> => {
    const files = await filesIn(found.directories, signal);
    total = files.length;
    return files;
  };
  const isForeign = foreignPlaceCheck();
  const directories = new DirectoryCatalog({ list, saved: catalog, isForeign, now: Date.now });
  const latest = new LatestSessions(options);
  await directories.refresh({
    paths: null,
    onChange: ({ now }) => latest.add(now),
    onFile: () => {
      options.onProgress?.({ searched, total });
      searched += 1;
    },
    isUnwanted: (file) => !isCandidate(file) || latest.isOlder(file),
    signal,
  });
  const parts = latest.olderParts();
  if (parts.size > 0) await directories.refresh({ paths: parts, signal });
  const agents: ListedDocument[] = [];
  for (const path of found.agentFiles) {
    const agent = await agentIn(path, signal);
    if (agent !== undefined && latest.includes("connectonion", agent.modifiedMs))
      agents.push(agent);
  }
  agents.sort(
    (one, other) => other.modifiedMs - one.modifiedMs || (one.path < other.path ? -1 : 1),
  );
  const agentFiles = found.agentFiles.filter((path) => isUnlistable(lookAtFile(path)));
  const unlisted = [...found.unlisted, ...directories.unlisted, ...agentFiles];
  const all = directories.sessions();
  const sessions = (artifacts ? all : withSubagents(all)).filter((one) => latest.isWanted(one));
  const { limit } = options;
  return {
    sessions: sessions.slice(0, limit),
    agents: agents.slice(0, limit),
    unlisted,
    knownIds: [...all.map(({ header }) => header.id), ...latest.passedOverIds()],
  };
}

/** Tokens and models of sub-agents count as their parents'. */
function withSubagents(sessions: readonly ListedSession[]): ListedSession[] {
  const others = sessions.filter(({ transcript }) => transcript?.isSubagent !== true);
  const children = new Map<string, ListedTranscript[]>();
  for (const { header, transcript } of sessions) {
    const parentId = transcript?.isSubagent === true ? header.parentSession : undefined;
    if (transcript === undefined || parentId === undefined) continue;
    const siblings = children.get(parentId) ?? [];
    children.set(parentId, siblings);
    siblings.push(transcript);
  }
  return others.map((session) => {
    const below = children.get(session.header.id);
    if (below === undefined || session.transcript === undefined) return session;
    const all = [session.transcript, ...below];
    const models = [...new Set(all.flatMap((one) => one.models))];
    const tokens = all.reduce((sum, one) => sum + one.tokens, 0);
    return { ...session, transcript: { ...session.transcript, models, tokens } };
  });
}

/** Latest change first; each once. */
export async function filesIn(
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

export async function sessionDirectories(
  places: readonly string[],
  signal?: AbortSignal,
): Promise<SessionWalk> {
  return walkSessions(places, { artifacts: false, cleans: false, signal });
}

/** Empty for a directory that was removed meanwhile: the others are still listed. */
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
): Promise<ListedDocument | undefined> {
  try {
    return await readAgent(path, signal);
  } catch {
    signal?.throwIfAborted();
    return undefined;
  }
}

// Walks directories: each once, links followed, cycles ended. The directory of artifacts beside a
// session of omp is left out unless requested; sub-agents of Claude Code are always read.

interface SessionWalk {
  /** Those with names of session files. */
  readonly directories: readonly string[];
  /** All that may get sessions later. */
  readonly visited: readonly string[];
  /** Files that may be ConnectOnion agents'. */
  readonly agentFiles: readonly string[];
  /** Names that are not UTF-8, and of compressed rollouts. */
  readonly unlisted: readonly string[];
}

interface WalkOptions {
  /** Whether directories of artifacts are read. */
  readonly artifacts: boolean;
  /** Whether sidecar files of deleted sessions are removed. */
  readonly cleans: boolean;
  readonly signal: AbortSignal | undefined;
}

/** Claude Code keeps sub-agents of a session here. */
const subagentsName = "subagents";

/** Large directories without sessions. */
const passedOver: ReadonlySet<string> = new Set(["node_modules", ".git"]);

/**
 * @throws BranchlogError `ERR_LOG_MISSING`, `ERR_LOG_UNREADABLE` for a root, and the signal's
 * reason; unreadable sub-directories are skipped.
 */
async function walkSessions(roots: readonly string[], options: WalkOptions): Promise<SessionWalk> {
  const directories: string[] = [];
  const visited: string[] = [];
  const agentFiles: string[] = [];
  const unlisted: string[] = [];
  const seen = new Set<string>();
  const open: string[] = [];
  for (const root of roots) {
    requireNoAddress(root);
    open.push(await realDirectory(resolve(root)));
  }
  const given = new Set(open);
  const isForeign = foreignPlaceCheck();
  // It grows during the loop.
  for (const directory of open) {
    options.signal?.throwIfAborted();
    const places = await placesIn(directory, seen, given.has(directory));
    if (places === undefined) {
      if (isUnlistable(lookAtFile(directory))) unlisted.push(directory);
      continue;
    }
    visited.push(directory);
    const names = places.map(({ name }) => name);
    if (names.some(isSessionFileName)) directories.push(directory);
    else if (
      options.cleans &&
      names.some(isSidecarName) &&
      isOwnDirectory(nodeFileSystem, directory) &&
      !isForeign(directory)
    ) {
      await removeOrphansAmong(directory, names);
    }
    for (const name of names) {
      const before = nameBeforeCompression(name);
      // One is written beside the other before the first is removed.
      if (before !== undefined && !names.includes(before)) unlisted.push(join(directory, name));
    }
    if (given.has(directory) || isAgentDirectory(directory)) {
      for (const name of names) if (isAgentFileName(name)) agentFiles.push(join(directory, name));
    }
    for (const below of subdirectories(directory, places, options.artifacts)) open.push(below);
  }
  return { directories, visited, agentFiles, unlisted };
}

/** Empty if already visited; undefined: unreadable. */
async function placesIn(
  directory: string,
  seen: Set<string>,
  isGiven: boolean,
): Promise<readonly Dirent[] | undefined> {
  try {
    const { dev, ino } = await stat(directory, { bigint: true });
    const identity = `${dev}:${ino}`;
    if (seen.has(identity)) return [];
    seen.add(identity);
    return await readdir(directory, { withFileTypes: true });
  } catch (error) {
    if (isGiven) throw unreadableDirectory(directory, error);
    return undefined;
  }
}

async function realDirectory(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    throw unreadableDirectory(path, error);
  }
}

/** Directories, and links, which may lead to one. */
function subdirectories(
  directory: string,
  places: readonly Dirent[],
  artifacts: boolean,
): readonly string[] {
  const names = new Set(places.map(({ name }) => name));
  return places
    .filter((place) => place.isDirectory() || place.isSymbolicLink())
    .filter(({ name }) => !passedOver.has(name) && !isSidecarName(name))
    .map(({ name }) =>
      !artifacts && names.has(`${name}.jsonl`)
        ? join(directory, name, subagentsName)
        : join(directory, name),
    );
}

// Where the agents of this machine keep sessions, by their own rules. Creates nothing.

/**
 * The existing session directories of all agents, each once, by the agents' environment variables.
 * Read on each call.
 */
export function knownPlaces(): string[] {
  const places = registeredAgents().flatMap((agent) => agent.places());
  return [...new Set(places)].filter((place) => existsSync(place));
}
