/**
 * Loads and saves the catalogs of directories; saves once enough was read that reading it again
 * would take noticeable time. A failed save is not reported: it only costs time.
 */
import type { BytesKind } from "@branchlog/core/files";
import { Buffer } from "node:buffer";
import { basename, dirname, join } from "node:path";
import { runAsync, runSync } from "@branchlog/streaming";
import {
  cachedCatalog,
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
  sharedSavedAfterBytes,
  catalogBytesMax,
  catalogLineUnitsMax,
  catalogSavedAfterBytes,
  sharedCatalogs,
} from "./limits.ts";
import { mapInBatches } from "./map-concurrently.ts";
import { removeOrphans } from "./orphaned-sidecars.ts";
import { savedCatalogName } from "./session-files.ts";

const { ports } = engineSettings({});
const newline = 10;

/** A line of a catalog, which is parsed on demand; or facts that were read since. */
type KnownFile = string | SavedFile;

/** Saved and loaded; saved in the user's cache only; only loaded; neither. */
export type CatalogMode = "auto" | "cache" | "read" | "off";

interface KnownCatalog {
  /** By names, or by paths if it is shared. */
  readonly files: Map<string, KnownFile>;
  /** The directory that it is in and for; undefined: directories share it, in the user's cache. */
  readonly directory: string | undefined;
  readonly place: string;
  readBytes: number;
  /** 0 if absent. */
  savedBytes: number;
}

/**
 * Throws nothing. A large directory of this user has its catalog in it. All others share a few
 * catalogs in the user's cache: agents spread their sessions over thousands of directories, and
 * write alone to some of them.
 */
export class CatalogStore {
  readonly #mode: CatalogMode;
  readonly #isSaving: boolean;
  /** Whether an agent alone writes there. */
  readonly #isForeign = foreignPlaceCheck();
  /** By directories. */
  readonly #catalogs = new Map<string, KnownCatalog>();
  /** By their numbers. */
  readonly #shared = new Map<number, KnownCatalog>();
  /** What was read in directories since their catalogs were loaded. */
  readonly #readBytes = new Map<string, number>();
  /** Directories with sessions of agents that alone write there, as they were read. */
  readonly #ofAgents = new Set<string>();
  /** Directories of this user where sidecar files of deleted sessions may be. */
  readonly #uncleaned = new Set<string>();

  constructor(mode: CatalogMode) {
    this.#mode = mode;
    this.#isSaving = mode === "auto" || mode === "cache";
  }

  savedFile(path: string): SavedFile | undefined {
    const catalog = this.#catalogOf(dirname(path));
    const known = catalog.files.get(nameIn(catalog, path));
    return known === undefined ? undefined : parsedFile(known);
  }

  /** @param readBytes What reading it cost. */
  note(path: string, known: CatalogFile, readBytes: number): void {
    if (!this.#isSaving) return;
    const directory = dirname(path);
    const catalog = this.#catalogOf(directory);
    const file = known.save();
    if (file === undefined) catalog.files.delete(nameIn(catalog, path));
    else catalog.files.set(nameIn(catalog, path), file);
    catalog.readBytes += readBytes;
    if (known.session?.transcript !== undefined) this.#ofAgents.add(directory);
    this.#readBytes.set(directory, (this.#readBytes.get(directory) ?? 0) + readBytes);
  }

  /**
   * Saves the catalogs that changed enough, or that list deleted files: nothing of a deleted
   * session may remain. Removes sidecar files of deleted sessions in directories of this user.
   *
   * @param there All existing files, if known.
   * @param isWhole Whether those of all agents are among them.
   */
  async save(there: ReadonlySet<string> | null, isWhole = false): Promise<void> {
    for (const directory of this.#uncleaned) await removeOrphans(directory);
    this.#uncleaned.clear();
    if (!this.#isSaving) return;
    if (this.#mode === "auto") this.#settle();
    // Catalogs with files of removed directories are not loaded otherwise.
    if (isWhole) for (let number = 0; number < sharedCatalogs; number += 1) this.#sharedAt(number);
    const listed = there === null ? undefined : { there, databases: databasesAmong(there) };
    let cache: string | undefined;
    for (const catalog of new Set([...this.#catalogs.values(), ...this.#shared.values()])) {
      const { directory, files } = catalog;
      if (directory !== undefined && this.#mode === "cache") continue;
      // A look-up of one file reads no directory.
      const gone =
        listed === undefined
          ? []
          : [...files.keys()].filter((name) => isGone(name, listed, directory));
      for (const name of gone) files.delete(name);
      if (gone.length > 0 && directory !== undefined) await removeOrphans(directory);
      const isOutdated = gone.length > 0 && catalog.savedBytes > 0;
      const leastBytes = directory === undefined ? sharedSavedAfterBytes : catalogSavedAfterBytes;
      const worthBytes = Math.max(leastBytes, catalog.savedBytes);
      if (catalog.readBytes < worthBytes && !isOutdated) continue;
      // Without a session, it may be that of an agent that is not known.
      const hasSessions = [...files.values()].some((known) => parsedFile(known)?.session);
      if (!hasSessions && catalog.savedBytes === 0) continue;
      catalog.savedBytes = await saveCatalog(catalog.place, files);
      if (directory === undefined) cache = dirname(catalog.place);
      // A failed save is not retried.
      catalog.readBytes = catalog.savedBytes > 0 ? 0 : Number.NEGATIVE_INFINITY;
    }
    // The cache is listed once for all of them.
    if (cache !== undefined) removeOldFiles(ports, cache);
  }

  /** Removes a file from the saved catalog of its directory. */
  async forget(path: string): Promise<void> {
    const directory = dirname(path);
    // A directory that grew had its files in a shared one before.
    for (const known of new Set([
      this.#catalogOf(directory),
      this.#sharedAt(numberOf(directory)),
    ])) {
      if (known.savedBytes === 0 || !known.files.delete(nameIn(known, path))) continue;
      known.savedBytes = await saveCatalog(known.place, known.files);
    }
  }

  #catalogOf(directory: string): KnownCatalog {
    const known = this.#catalogs.get(directory) ?? this.#load(directory);
    this.#catalogs.set(directory, known);
    return known;
  }

  #sharedAt(number: number): KnownCatalog {
    const known = this.#shared.get(number) ?? this.#loadShared(cachedCatalog(number));
    this.#shared.set(number, known);
    return known;
  }

  #loadShared(place: string): KnownCatalog {
    const none = { files: new Map<string, KnownFile>(), savedBytes: 0 };
    const found = this.#mode === "off" ? none : (loadCatalog(place) ?? none);
    return { ...found, directory: undefined, place, readBytes: 0 };
  }

  #load(directory: string): KnownCatalog {
    const shared = this.#sharedAt(numberOf(directory));
    if (this.#isForeign(directory) || this.#mode === "off") return shared;
    const isOwn = isOwnDirectory(ports.fs, directory);
    if (this.#mode === "auto" && isOwn) this.#uncleaned.add(directory);
    const place = besideFiles(directory);
    const found = loadCatalog(place);
    if (found === undefined) return shared;
    if (isOwn) return { ...found, directory, place, readBytes: 0 };
    share(shared, directory, found.files);
    return shared;
  }

  /** Moves what is known of a directory to the catalog where it belongs now. */
  #settle(): void {
    for (const [directory, readBytes] of this.#readBytes) {
      const known = this.#catalogOf(directory);
      // Nothing is written next to the sessions of an agent that alone writes them.
      const isOfAgents = this.#ofAgents.has(directory) || this.#isForeign(directory);
      if (known.directory !== undefined) {
        if (isOfAgents) this.#moveToCache(directory, known);
      } else if (readBytes >= catalogSavedAfterBytes) {
        if (!isOfAgents) this.#moveBeside(directory, known);
        this.#readBytes.delete(directory);
      }
    }
  }

  #moveToCache(directory: string, own: KnownCatalog): void {
    const shared = this.#sharedAt(numberOf(directory));
    share(shared, directory, own.files);
    shared.readBytes += Math.max(own.readBytes, own.savedBytes);
    removeQuietly(own.place);
    this.#catalogs.set(directory, shared);
  }

  #moveBeside(directory: string, shared: KnownCatalog): void {
    const own = [...shared.files].filter(([path]) => dirname(path) === directory);
    if (own.some(([, known]) => isOfAgent(known)) || !isOwnDirectory(ports.fs, directory)) return;
    const files = new Map<string, KnownFile>();
    for (const [path, known] of own) {
      const file = parsedFile(known);
      if (file !== undefined) files.set(basename(path), file);
      shared.files.delete(path);
    }
    const readBytes = this.#readBytes.get(directory) ?? 0;
    // Saved without them.
    shared.readBytes = shared.savedBytes > 0 ? Infinity : shared.readBytes - readBytes;
    const place = besideFiles(directory);
    this.#catalogs.set(directory, { files, directory, place, readBytes, savedBytes: 0 });
  }
}

/** Undefined for a damaged line. */
export function parsedFile(known: KnownFile): SavedFile | undefined {
  if (typeof known !== "string") return known;
  try {
    return savedFile(known).file;
  } catch {
    return undefined;
  }
}

function isOfAgent(known: KnownFile): boolean {
  return parsedFile(known)?.session?.transcript !== undefined;
}

/** Facts that are shared already are newer. */
function share(
  { files }: KnownCatalog,
  directory: string,
  added: ReadonlyMap<string, KnownFile>,
): void {
  for (const [name, known] of added) {
    const path = join(directory, name);
    const file = files.has(path) ? undefined : parsedFile(known);
    if (file !== undefined) files.set(path, file);
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

function nameIn({ directory }: KnownCatalog, path: string): string {
  return directory === undefined ? path : basename(path);
}

interface Listed {
  /** Perhaps only what is in some of the directories that share a catalog. */
  readonly there: ReadonlySet<string>;
  /** Files that hold several of these. */
  readonly databases: ReadonlySet<string>;
}

function databasesAmong(there: ReadonlySet<string>): ReadonlySet<string> {
  const addresses = [...there].map(fileOfAddress).filter(({ id }) => id !== undefined);
  return new Set(addresses.map(({ file }) => file));
}

function isGone(
  name: string,
  { there, databases }: Listed,
  directory: string | undefined,
): boolean {
  if (directory !== undefined) return !there.has(join(directory, name));
  if (there.has(name)) return false;
  const { file, id } = fileOfAddress(name);
  if (id !== undefined && databases.has(file)) return true;
  return quietly(() => ports.fs.statSync(file)) === null;
}

/** A list has to wait for it: without blocking, dozens of short reads take ten times as long. */
function loadCatalog(place: string): FoundCatalog | undefined {
  const lines = runSync(loadBytes(ports.fs, place, catalogKind));
  return lines && readCatalog(lines);
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
async function saveCatalog(place: string, files: Map<string, KnownFile>): Promise<number> {
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

/** Built in batches, and kept. Files that cannot be saved are left out. */
async function catalogLines(files: Map<string, KnownFile>): Promise<Buffer> {
  const lines = await mapInBatches(files, undefined, ([name, known]) => {
    const line = typeof known === "string" ? known : savedLine(name, known);
    if (line !== undefined) files.set(name, line);
    return Buffer.from(line === undefined ? "" : `${line}\n`);
  });
  return Buffer.concat(lines);
}

export interface FoundCatalog {
  readonly files: Map<string, KnownFile>;
  readonly savedBytes: number;
}

/** Throws nothing. */
export function readCatalog(lines: Buffer): FoundCatalog {
  const files = new Map<string, KnownFile>();
  for (const line of linesOf(lines)) {
    const name = line.length <= catalogLineUnitsMax ? nameOfLine(line) : undefined;
    if (name !== undefined) files.set(name, line);
  }
  return { files, savedBytes: lines.length };
}

/** Undefined if it is damaged. */
function nameOfLine(line: string): string | undefined {
  const [, plain] = /^\{"name":"([^"\\]*)"/.exec(line) ?? [];
  return plain ?? quietly(() => savedFile(line).name) ?? undefined;
}

function* linesOf(bytes: Buffer): Generator<string> {
  let start = 0;
  for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, start)) {
    yield bytes.toString("utf8", start, end);
    start = end + 1;
  }
}
