/**
 * Finds a session of a directory by headers only. Best effort, as in pi: unreadable and other files
 * are skipped, an unreadable directory is empty. Synchronous; writes nothing.
 */
import type { FileStat } from "@branchlog/core/types";
import { join } from "node:path";
import { readSessionHeaderSync, isSessionFileName } from "@branchlog/library/catalogs";
import { isDefaultSessionDir, resolveSessionDir, isSamePath } from "./pi-directory.ts";
import type { SessionHeader } from "@branchlog/core";
import { storePlace, nodeFileSystem, expandPath, resolvePath } from "@branchlog/core/files";
import { findStored, latestStored } from "./stored-sessions.ts";

/**
 * The session file with this id among those of `cwd` (see `listSessions`), or undefined. Of
 * several, first the one named by the id, then the last name. One read if the file name has the id,
 * else up to all files.
 */
export function findSessionById(cwd: string, id: string, sessionDir?: string): string | undefined {
  const directory = resolveSessionDir(cwd, sessionDir);
  const place = storePlace(directory);
  if (place !== undefined) return findStored(place.store, id);
  const isInScope = sessionScope(cwd, directory);
  const names = sessionFileNames(directory).sort().reverse();
  const isNamed = (name: string): boolean => name.endsWith(`_${id}.jsonl`);
  const ordered = [...names.filter(isNamed), ...names.filter((name) => !isNamed(name))];
  for (const name of ordered) {
    const path = join(directory, name);
    if (statOf(path)?.isFile !== true) continue;
    const header = headerOf(path);
    if (header?.id === id && isInScope(header.cwd)) return path;
  }
  return undefined;
}

/**
 * The session file that changed last, of ties the last name, or null. With `cwd`, only sessions of
 * it (see `listSessions`).
 */
export function findMostRecentSession(sessionDir: string, cwd?: string): string | null {
  const directory = expandPath(sessionDir);
  const place = storePlace(directory);
  if (place !== undefined) return latestStored(place.store, cwd);
  const isInScope = cwd ? sessionScope(cwd, directory) : () => true;
  const files = sessionFileNames(directory)
    .sort()
    .reverse()
    .map((name) => join(directory, name))
    .map((path) => ({ path, stat: statOf(path) }))
    .filter(({ stat }) => stat?.isFile === true)
    .sort((a, b) => (b.stat?.mtimeMs ?? 0) - (a.stat?.mtimeMs ?? 0));
  for (const { path } of files) {
    const header = headerOf(path);
    if (header !== undefined && isInScope(header.cwd)) return path;
  }
  return null;
}

function sessionFileNames(directory: string): string[] {
  try {
    return nodeFileSystem.listSync(directory).filter(isSessionFileName);
  } catch {
    return [];
  }
}

function statOf(path: string): FileStat | null {
  try {
    return nodeFileSystem.statSync(path);
  } catch {
    // A link into a forbidden directory, or to itself.
    return null;
  }
}

function headerOf(path: string): SessionHeader | undefined {
  try {
    return readSessionHeaderSync(path);
  } catch {
    return undefined;
  }
}

type SessionScope = (headerCwd: unknown) => boolean;

/**
 * The header decides, since several working directories may share a directory name. Headers without
 * a cwd, from the oldest versions, belong to the default directory that they are in.
 *
 * @throws TypeError if `cwd` is a `file:` URL without a local path.
 */
export function sessionScope(cwd: string, directory: string): SessionScope {
  const resolved = resolvePath(cwd);
  const isDefault = isDefaultSessionDir(directory, cwd);
  return (headerCwd) => {
    if (typeof headerCwd !== "string" || headerCwd === "") return isDefault;
    try {
      return isSamePath(resolvePath(headerCwd), resolved);
    } catch {
      // Not a path of this machine.
      return false;
    }
  };
}
