/**
 * Finds the sessions of every agent below directories, with exact facts from their catalogs.
 * Unreadable files are left out.
 */
import { documentFiles, heldIn, isDocumentPlace, mayBeDocument } from "../catalog/agent-files.ts";
import { existsSync, readdirSync, realpathSync } from "node:fs";
import type { Dirent } from "node:fs";
import { realpath } from "node:fs/promises";
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
  quietly,
} from "@branchlog/core/files";
import { DirectoryCatalog } from "../catalog/directory-catalog.ts";
import {
  documentFormatOf,
  earlierFiles,
  fileOfAddress,
  registeredAgents,
} from "@branchlog/core/rows";
import type { ListedSession } from "../catalog/listed-session.ts";
import { usageOfAll } from "../catalog/listed-usage.ts";
import type { ListedUsage } from "../catalog/listed-usage.ts";
import { removeOrphansAmong } from "../catalog/orphaned-sidecars.ts";
import type { CatalogMode } from "../catalog/catalog-store.ts";
import {
  pathIn,
  isSidecarName,
  isUnlistable,
  lookAtFile,
  lookAtFiles,
  namesAmong,
} from "../catalog/session-files.ts";
import type { NamedFile, SessionFile } from "../catalog/session-files.ts";
import { mapInBatches } from "../catalog/map-concurrently.ts";
import { unreadableDirectory } from "../catalog/unreadable-directory.ts";
import { requireNoAddress } from "@branchlog/core/addresses";
import type { FindOptions, FoundSessions, SearchedStore } from "./find-options.ts";
import { LatestSessions } from "./latest-sessions.ts";
import { findStored } from "./stored-sessions.ts";

const findNames: OptionNames<FindOptions> = {
  artifacts: true,
  agents: true,
  sinceMs: true,
  untilMs: true,
  limit: true,
  unread: true,
  catalog: true,
  onProgress: true,
  signal: true,
};

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

/** The state of a search for sessions, so that the next one reads only changes. */
export class KeptCatalog {
  readonly directories: DirectoryCatalog;
  /** Of the last search; one at a time uses it. */
  list: (signal: AbortSignal | undefined) => Promise<SessionFile[]> = () => Promise.resolve([]);

  constructor(saved: CatalogMode) {
    const list = (signal: AbortSignal | undefined): Promise<SessionFile[]> => this.list(signal);
    this.directories = new DirectoryCatalog({ list, saved, now: Date.now });
  }
}

/**
 * As {@link findSessions}, of files with certain names only.
 * @param kept Of an earlier search of these places; a limit saves no reading then.
 */
export async function findAmong(
  places: readonly string[],
  options: FindOptions,
  isCandidate: (file: SessionFile) => boolean,
  kept?: KeptCatalog,
): Promise<FoundSessions> {
  const { artifacts = false, catalog = "auto", signal } = options;
  for (const place of requireList("The places", places)) requireText("A place", place);
  requireAtLeast("limit", options.limit ?? 0, 0);
  const cleans = catalog === "auto";
  const found = await walkSessions(places, { artifacts, cleans, signal });
  let [searched, total] = [0, 0];
  const list = async (): Promise<SessionFile[]> => {
    const files = await filesIn(found, signal);
    total = files.length;
    return files;
  };
  const read = kept ?? new KeptCatalog(catalog);
  read.list = list;
  const { directories } = read;
  const latest = new LatestSessions(kept ? { ...options, limit: undefined } : options);
  await directories.refresh({
    paths: null,
    onChange: ({ now }) => latest.add(now),
    onFile: () => {
      options.onProgress?.({ searched, total });
      searched += 1;
    },
    isUnwanted: (file) => !isCandidate(file) || latest.isOlder(file),
    isWhole: isWhole(found),
    leavesUnread: options.unread,
    signal,
  });
  const parts = latest.olderParts();
  if (parts.size > 0) {
    const isUnwanted = ({ path }: SessionFile): boolean => !parts.has(path);
    // Sessions that share a file are known only by listing it.
    const isShared = [...parts].some((path) => fileOfAddress(path).id !== undefined);
    await directories.refresh({ paths: isShared ? null : parts, isUnwanted, signal });
  }
  const unlisted = [...found.unlisted, ...directories.unlisted];
  const all = directories.sessions();
  const shown = artifacts ? all : withSubagents(all);
  const sessions = shown.filter((one) => latest.isWanted(one));
  return {
    sessions: sessions.slice(0, options.limit),
    unlisted,
    knownIds: [...shown.map(({ header }) => header.id), ...latest.passedOverIds()],
  };
}

function isWhole({ visited, documents }: SessionWalk): boolean {
  const listed = new Set([...visited, ...documents]);
  return knownPlaces().every((place) => listed.has(quietly(() => realpathSync(place)) ?? place));
}

/** The usage of subagents counts for the session above all of them. */
function withSubagents(sessions: readonly ListedSession[]): ListedSession[] {
  const others = sessions.filter(({ transcript }) => transcript?.isSubagent !== true);
  const callers = new Map<string, string>();
  for (const { header, transcript } of sessions) {
    const { id, parentSession } = header;
    if (transcript?.isSubagent === true && parentSession) callers.set(id, parentSession);
  }
  const children = new Map<string, (ListedUsage | undefined)[]>();
  for (const { header, usage } of sessions) {
    let parentId = callers.get(header.id);
    // Damaged headers may lead in a circle.
    for (let left = callers.size; parentId !== undefined && left > 0; left -= 1) {
      const above = callers.get(parentId);
      if (above === undefined) break;
      parentId = above;
    }
    if (parentId === undefined) continue;
    const siblings = children.get(parentId) ?? [];
    children.set(parentId, siblings);
    siblings.push(usage);
  }
  return others.map((session) => {
    const below = children.get(session.header.id);
    if (below === undefined) return session;
    const known = [session.usage, ...below].filter((one) => one !== undefined);
    const isKnown = known.length === below.length + 1;
    return { ...session, usage: isKnown ? usageOfAll(known) : undefined };
  });
}

/** Latest change first; each once. Of a session in several files the last one. */
export async function filesIn(
  { names, documents }: Pick<SessionWalk, "names" | "documents">,
  signal: AbortSignal | undefined,
): Promise<SessionFile[]> {
  const files = new Map<string, SessionFile>();
  const add = (file: SessionFile): void => {
    const key = file.identity ?? file.path;
    if (!files.has(key)) files.set(key, file);
  };
  for (const ofDirectory of names) (await lookAtFiles([...ofDirectory], signal)).forEach(add);
  const inDocuments = (await Promise.all(documents.map(documentFiles))).flat();
  inDocuments.forEach(add);
  const isHeld = heldIn(inDocuments);
  const readable = [...files.values()].filter((one) => one.isReadable && !isHeld(one.path));
  const earlier = new Set(readable.flatMap(({ path }) => earlierFiles(path)));
  const last = [...files.values()].filter(({ path }) => !earlier.has(path) && !isHeld(path));
  return last.sort((one, other) => other.mtimeMs - one.mtimeMs);
}

/** The sessions of documents and databases below a directory, or in one. Damaged ones, too. */
export async function documentsBelow(place: string, signal?: AbortSignal): Promise<string[]> {
  const { documents } = await sessionDirectories([place], signal);
  const files = await Promise.all(documents.map(documentFiles));
  return files.flat().map(({ path }) => path);
}

export async function sessionDirectories(
  places: readonly string[],
  signal?: AbortSignal,
): Promise<SessionWalk> {
  return walkSessions(places, { artifacts: false, cleans: false, signal });
}

// Walks directories: each once, links followed, cycles ended. The directory of artifacts next to a
// session of omp is left out unless requested; those of subagents are always read.

interface SessionWalk {
  /** Of session files, by directories. */
  readonly names: readonly (readonly NamedFile[])[];
  /** All that may get sessions later. */
  readonly visited: readonly string[];
  /** Files of agents that keep no lines of JSON. */
  readonly documents: readonly string[];
  /** Names that are not UTF-8. */
  readonly unlisted: readonly string[];
}

interface WalkedDirectory {
  readonly path: string;
  /** Whether no part of the path is a link. */
  readonly isReal: boolean;
}

interface WalkOptions {
  /** Whether directories of artifacts are read. */
  readonly artifacts: boolean;
  /** Whether sidecar files of deleted sessions are removed. */
  readonly cleans: boolean;
  readonly signal: AbortSignal | undefined;
}

/** Subagents of a session are here, in a directory with its name. */
const subagentsName = "subagents";

/** Large directories without sessions. */
const passedOver: ReadonlySet<string> = new Set(["node_modules", ".git"]);

/**
 * @throws BranchlogError `ERR_LOG_MISSING`, `ERR_LOG_UNREADABLE` for a root, and the signal's
 * reason; unreadable subdirectories are skipped.
 */
async function walkSessions(roots: readonly string[], options: WalkOptions): Promise<SessionWalk> {
  const found: NamedFile[][] = [];
  const visited: string[] = [];
  const documents: string[] = [];
  const unlisted: string[] = [];
  const seen = new Set<string>();
  const open: WalkedDirectory[] = [];
  for (const root of roots) {
    requireNoAddress(root);
    const path = await realDirectory(resolve(root));
    // A file with sessions is a place, too.
    if (mayBeDocument(path) && lookAtFile(path).isReadable) documents.push(path);
    else open.push({ path, isReal: true });
  }
  const given = new Set(open.map(({ path }) => path));
  const isForeign = foreignPlaceCheck();
  const deserted = new Map<string, readonly string[]>();
  // It grows meanwhile.
  await mapInBatches(open, options.signal, (walked) => {
    const { path: directory } = walked;
    const places = placesIn(walked, seen, given.has(directory));
    if (places === undefined) {
      if (isUnlistable(lookAtFile(directory))) unlisted.push(directory);
      return;
    }
    visited.push(directory);
    const names = places.map(({ name }) => name);
    const sessionNames = namesAmong(directory, places);
    if (sessionNames.length > 0) found.push(sessionNames);
    else if (
      options.cleans &&
      names.some(isSidecarName) &&
      isOwnDirectory(nodeFileSystem, directory) &&
      !isForeign(directory)
    ) {
      deserted.set(directory, names);
    }
    const named = places.flatMap((place) => (mayBeDocumentAt(place) ? place.name : []));
    if (named.length > 0 && (given.has(directory) || isDocumentPlace(directory))) {
      for (const name of named) {
        const path = join(directory, name);
        if (name.includes("\u{fffd}") && isUnlistable(lookAtFile(path))) unlisted.push(path);
        else if (documentFormatOf(path) !== undefined) documents.push(path);
      }
    }
    for (const one of subdirectories(walked, places, options.artifacts)) open.push(one);
  });
  for (const [directory, names] of deserted) await removeOrphansAmong(directory, names);
  return { names: found, visited, documents, unlisted };
}

function mayBeDocumentAt(place: Dirent): boolean {
  return !place.isDirectory() && mayBeDocument(place.name);
}

/** Empty if already visited; undefined: unreadable. Synchronous, as `lookAtFile` is. */
function placesIn(
  { path: directory, isReal }: WalkedDirectory,
  seen: Set<string>,
  isGiven: boolean,
): readonly Dirent[] | undefined {
  try {
    const real = isReal ? directory : realpathSync(directory);
    if (seen.has(real)) return [];
    seen.add(real);
    return readdirSync(directory, { withFileTypes: true });
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
  { path: directory, isReal }: WalkedDirectory,
  places: readonly Dirent[],
  artifacts: boolean,
): readonly WalkedDirectory[] {
  const names = new Set(places.map(({ name }) => name));
  return places
    .filter((place) => place.isDirectory() || place.isSymbolicLink())
    .filter(({ name }) => !passedOver.has(name) && !isSidecarName(name))
    .map((place) => {
      const path = pathIn(directory, place.name);
      const isSkipped = !artifacts && names.has(`${place.name}.jsonl`);
      return {
        path: isSkipped ? pathIn(path, subagentsName) : path,
        isReal: isReal && place.isDirectory() && !isSkipped,
      };
    });
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
