/**
 * omp's session lists, of a working directory or of all, exact by the catalog. Files that are not
 * sessions are left out.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { nodeFileSystem, resolvePath } from "@branchlog/core/files";
import { listAllSessions } from "../pi/session-directory.ts";
import type { SessionInfo as ListedInfo } from "../pi/session-directory.ts";
import { findMostRecentSession as findMostRecent } from "../pi/session-lookup.ts";
import { getDefaultSessionDir, sessionDirsOf, sessionsRoot } from "./omp-directory.ts";

/** A session in a list, under omp's names. */
export interface SessionInfo {
  readonly path: string;
  readonly id: string;
  /** "" if absent. */
  readonly cwd: string;
  readonly title?: string;
  readonly parentSessionPath?: string;
  readonly created: Date;
  readonly modified: Date;
  /** Of every role and branch. */
  readonly messageCount: number;
  readonly size: number;
  readonly firstMessage: string;
  /** Read from the file on each access. */
  readonly allMessagesText: string;
}

/**
 * Latest change first.
 *
 * @param sessionDir Default: omp's directories of `cwd`.
 */
export async function listSessions(cwd: string, sessionDir?: string): Promise<SessionInfo[]> {
  const directories = sessionDir === undefined ? sessionDirsOf(cwd) : [sessionDir];
  const wanted = resolvePath(cwd);
  const isOfCwd = (info: SessionInfo): boolean => info.cwd === "" || isPath(info.cwd, wanted);
  return (await listDirectories(directories)).filter(isOfCwd);
}

export async function listAll(): Promise<SessionInfo[]> {
  return listDirectories(directoriesBelow(sessionsRoot()));
}

/**
 * The session file of a directory that changed last, of any working directory; of ties the last
 * name, since names begin with the creation time. Skips other files and unreadable ones.
 *
 * @returns Null without one. Never rejects.
 */
export async function findMostRecentSession(sessionDir: string): Promise<string | null> {
  return findMostRecent(sessionDir);
}

/** Null if the working directory has none. */
export function mostRecentSession(cwd: string, sessionDir?: string): string | null {
  if (sessionDir !== undefined) return findMostRecent(sessionDir, resolvePath(cwd));
  let latest: string | null = null;
  for (const directory of sessionDirsOf(cwd)) {
    const found = findMostRecent(directory, resolvePath(cwd));
    if (found !== null && (latest === null || changedMs(found) > changedMs(latest))) latest = found;
  }
  return latest;
}

export function sessionDirFor(cwd: string, sessionDir?: string): string {
  return sessionDir ?? getDefaultSessionDir(resolvePath(cwd));
}

async function listDirectories(directories: readonly string[]): Promise<SessionInfo[]> {
  const lists = await Promise.all(directories.map((directory) => listAllSessions(directory)));
  return lists
    .flat()
    .map((info) => ompInfo(info))
    .sort((a, b) => b.modified.getTime() - a.modified.getTime() || (a.path < b.path ? 1 : -1));
}

function ompInfo(info: ListedInfo): SessionInfo {
  const { path, id, cwd, name, parentSessionPath, created, modified } = info;
  return {
    path,
    id,
    cwd,
    ...(name === undefined ? {} : { title: name }),
    ...(parentSessionPath === undefined ? {} : { parentSessionPath }),
    created,
    modified,
    messageCount: info.messageCount,
    size: statSync(path, { throwIfNoEntry: false })?.size ?? 0,
    firstMessage: info.firstMessage,
    get allMessagesText() {
      return info.allMessagesText;
    },
  };
}

function directoriesBelow(root: string): string[] {
  try {
    return nodeFileSystem.listSync(root).map((name) => join(root, name));
  } catch {
    return [];
  }
}

function isPath(stored: string, wanted: string): boolean {
  try {
    return resolvePath(stored) === wanted;
  } catch {
    return false;
  }
}

function changedMs(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
