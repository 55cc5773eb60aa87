/**
 * Keeps the saved catalogs of directories: takes one up when a file of its directory is asked for,
 * and saves another once so much was read anew that reading it again would be felt. Saving may fail
 * without anybody being told: all that is lost is time at the next look.
 */
import { Buffer } from "node:buffer";
import { basename, dirname, join } from "node:path";
import { readFully } from "../bodies/body-reader.ts";
import { beginCheckpoint } from "../checkpoint/checkpoint-file.ts";
import type { AtomicFile } from "../store/atomic-file.ts";
import { nodePorts } from "../store/node-ports.ts";
import { isOwnDirectory, openTrustedSync, sidecarSource } from "../store/trusted-file.ts";
import {
  catalogBytesMax,
  catalogPieceBytes,
  catalogSaveCost,
  catalogSavedAfterBytes,
} from "./limits.ts";
import { mapInTurns } from "./map-concurrently.ts";
import { removeOrphans } from "./orphan-sidecars.ts";
import { catalogBytes, readCatalog } from "./saved-catalog.ts";
import type { SavedFile } from "./saved-file.ts";
import { savedCatalogName } from "./session-files.ts";

/** Whether catalogs are saved, in directories of this user, and taken up; taken up; or neither. */
export type CatalogMode = "auto" | "read" | "off";

/** What is known of one directory. */
interface KnownDirectory {
  readonly files: Map<string, SavedFile>;
  /** Whether a catalog is saved there. */
  readonly saves: boolean;
  /** What was read since the last save, in bytes. */
  readBytes: number;
  /** Length of the saved catalog; 0 if there is none. */
  savedBytes: number;
}

/**
 * See the file comment. Throws nothing. It saves in directories of this user alone; there it also
 * removes what sessions that were deleted have left behind.
 */
export class CatalogStore {
  readonly #mode: CatalogMode;
  readonly #directories = new Map<string, Promise<KnownDirectory>>();

  constructor(mode: CatalogMode) {
    this.#mode = mode;
  }

  /** What was saved of a file; it may be another file by now. */
  async savedFile(path: string): Promise<SavedFile | undefined> {
    const { files } = await this.#directoryOf(path);
    return files.get(basename(path));
  }

  /** Takes note of what is known of a file now, and what it cost to read that. */
  async note(path: string, file: SavedFile | undefined, readBytes: number): Promise<void> {
    if (this.#mode !== "auto") return;
    const directory = await this.#directoryOf(path);
    if (file === undefined) directory.files.delete(basename(path));
    else directory.files.set(basename(path), file);
    directory.readBytes += readBytes;
  }

  /**
   * Saves the catalogs of which enough was read anew, or that tell of files that are gone: whoever
   * deletes a session wants none of it left.
   * @param there All files that are there, if that is known.
   */
  async save(there: ReadonlySet<string> | null): Promise<void> {
    if (this.#mode !== "auto") return;
    for (const [path, known] of this.#directories) {
      const directory = await known;
      if (!directory.saves) continue;
      const isGone = (name: string): boolean => there?.has(join(path, name)) === false;
      // A look at one file costs no look at the names of all.
      const gone = there === null ? [] : [...directory.files.keys()].filter(isGone);
      for (const name of gone) directory.files.delete(name);
      if (gone.length > 0) await removeOrphans(path);
      const isOutdated = gone.length > 0 && directory.savedBytes > 0;
      const worthBytes = Math.max(catalogSavedAfterBytes, directory.savedBytes * catalogSaveCost);
      if (directory.readBytes < worthBytes && !isOutdated) continue;
      directory.savedBytes = await saved(path, directory.files);
      // Where it cannot be saved, that is not tried again.
      directory.readBytes = directory.savedBytes > 0 ? 0 : Number.NEGATIVE_INFINITY;
    }
  }

  /** Leaves nothing of a file in the saved catalog of its directory, if there is one. */
  async forget(path: string): Promise<void> {
    const known = await this.#directoryOf(path);
    if (!known.saves || known.savedBytes === 0 || !known.files.delete(basename(path))) return;
    known.savedBytes = await saved(dirname(path), known.files);
  }

  #directoryOf(path: string): Promise<KnownDirectory> {
    const directory = dirname(path);
    const known = this.#directories.get(directory) ?? this.#load(directory);
    this.#directories.set(directory, known);
    return known;
  }

  async #load(directory: string): Promise<KnownDirectory> {
    const saves = this.#mode === "auto" && isOwnDirectory(nodePorts.fs, directory);
    const none = { files: new Map<string, SavedFile>(), saves, readBytes: 0, savedBytes: 0 };
    if (this.#mode === "off") return none;
    if (saves) await removeOrphans(directory);
    try {
      const bytes = await savedBytes(join(directory, savedCatalogName));
      if (bytes === undefined) return none;
      const files = await readCatalog(bytes);
      return files === undefined ? none : { ...none, files, savedBytes: bytes.length };
    } catch {
      return none;
    }
  }
}

/** The bytes of a saved catalog; undefined where none counts. Throws what reading throws. */
async function savedBytes(path: string): Promise<Buffer | undefined> {
  const { fs } = nodePorts;
  const opened = openTrustedSync(fs, path);
  if (opened === undefined) return undefined;
  try {
    if (opened.stat.size > catalogBytesMax) return undefined;
    const bytes = Buffer.allocUnsafe(opened.stat.size);
    await readFully(sidecarSource(fs, opened), bytes, bytes.length, 0);
    return bytes;
  } finally {
    fs.closeSync(opened.fd);
  }
}

/** Puts a catalog in its place, whole or not at all: its length, or 0 if that failed. */
async function saved(directory: string, files: ReadonlyMap<string, SavedFile>): Promise<number> {
  let write: AtomicFile | undefined;
  try {
    const bytes = await catalogBytes(files);
    const file = beginCheckpoint(nodePorts, join(directory, savedCatalogName));
    write = file;
    await mapInTurns(piecesOf(bytes), undefined, (piece) => file.add(piece));
    file.close();
    file.replace();
    return bytes.length;
  } catch {
    return 0;
  } finally {
    write?.discard();
  }
}

function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += catalogPieceBytes) {
    yield bytes.subarray(at, at + catalogPieceBytes);
  }
}
