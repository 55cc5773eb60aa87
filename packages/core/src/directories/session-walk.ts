/**
 * Finds the directories with sessions below others: every directory once, links followed, circles
 * among them ended. The directory that omp keeps beside a session, with the transcripts of its
 * subagents and other artifacts, belongs to that session and is left out unless it is asked for.
 */
import type { Dirent } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { removeOrphansAmong } from "../catalog/orphan-sidecars.ts";
import {
  isSessionFileName,
  isSidecarName,
  isUnlistable,
  lookAtFile,
} from "../catalog/session-files.ts";
import { unreadableDirectory } from "../catalog/unreadable-directory.ts";
import { nodeFileSystem } from "../store/node-file-system.ts";
import { isOwnDirectory } from "../store/trusted-file.ts";
import { isAgentDirectory, isAgentFileName } from "./agent-file.ts";

/** What was found. */
export interface SessionWalk {
  /** Directories in which files have the names of sessions. */
  readonly directories: readonly string[];
  /** Files that may be those of ConnectOnion agents. */
  readonly agentFiles: readonly string[];
  /** Directories whose names are not UTF-8. */
  readonly unlisted: readonly string[];
}

/** How to look. */
export interface WalkOptions {
  /** Whether directories of artifacts are looked into. */
  readonly artifacts: boolean;
  /** Whether what deleted sessions left behind is removed. */
  readonly cleans: boolean;
  readonly signal: AbortSignal | undefined;
}

/** Directories that hold no sessions, and many others. */
const passedOver: ReadonlySet<string> = new Set(["node_modules", ".git"]);

/**
 * Walks from these directories downwards.
 * @throws BranchlogError `ERR_LOG_MISSING`, `ERR_LOG_UNREADABLE` for one of these, and the signal's
 * reason; what is below them and cannot be read is passed over.
 */
export async function walkSessions(
  roots: readonly string[],
  options: WalkOptions,
): Promise<SessionWalk> {
  const directories: string[] = [];
  const agentFiles: string[] = [];
  const unlisted: string[] = [];
  const seen = new Set<string>();
  const open: string[] = [];
  for (const root of roots) open.push(await realDirectory(resolve(root)));
  const given = new Set(open);
  // It grows while it is gone through.
  for (const directory of open) {
    options.signal?.throwIfAborted();
    const places = await placesIn(directory, seen, given.has(directory));
    if (places === undefined) {
      if (isUnlistable(lookAtFile(directory))) unlisted.push(directory);
      continue;
    }
    const names = places.map(({ name }) => name);
    if (names.some(isSessionFileName)) directories.push(directory);
    else if (
      options.cleans &&
      names.some(isSidecarName) &&
      isOwnDirectory(nodeFileSystem, directory)
    ) {
      await removeOrphansAmong(directory, names);
    }
    if (given.has(directory) || isAgentDirectory(directory)) {
      for (const name of names) if (isAgentFileName(name)) agentFiles.push(join(directory, name));
    }
    for (const below of subdirectories(directory, places, options.artifacts)) open.push(below);
  }
  return { directories, agentFiles, unlisted };
}

/** What is in a directory that was not met yet; nothing in one that was; undefined: no access. */
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

/** Directories, and links: what leads to none has nothing in it. */
function subdirectories(
  directory: string,
  places: readonly Dirent[],
  artifacts: boolean,
): readonly string[] {
  const names = new Set(places.map(({ name }) => name));
  return places
    .filter((place) => place.isDirectory() || place.isSymbolicLink())
    .filter(({ name }) => !passedOver.has(name) && !isSidecarName(name))
    .filter(({ name }) => artifacts || !names.has(`${name}.jsonl`))
    .map(({ name }) => join(directory, name));
}
