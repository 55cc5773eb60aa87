/**
 * Loads and saves the catalogs of directories; saves once enough was read that reading it again
 * would take noticeable time. A failed save is not reported: it only costs time.
 */
import type { BytesKind } from "@branchlog/core/files";
import { Buffer } from "node:buffer";
import { lstat, open, readdir, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { runAsync, runSync } from "@branchlog/streaming";
import {
  cachedCatalog,
  checkpointKind,
  removeAbandonedTickets,
  lockfileLock,
  errorCodeOf,
  isOwnDirectory,
  makeCacheDirectory,
  quietly,
  removeOldFiles,
  engineSettings,
  loadBytes,
  saveBytes,
  foreignPlaceCheck,
} from "@branchlog/core/files";
import { fileOfAddress, sessionName, summary, usage } from "@branchlog/core/rows";
import { savedFile, savedLine } from "./catalog-file.ts";
import type { CatalogFile, SavedFile } from "./catalog-file.ts";
import {
  cachedCatalogSavedAfterBytes,
  catalogBadLinesMax,
  catalogBytesMax,
  catalogLineUnitsMax,
  catalogSaveCost,
  catalogSavedAfterBytes,
  sharedCatalogs,
} from "./limits.ts";
import { mapInBatches } from "./map-concurrently.ts";
import { savedCatalogName } from "./session-files.ts";

const { ports } = engineSettings({});
const newline = 10;

/** Saved and loaded; saved in the user's cache only; only loaded; neither. */
export type CatalogMode = "auto" | "cache" | "read" | "off";

interface KnownCatalog {
  /** By names, or by paths if it is shared. */
  readonly files: Map<string, SavedFile>;
  /** Of the one directory that it is of; undefined: it is shared by directories of agents. */
  readonly directory: string | undefined;
  /** Where its catalog is saved: in it, or in the cache of the user. */
  place: string;
  readBytes: number;
  /** 0 if absent. */
  savedBytes: number;
}

/**
 * Throws nothing. The catalog of a directory of this user is saved in it, and sidecar files of
 * deleted sessions are removed there; that of any other directory is saved in the user's cache.
 * Agents spread their sessions over thousands of directories: where an agent alone writes, they
 * share a few catalogs.
 */
export class CatalogStore {
  readonly #mode: CatalogMode;
  readonly #isSaving: boolean;
  /** Whether an agent alone writes there. */
  readonly #isForeign = foreignPlaceCheck();
  readonly #catalogs = new Map<string, Promise<KnownCatalog>>();
  /** By directories: waiting for each file would take longer than looking it up. */
  readonly #loaded = new Map<string, KnownCatalog>();
  /** By their directories, the places of shared ones; undefined: a directory has its own. */
  readonly #sharedPlaces = new Map<string, string | undefined>();
  /** By their numbers. */
  readonly #shared = Array.from({ length: sharedCatalogs }, (_, number) => sharedCatalog(number));

  constructor(mode: CatalogMode) {
    this.#mode = mode;
    this.#isSaving = mode === "auto" || mode === "cache";
  }

  async savedFile(path: string): Promise<SavedFile | undefined> {
    const catalog = await this.#catalogOf(path);
    this.#loaded.set(dirname(path), catalog);
    return catalog.files.get(nameIn(catalog, path));
  }

  /** Also undefined if its catalog was not loaded so far. */
  loadedFile(path: string): SavedFile | undefined {
    const catalog = this.#loaded.get(dirname(path));
    return catalog?.files.get(nameIn(catalog, path));
  }

  /** Nothing is written in the directory of this file: it belongs to another agent. */
  async leaveAlone(path: string): Promise<void> {
    const catalog = await this.#catalogOf(path);
    if (catalog.directory === undefined) return;
    const cached = cachedCatalog(dirname(path));
    // One that was saved beside the files would be found first from now on.
    if (this.#mode === "auto" && catalog.place !== cached) removeQuietly(catalog.place);
    catalog.place = cached;
  }

  /** @param readBytes What reading it cost. */
  async note(path: string, known: CatalogFile, readBytes: number): Promise<void> {
    if (!this.#isSaving) return;
    const catalog = await this.#catalogOf(path);
    const file = known.save();
    if (file === undefined) catalog.files.delete(nameIn(catalog, path));
    else catalog.files.set(nameIn(catalog, path), file);
    catalog.readBytes += readBytes;
  }

  /**
   * Saves the catalogs that changed enough, or that list deleted files: nothing of a deleted
   * session may remain.
   *
   * @param there All existing files, if known.
   * @param isWhole Whether those of all agents are among them.
   */
  async save(there: ReadonlySet<string> | null, isWhole = false): Promise<void> {
    if (!this.#isSaving) return;
    // Of a directory that is gone nothing else is looked up.
    if (isWhole) this.#takeUpShared();
    let cache: string | undefined;
    for (const known of this.#catalogs.values()) {
      const catalog = await known;
      const { directory, files } = catalog;
      const isBeside = directory !== undefined && catalog.place === besideFiles(directory);
      if (isBeside && this.#mode === "cache") continue;
      // Without a session, it may be that of an agent that is not known.
      const hasSessions = [...files.values()].some(({ session }) => session);
      if (!hasSessions && catalog.savedBytes === 0) continue;
      // A look-up of one file reads no directory.
      const gone =
        there === null ? [] : [...files.keys()].filter((name) => isGone(name, there, directory));
      for (const name of gone) files.delete(name);
      if (gone.length > 0 && isBeside) await removeOrphans(directory);
      const isOutdated = gone.length > 0 && catalog.savedBytes > 0;
      const leastBytes = isBeside ? catalogSavedAfterBytes : cachedCatalogSavedAfterBytes;
      const worthBytes = Math.max(leastBytes, catalog.savedBytes * catalogSaveCost);
      if (catalog.readBytes < worthBytes && !isOutdated) continue;
      catalog.savedBytes = await saveCatalog(catalog.place, files);
      if (!isBeside) cache = dirname(catalog.place);
      // A failed save is not retried.
      catalog.readBytes = catalog.savedBytes > 0 ? 0 : Number.NEGATIVE_INFINITY;
    }
    // The cache is listed once for all of them.
    if (cache !== undefined) removeOldFiles(ports, cache);
  }

  /** Removes a file from the saved catalog of its directory. */
  async forget(path: string): Promise<void> {
    const known = await this.#catalogOf(path);
    if (known.savedBytes === 0 || !known.files.delete(nameIn(known, path))) return;
    known.savedBytes = await saveCatalog(known.place, known.files);
  }

  #catalogOf(path: string): Promise<KnownCatalog> {
    const directory = dirname(path);
    const shared = this.#sharedPlace(directory);
    const key = shared ?? directory;
    const known =
      this.#catalogs.get(key) ??
      (shared === undefined ? this.#load(directory) : this.#loadShared(shared));
    this.#catalogs.set(key, known);
    return known;
  }

  #sharedPlace(directory: string): string | undefined {
    if (this.#sharedPlaces.has(directory)) return this.#sharedPlaces.get(directory);
    const place = this.#isForeign(directory) ? this.#shared[numberOf(directory)] : undefined;
    this.#sharedPlaces.set(directory, place);
    return place;
  }

  #takeUpShared(): void {
    for (const place of this.#shared) {
      if (!this.#catalogs.has(place)) this.#catalogs.set(place, this.#loadShared(place));
    }
  }

  async #loadShared(place: string): Promise<KnownCatalog> {
    const none = { files: new Map<string, SavedFile>(), readBytes: 0, savedBytes: 0 };
    const found = this.#mode === "off" ? undefined : await loadCatalog(place);
    return { ...none, ...found, directory: undefined, place };
  }

  async #load(directory: string): Promise<KnownCatalog> {
    const [beside, cached] = [besideFiles(directory), cachedCatalog(directory)];
    const isOwn = isOwnDirectory(ports.fs, directory);
    const empty = { files: new Map<string, SavedFile>(), readBytes: 0, savedBytes: 0 };
    const none = { ...empty, directory, place: isOwn ? beside : cached };
    if (this.#mode === "off") return none;
    if (this.#mode === "auto" && isOwn) await removeOrphans(directory);
    for (const place of [beside, cached]) {
      const found = await loadCatalog(place);
      if (found !== undefined) return { ...none, ...found, place: isOwn ? place : cached };
    }
    return none;
  }
}

/** Spreads directories evenly, each of them whole, so that little is written when few change. */
function numberOf(directory: string): number {
  let sum = 0;
  for (let at = 0; at < directory.length; at += 1) {
    sum = (Math.imul(sum, 31) + directory.charCodeAt(at)) >>> 0;
  }
  return sum % sharedCatalogs;
}

function sharedCatalog(number: number): string {
  return cachedCatalog(`shared:${number}`);
}

function nameIn({ directory }: KnownCatalog, path: string): string {
  return directory === undefined ? path : basename(path);
}

/** @param there Perhaps only what is in some of the directories that share a catalog. */
function isGone(name: string, there: ReadonlySet<string>, directory: string | undefined): boolean {
  if (directory !== undefined) return !there.has(join(directory, name));
  return !there.has(name) && quietly(() => ports.fs.statSync(fileOfAddress(name).file)) === null;
}

/** A list has to wait for it: without blocking, dozens of short reads take ten times as long. */
async function loadCatalog(place: string): Promise<FoundCatalog | undefined> {
  const lines = runSync(loadBytes(ports.fs, place, catalogKind));
  return lines && (await readCatalog(lines));
}

function besideFiles(directory: string): string {
  return join(directory, savedCatalogName);
}

function removeQuietly(path: string): void {
  quietly(() => {
    if (ports.fs.statSync(path) !== null) ports.fs.unlinkSync(path);
  });
}

/** Replaces atomically; without files, removes it. Returns the length, or 0 on failure. */
async function saveCatalog(place: string, files: ReadonlyMap<string, SavedFile>): Promise<number> {
  try {
    if (files.size === 0) {
      removeQuietly(place);
      return 0;
    }
    const lines = await catalogLines(files);
    // The directory of sessions may be gone, and must not come back.
    if (basename(place) !== savedCatalogName) makeCacheDirectory(ports, dirname(place));
    await runAsync(saveBytes(ports, place, catalogKind, lines));
    return lines.length;
  } catch {
    return 0;
  }
}

// The saved catalog: a column of lines, one for each file. It is derived: with another version it
// counts as missing; a damaged page, or an invalid line, costs its files another read.

export const catalogKind: BytesKind = {
  mark: "BLCTLG",
  version: 1,
  textBytesMax: 256,
  // Changes whenever a saved line, or a fold saved in it, changes its meaning.
  contents: `8.${sessionName.version}.${summary.version}.${usage.version}`,
  bytesMax: catalogBytesMax,
  // An empty line.
  filler: newline,
};

/** Built in batches. Files that cannot be saved are left out. */
async function catalogLines(files: ReadonlyMap<string, SavedFile>): Promise<Buffer> {
  const lines = await mapInBatches(files, undefined, ([name, file]) => {
    const line = savedLine(name, file);
    return Buffer.from(line === undefined ? "" : `${line}\n`);
  });
  return Buffer.concat(lines);
}

export interface FoundCatalog {
  readonly files: Map<string, SavedFile>;
  readonly savedBytes: number;
}

/** Undefined if most of it is damaged. Throws nothing. */
export async function readCatalog(lines: Buffer): Promise<FoundCatalog | undefined> {
  const files = new Map<string, SavedFile>();
  let badLines = 0;
  await mapInBatches(linesOf(lines), undefined, (line) => {
    const saved = badLines < catalogBadLinesMax ? fileOf(line) : undefined;
    if (saved !== undefined) files.set(saved.name, saved.file);
    else if (line !== "") badLines += 1;
  });
  return badLines < catalogBadLinesMax ? { files, savedBytes: lines.length } : undefined;
}

function fileOf(line: string): ReturnType<typeof savedFile> | undefined {
  try {
    return line.length <= catalogLineUnitsMax ? savedFile(line) : undefined;
  } catch {
    return undefined;
  }
}

function* linesOf(bytes: Buffer): Generator<string> {
  let start = 0;
  for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, start)) {
    yield bytes.toString("utf8", start, end);
    start = end + 1;
  }
}

// Removes the sidecar files of deleted sessions: checkpoint, stale lock, empty queue. Every other
// file stays, even under such a name. Throws nothing.

export async function removeOrphans(directory: string): Promise<void> {
  try {
    const names = await readdir(directory);
    await removeOrphansAmong(directory, names);
  } catch {
    // The caller that reads the directory reports the failure.
  }
}

/** {@link removeOrphans} for a caller that has already read the directory. */
export async function removeOrphansAmong(
  directory: string,
  names: readonly string[],
): Promise<void> {
  const there = new Set(names);
  for (const name of names) {
    const log = sidecarForms.exec(name)?.[1];
    if (log === undefined || there.has(log)) continue;
    if (!(await isLogGone(join(directory, log)))) continue;
    if (name.endsWith(".branchlog-queue")) removeAbandonedTickets(join(directory, log));
    else if (name.endsWith(".branchlog-lock")) removeAbandonedLock(join(directory, log));
    else await removeCheckpoint(join(directory, name));
  }
}

const sidecarForms = /^(.+\.jsonl)\.(?:branchlog-(?:lock|queue)|ckpt(?:\.[0-9a-f-]{36}\.tmp)?)$/;
const checkpointMark = Buffer.from(checkpointKind.mark);

/** The names may be stale: the log may have been created since. */
async function isLogGone(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return false;
  } catch (error) {
    return errorCodeOf(error) === "ENOENT";
  }
}

function removeAbandonedLock(log: string): void {
  try {
    lockfileLock.tryAcquireSync(log)?.releaseSync();
  } catch {
    // Not a sidecar file, but something else under that name.
  }
}

async function removeCheckpoint(path: string): Promise<void> {
  try {
    if ((await lstat(path)).isFile() && (await isCheckpoint(path))) await unlink(path);
  } catch {
    // Removed by another process, or not removable.
  }
}

async function isCheckpoint(path: string): Promise<boolean> {
  const file = await open(path, "r");
  try {
    const start = Buffer.alloc(checkpointMark.length);
    await file.read(start, 0, start.length, 0);
    return start.equals(checkpointMark);
  } finally {
    await file.close();
  }
}
