/**
 * Finds one session of a directory by reading headers only. Best effort, as pi's: unreadable files
 * and files that are no sessions are skipped, and an unreadable directory is empty. Synchronous;
 * nothing is written.
 */
import { join } from "node:path";
import { readSessionHeaderSync } from "../../catalog/header-search.ts";
import { isSessionFileName } from "../../catalog/session-files.ts";
import type { SessionHeader } from "../../entries/entry-types.ts";
import { nodeFileSystem } from "../../store/node-file-system.ts";
import type { FileStat } from "../../store/ports.ts";
import {
  expandPath,
  isDefaultSessionDir,
  isSamePath,
  resolvePath,
  resolveSessionDir,
} from "../../directories/agent-directory.ts";

/**
 * The file of the session with this id among those of `cwd` (see `listSessions`), or undefined. Of
 * several, the one whose name has the id as pi's file names do, then the one whose name is last. A
 * session that is found by its file name costs one read, any other up to all.
 */
export function findSessionById(cwd: string, id: string, sessionDir?: string): string | undefined {
  const directory = resolveSessionDir(cwd, sessionDir);
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
 * The session file that changed last in a directory, of ties the one whose name is last, or null.
 * With `cwd` only among the sessions of that working directory (see `listSessions`).
 */
export function findMostRecentSession(sessionDir: string, cwd?: string): string | null {
  const directory = expandPath(sessionDir);
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
    // A link into a forbidden directory, or one that leads to itself.
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
 * The header decides, never the name of the directory, as several working directories may share
 * one. Headers without a cwd, as the oldest versions wrote them, belong to the default directory
 * that they are in, and nowhere else.
 * @throws TypeError if `cwd` is a `file:` URL that names no local path.
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
