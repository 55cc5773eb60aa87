/**
 * The session files in directories, each file once: a file that several names lead to, through
 * symbolic links of files or directories or through hard links, is taken under one of them. Names
 * tell a session file (`*.jsonl`); whether it is a session, only its content says. Not recursive.
 */
import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { filesLookedAtOnceMax } from "./limits.ts";
import { mapConcurrently } from "./map-concurrently.ts";

/** A file that may be a session. */
export interface SessionFile {
  readonly path: string;
  /** The last part of the path. */
  readonly name: string;
  /** Time of the last change, in epoch ms; -Infinity if it cannot be looked at. */
  readonly mtimeMs: number;
  /** Whether it can be read: a regular file that exists. Others are never opened. */
  readonly isReadable: boolean;
}

/** A name in a directory, before it was looked at. */
interface NamedFile {
  readonly path: string;
  readonly name: string;
  /** How many of its last two parts are symbolic links. */
  readonly links: number;
}

/** Whether a file of that name may be a session. */
export function isSessionFileName(name: string): boolean {
  return name.endsWith(".jsonl");
}

/**
 * The session files of one directory, in no particular order.
 * @throws What reading the directory throws, and the signal's reason.
 */
export async function sessionFilesIn(
  directory: string,
  signal?: AbortSignal,
): Promise<SessionFile[]> {
  return lookAtFiles(await namesIn(directory, 0), signal);
}

/**
 * The session files of all sub-directories of `root`, symbolic links to directories among them, in
 * no particular order. A sub-directory that cannot be read is left out.
 * @throws What reading `root` throws, and the signal's reason.
 */
export async function sessionFilesBelow(
  root: string,
  signal?: AbortSignal,
): Promise<SessionFile[]> {
  const places = (await readdir(root, { withFileTypes: true })).filter(mayBeDirectory);
  const options = { signal, atOnceMax: filesLookedAtOnceMax };
  const names = await mapConcurrently(places, options, async (place) => {
    try {
      return await namesIn(join(root, place.name), Number(place.isSymbolicLink()));
    } catch {
      return [];
    }
  });
  return lookAtFiles(names.flat(), signal);
}

function mayBeDirectory(place: Dirent): boolean {
  return place.isDirectory() || place.isSymbolicLink();
}

async function namesIn(directory: string, links: number): Promise<NamedFile[]> {
  const places = await readdir(directory, { withFileTypes: true });
  return places
    .filter(({ name }) => isSessionFileName(name))
    .map((place) => ({
      path: join(directory, place.name),
      name: place.name,
      links: links + Number(place.isSymbolicLink()),
    }));
}

async function lookAtFiles(names: NamedFile[], signal?: AbortSignal): Promise<SessionFile[]> {
  // Names without links first, then by path: the first name of a file is the one it keeps.
  names.sort((a, b) => a.links - b.links || (a.path < b.path ? -1 : 1));
  const identities = new Set<string>();
  const options = { signal, atOnceMax: filesLookedAtOnceMax };
  const looked = await mapConcurrently(names, options, lookAtFile);
  return looked
    .filter(({ identity }) => {
      if (identity === undefined) return true;
      const isFirst = !identities.has(identity);
      identities.add(identity);
      return isFirst;
    })
    .map(({ file }) => file);
}

async function lookAtFile({ path, name }: NamedFile): Promise<{
  readonly file: SessionFile;
  readonly identity: string | undefined;
}> {
  try {
    // As integers: inode numbers of some file systems are beyond what a double tells apart.
    const stats = await stat(path, { bigint: true });
    return {
      file: { path, name, mtimeMs: Number(stats.mtimeNs) / 1e6, isReadable: stats.isFile() },
      identity: `${stats.dev}:${stats.ino}`,
    };
  } catch {
    // A link that leads nowhere, or a file that was removed meanwhile.
    const file = { path, name, mtimeMs: Number.NEGATIVE_INFINITY, isReadable: false };
    return { file, identity: undefined };
  }
}
