/**
 * The session files in directories, each file once: a file that several names lead to, through
 * symbolic links of files or directories or through hard links, is taken under one of them. Names
 * tell a session file (`*.jsonl`); whether it is a session, only its content says. Not recursive.
 * What cannot be read is among them, and says so.
 */
import { statSync } from "node:fs";
import type { BigIntStats, Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { directoriesReadAtOnceMax } from "./limits.ts";
import { mapConcurrently, mapInBatches } from "./map-concurrently.ts";

/** By what a file is known not to have changed. */
export interface FileStamp {
  /** Identifies the file; undefined if its stat fails. */
  readonly identity: string | undefined;
  /** Length in bytes. */
  readonly size: number;
  /** Time of the last change, in epoch ms; -Infinity if its stat fails. */
  readonly mtimeMs: number;
  /** Time of the last change of any kind, in epoch ms. */
  readonly ctimeMs: number;
}

/** A file that may be a session. */
export interface SessionFile extends FileStamp {
  readonly path: string;
  /** The last part of the path. */
  readonly name: string;
  /** Whether it can be read: a regular file that exists. Others are never opened. */
  readonly isReadable: boolean;
}

/** Called with each further name of a file that is listed under another one. */
export type OnAlias = (path: string, listedPath: string) => void;

/** A name in a directory, before its stat. */
interface NamedFile {
  readonly path: string;
  /** How many of its last two parts are symbolic links. */
  readonly links: number;
}

/** What is known of the sessions of a directory is saved there, under this name. */
export const savedCatalogName = ".branchlog-catalog";

/** Whether a file of that name belongs to a session: a lock, a copy, a checkpoint, a catalog. */
export function isSidecarName(name: string): boolean {
  return name.includes(".jsonl.") || name.startsWith(savedCatalogName);
}

/**
 * Whether a name was listed that cannot be looked up: it is not UTF-8, and in the string U+FFFD
 * replaces its bytes. Node opens no file under such a name.
 */
export function isUnlistable({ name, identity }: SessionFile): boolean {
  return identity === undefined && name.includes("\u{fffd}");
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
  onAlias?: OnAlias,
): Promise<SessionFile[]> {
  return lookAtFiles(await namesIn(directory, 0), signal, onAlias);
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
  return lookAtFiles(await namesBelow(root, signal), signal);
}

/** As {@link sessionFilesIn} and {@link sessionFilesBelow} together, each file once. */
export async function sessionFilesInAndBelow(
  root: string,
  signal?: AbortSignal,
  onAlias?: OnAlias,
): Promise<SessionFile[]> {
  const names = [...(await namesIn(root, 0)), ...(await namesBelow(root, signal))];
  return lookAtFiles(names, signal, onAlias);
}

/**
 * The names of the sub-directories of `root`, links that lead to one among them.
 * @throws What reading `root` throws.
 */
export async function directoriesBelow(root: string): Promise<string[]> {
  const places = await directoryPlaces(root);
  const options = { atOnceMax: directoriesReadAtOnceMax };
  const names = await mapConcurrently(places, options, async (place) => {
    const isThere = place.isDirectory() || (await isDirectory(join(root, place.name)));
    return isThere ? [place.name] : [];
  });
  return names.flat();
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

/** Directories, and links that may lead to one. */
async function directoryPlaces(root: string): Promise<Dirent[]> {
  const places = await readdir(root, { withFileTypes: true });
  return places.filter((place) => place.isDirectory() || place.isSymbolicLink());
}

async function namesBelow(root: string, signal?: AbortSignal): Promise<NamedFile[]> {
  const options = { signal, atOnceMax: directoriesReadAtOnceMax };
  const names = await mapConcurrently(await directoryPlaces(root), options, async (place) => {
    try {
      return await namesIn(join(root, place.name), Number(place.isSymbolicLink()));
    } catch {
      // A file whose name is not UTF-8 cannot be looked up; that is how it is recognised.
      return place.name.includes("\u{fffd}") ? [{ path: join(root, place.name), links: 0 }] : [];
    }
  });
  return names.flat();
}

async function namesIn(directory: string, links: number): Promise<NamedFile[]> {
  const places = await readdir(directory, { withFileTypes: true });
  return places
    .filter(({ name }) => isSessionFileName(name))
    .map((place) => ({
      path: join(directory, place.name),
      links: links + Number(place.isSymbolicLink()),
    }));
}

async function lookAtFiles(
  names: NamedFile[],
  signal?: AbortSignal,
  onAlias?: OnAlias,
): Promise<SessionFile[]> {
  // Names without links first, then by path: the first name of a file is the one it keeps.
  names.sort((a, b) => a.links - b.links || (a.path < b.path ? -1 : 1));
  const firstNames = new Map<string, string>();
  const files = await mapInBatches(names, signal, ({ path }) => lookAtFile(path));
  return files.filter(({ identity, path }) => {
    if (identity === undefined) return true;
    const first = firstNames.get(identity);
    if (first === undefined) firstNames.set(identity, path);
    else onAlias?.(path, first);
    return first === undefined;
  });
}

/** What the system says of a file. Throws nothing; blocks, as asking it later takes four times. */
export function lookAtFile(path: string): SessionFile {
  try {
    // As integers: inode numbers of some file systems are beyond what a double tells apart.
    return sessionFile(path, statSync(path, { bigint: true }));
  } catch {
    // A link that leads nowhere, or a file that was removed meanwhile.
    const never = Number.NEGATIVE_INFINITY;
    const times = { mtimeMs: never, ctimeMs: never };
    return {
      path,
      name: basename(path),
      ...times,
      isReadable: false,
      size: 0,
      identity: undefined,
    };
  }
}

/** The file of which the system says that. */
export function sessionFile(path: string, stats: BigIntStats): SessionFile {
  return {
    path,
    name: basename(path),
    mtimeMs: Number(stats.mtimeNs) / 1e6,
    ctimeMs: Number(stats.ctimeNs) / 1e6,
    isReadable: stats.isFile(),
    size: Number(stats.size),
    identity: `${stats.dev}:${stats.ino}`,
  };
}

/** Whether the stat of a file is the one before: the same file, unchanged. */
export function isUnchanged(before: FileStamp, now: FileStamp): boolean {
  const isSame = before.identity === now.identity && before.size === now.size;
  return isSame && before.mtimeMs === now.mtimeMs && before.ctimeMs === now.ctimeMs;
}
