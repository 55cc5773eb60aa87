/**
 * Finds one session of a directory by reading headers only. Best effort, as pi's: files that cannot
 * be read or are not sessions are passed over, and a directory that cannot be read holds none.
 * Synchronous; nothing is written.
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
 * The file of the session with exactly this id among those of `cwd` (see `listSessions`), or
 * undefined. Of several, the one whose name has the id as pi's file names do, then the one whose
 * name is last. A session that is found by its file name costs one read, any other up to all.
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
 * The session file that changed last in a directory, of ties the one whose name is last; null if
 * there is none. With `cwd` only among the sessions of that working directory (see `listSessions`).
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
    // A link into a directory that we may not enter, or one that leads to itself.
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

// Decides which sessions of a directory belong to a working directory. The header decides, never
// the name of the directory: several working directories may share a default directory, and a flat
// one holds those of all. Pure, and total over whatever a header may hold.

/** Says of a header's cwd, as stored, whether the session belongs to the working directory. */
type SessionScope = (headerCwd: unknown) => boolean;

/**
 * The scope of `cwd` in `directory`: headers whose cwd resolves to it. Headers without one, as
 * the oldest versions wrote them, can be told apart by their place only, so they belong to the
 * default directory they are in, and nowhere else.
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
      // A cwd that cannot be a path of this machine is not ours, and no reason to fail.
      return false;
    }
  };
}
