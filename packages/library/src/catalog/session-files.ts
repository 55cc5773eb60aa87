/**
 * The session files (`*.jsonl`) in directories, each file once, whether reached by symbolic or hard
 * links. Not recursive. Unreadable files are included and marked. Only the content determines
 * whether a file is a session.
 */
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import type { BigIntStats, Dirent, Stats } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, join, normalize, sep } from "node:path";
import type { RowFacts } from "@branchlog/core/rows";
import { directoriesReadAtOnceMax, stampTrustedAfterMs } from "./limits.ts";
import { mapConcurrently, mapInBatches } from "./map-concurrently.ts";

/** Detects changes of a file. */
export interface FileStamp {
  /** Undefined if its stat fails. */
  readonly identity: string | undefined;
  readonly size: number;
  /** In epoch ms; -Infinity if its stat fails. */
  readonly mtimeMs: number;
  /** In epoch ms. */
  readonly ctimeMs: number;
}

export interface SessionFile extends FileStamp {
  readonly path: string;
  readonly name: string;
  /** Whether it is an existing regular file. Others are never opened. */
  readonly isReadable: boolean;
  /** Of a session that is rows of a database. */
  readonly rowFacts?: RowFacts | undefined;
}

/** Called with each further name of a listed file. */
export type OnAlias = (path: string, listedPath: string) => void;

export interface NamedFile {
  readonly path: string;
  /** How many of its last two parts are symbolic links. */
  readonly links: number;
}

const sessionNameEnd = ".jsonl";

export const savedCatalogName = ".branchlog-catalog";

/** Whether the name is that of a lock, copy, checkpoint or catalog. */
export function isSidecarName(name: string): boolean {
  return name.includes(".jsonl.") || name.startsWith(savedCatalogName);
}

/** Whether the name is not UTF-8: U+FFFD replaces its bytes, and Node cannot open it. */
export function isUnlistable({ name, identity }: SessionFile): boolean {
  return identity === undefined && name.includes("\u{fffd}");
}

export function isSessionFileName(name: string): boolean {
  return name.endsWith(sessionNameEnd);
}

/**
 * In no particular order.
 *
 * @throws What reading the directory throws, and the signal's reason.
 */
export async function sessionFilesIn(
  directory: string,
  signal?: AbortSignal,
  onAlias?: OnAlias,
): Promise<SessionFile[]> {
  return lookAtFiles(await namesIn(normalize(directory), 0), signal, onAlias);
}

/**
 * The session files of all direct subdirectories, links included, in no particular order.
 * Unreadable subdirectories are left out.
 *
 * @throws What reading `root` throws, and the signal's reason.
 */
export async function sessionFilesBelow(
  root: string,
  signal?: AbortSignal,
): Promise<SessionFile[]> {
  return lookAtFiles(await namesBelow(normalize(root), signal), signal);
}

/** {@link sessionFilesIn} and {@link sessionFilesBelow} together, each file once. */
export async function sessionFilesInAndBelow(
  root: string,
  signal?: AbortSignal,
  onAlias?: OnAlias,
): Promise<SessionFile[]> {
  const path = normalize(root);
  const names = [...(await namesIn(path, 0)), ...(await namesBelow(path, signal))];
  return lookAtFiles(names, signal, onAlias);
}

/**
 * The names of subdirectories, links included.
 *
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
      // Recognises a name that is not UTF-8, which cannot be looked up.
      return place.name.includes("\u{fffd}") ? [{ path: join(root, place.name), links: 0 }] : [];
    }
  });
  return names.flat();
}

async function namesIn(directory: string, links: number): Promise<NamedFile[]> {
  return namesAmong(directory, await readdir(directory, { withFileTypes: true }), links);
}

/** Those of session files in a directory that was read. */
export function namesAmong(directory: string, places: readonly Dirent[], links = 0): NamedFile[] {
  return places
    .filter(({ name }) => isSessionFileName(name))
    .map((place) => ({
      path: pathIn(directory, place.name),
      links: links + Number(place.isSymbolicLink()),
    }));
}

/** As `join` of a normalized path, without a call that takes longer than a stat does. */
export function pathIn(directory: string, name: string): string {
  if (directory === ".") return name;
  return directory.endsWith(sep) ? `${directory}${name}` : `${directory}${sep}${name}`;
}

/** In no particular order; of several names of a file the first. */
export async function lookAtFiles(
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

/** Throws nothing. Synchronous: an asynchronous stat takes four times as long. */
export function lookAtFile(path: string): SessionFile {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats !== undefined && Number.isSafeInteger(stats.ino)) return sessionFile(path, stats);
    // Some inode numbers exceed what a double can tell apart.
    if (stats !== undefined) return sessionFile(path, statSync(path, { bigint: true }));
  } catch {
    // In a directory that may not be read.
  }
  // A dangling link, or a file that was just removed.
  const never = Number.NEGATIVE_INFINITY;
  const times = { mtimeMs: never, ctimeMs: never };
  return { path, name: basename(path), ...times, isReadable: false, size: 0, identity: undefined };
}

export function sessionFile(path: string, stats: BigIntStats | Stats): SessionFile {
  return {
    path,
    name: basename(path),
    mtimeMs: "mtimeNs" in stats ? msOf(stats.mtimeNs) : stats.mtimeMs,
    ctimeMs: "ctimeNs" in stats ? msOf(stats.ctimeNs) : stats.ctimeMs,
    isReadable: stats.isFile(),
    size: Number(stats.size),
    identity: `${stats.dev}:${stats.ino}`,
  };
}

/** Rounded as Node rounds it: the same time has to be the same number. */
function msOf(timeNs: bigint): number {
  return Number(timeNs / 1_000_000_000n) * 1000 + Number(timeNs % 1_000_000_000n) / 1e6;
}

/** Changes whenever one of the files does; undefined if a later change might not show in it. */
export function filesStamp(paths: readonly string[]): string | undefined {
  const now = Date.now();
  const stamps: string[] = [];
  for (const { identity, size, mtimeMs, ctimeMs } of paths.map(lookAtFile)) {
    if (now - ctimeMs <= stampTrustedAfterMs) return undefined;
    stamps.push(identity === undefined ? "-" : `${identity} ${size} ${mtimeMs} ${ctimeMs}`);
  }
  const all = stamps.join("\n");
  return stamps.length < 3 ? all : createHash("sha256").update(all).digest("base64");
}

export function isUnchanged(before: FileStamp, now: FileStamp): boolean {
  const isSame = before.identity === now.identity && before.size === now.size;
  return isSame && before.mtimeMs === now.mtimeMs && before.ctimeMs === now.ctimeMs;
}
