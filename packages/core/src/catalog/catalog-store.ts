/**
 * Keeps the saved catalogs of directories: loads one when a file of its directory is requested, and
 * saves another once so much was read anew that reading it again would take noticeable time. A
 * failure to save is not reported: it costs time at the next list, and nothing else.
 */
import { Buffer } from "node:buffer";
import { lstat, open, readdir, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { crc32 } from "node:zlib";
import { readFully } from "../bodies/body-reader.ts";
import { beginCheckpoint } from "../checkpoint/checkpoint-file.ts";
import { indexFrame } from "../checkpoint/checkpoint-format.ts";
import { sessionName } from "../projections/name.ts";
import { summary } from "../projections/summary.ts";
import type { AtomicFile } from "../store/atomic-file.ts";
import { removeAbandonedTickets, lockfileLock } from "../store/lockfile-lock.ts";
import { nodePorts } from "../store/node-ports.ts";
import { isOwnDirectory, openTrustedSync, sidecarSource } from "../store/sidecar.ts";
import { errorCodeOf } from "../store/ports.ts";
import { savedFile, savedLine } from "./catalog-file.ts";
import type { SavedFile } from "./catalog-file.ts";
import {
  catalogBadLinesMax,
  catalogBytesMax,
  catalogLineUnitsMax,
  catalogPieceBytes,
  catalogSaveCost,
  catalogSavedAfterBytes,
} from "./limits.ts";
import { mapInBatches } from "./map-concurrently.ts";
import { savedCatalogName } from "./session-files.ts";

/** Whether catalogs are saved in directories of this user, and read; only read; or neither. */
export type CatalogMode = "auto" | "read" | "off";

/** What is known of one directory. */
interface KnownDirectory {
  readonly files: Map<string, SavedFile>;
  /** Whether a catalog is saved there. */
  saves: boolean;
  /** What was read since the last save, in bytes. */
  readBytes: number;
  /** Length of the saved catalog; 0 if there is none. */
  savedBytes: number;
}

/**
 * Throws nothing. It saves in directories of this user alone; there it also
 * removes what sessions that were deleted have left behind.
 */
export class CatalogStore {
  readonly #mode: CatalogMode;
  readonly #directories = new Map<string, Promise<KnownDirectory>>();

  constructor(mode: CatalogMode) {
    this.#mode = mode;
  }

  /** What was saved of a file; the name may belong to another file since. */
  async savedFile(path: string): Promise<SavedFile | undefined> {
    const { files } = await this.#directoryOf(path);
    return files.get(basename(path));
  }

  /** Nothing is written to the directory of this file any more: it belongs to another agent. */
  async leaveAlone(path: string): Promise<void> {
    const directory = await this.#directoryOf(path);
    directory.saves = false;
  }

  /** Records what is known of a file now, and what it cost to read that. */
  async note(path: string, file: SavedFile | undefined, readBytes: number): Promise<void> {
    if (this.#mode !== "auto") return;
    const directory = await this.#directoryOf(path);
    if (file === undefined) directory.files.delete(basename(path));
    else directory.files.set(basename(path), file);
    directory.readBytes += readBytes;
  }

  /**
   * Saves the catalogs of which enough was read anew, or that have lines of deleted files: nothing
   * of a deleted session is to be left.
   * @param there All files that are there, if that is known.
   */
  async save(there: ReadonlySet<string> | null): Promise<void> {
    if (this.#mode !== "auto") return;
    for (const [path, known] of this.#directories) {
      const directory = await known;
      if (!directory.saves) continue;
      const isGone = (name: string): boolean => there?.has(join(path, name)) === false;
      // A look-up of one file reads no directory.
      const gone = there === null ? [] : [...directory.files.keys()].filter(isGone);
      for (const name of gone) directory.files.delete(name);
      if (gone.length > 0) await removeOrphans(path);
      const isOutdated = gone.length > 0 && directory.savedBytes > 0;
      const worthBytes = Math.max(catalogSavedAfterBytes, directory.savedBytes * catalogSaveCost);
      if (directory.readBytes < worthBytes && !isOutdated) continue;
      directory.savedBytes = await saveCatalog(path, directory.files);
      // Where it cannot be saved, that is not tried again.
      directory.readBytes = directory.savedBytes > 0 ? 0 : Number.NEGATIVE_INFINITY;
    }
  }

  /** Leaves nothing of a file in the saved catalog of its directory, if there is one. */
  async forget(path: string): Promise<void> {
    const known = await this.#directoryOf(path);
    if (!known.saves || known.savedBytes === 0 || !known.files.delete(basename(path))) return;
    known.savedBytes = await saveCatalog(dirname(path), known.files);
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
    return await readFully(sidecarSource(fs, opened), bytes, 0);
  } finally {
    fs.closeSync(opened.fd);
  }
}

/** Puts a catalog in its place, whole or not at all: its length, or 0 if that failed. */
async function saveCatalog(
  directory: string,
  files: ReadonlyMap<string, SavedFile>,
): Promise<number> {
  let write: AtomicFile | undefined;
  try {
    const bytes = await catalogBytes(files);
    const file = beginCheckpoint(nodePorts, join(directory, savedCatalogName));
    write = file;
    await mapInBatches(piecesOf(bytes), undefined, (piece) => file.add(piece));
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

// The saved catalog of a directory: what is known of its files, a line each behind a line with
// their checksum. It is derived: damaged anywhere, cut, or of another version, it counts as
// missing. A line that says what none could say costs itself.

/** What is known of the files of a directory, by their names. */
type SavedFiles = ReadonlyMap<string, SavedFile>;

/** Changes whenever a saved line, or a fold that is saved in it, means something else. */
const version = `2.${sessionName.version}.${summary.version}`;

/** The bytes of a catalog, made in batches. Files that cannot be saved are left out. */
async function catalogBytes(files: SavedFiles): Promise<Buffer> {
  const lines = await mapInBatches(files, undefined, ([name, file]) => {
    const line = savedLine(name, file);
    return Buffer.from(line === undefined ? "" : `${line}\n`);
  });
  const checksum = lines.reduce((sum, line) => crc32(line, sum), 0);
  return Buffer.concat([Buffer.from(`${firstLine(checksum)}\n`), ...lines]);
}

/** The files of a catalog; undefined if the bytes are none. Read in batches. Throws nothing. */
export async function readCatalog(bytes: Buffer): Promise<Map<string, SavedFile> | undefined> {
  const start = bytes.indexOf("\n") + 1;
  const rest = bytes.subarray(start);
  if (bytes.toString("utf8", 0, start) !== `${firstLine(crc32(rest))}\n`) return undefined;
  const files = new Map<string, SavedFile>();
  let badLines = 0;
  await mapInBatches(linesOf(rest), undefined, (line) => {
    const saved = badLines < catalogBadLinesMax ? fileOf(line) : undefined;
    if (saved === undefined) badLines += 1;
    else files.set(saved.name, saved.file);
  });
  return badLines < catalogBadLinesMax ? files : undefined;
}

function fileOf(line: string): ReturnType<typeof savedFile> | undefined {
  try {
    return line.length <= catalogLineUnitsMax ? savedFile(line) : undefined;
  } catch {
    return undefined;
  }
}

function firstLine(checksum: number): string {
  return JSON.stringify({ branchlogCatalog: version, checksum });
}

function* linesOf(bytes: Buffer): Generator<string> {
  let start = 0;
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
    yield bytes.toString("utf8", start, end);
    start = end + 1;
  }
}

// Removes what Branchlog keeps beside a session once the session is gone: its checkpoint, a lock
// without a holder, a queue without waiters. They have no use then. Every other file stays, also
// one that only has such a name. Throws nothing.

/** Removes what is left in a directory of the sessions that are not there any more. */
export async function removeOrphans(directory: string): Promise<void> {
  try {
    const names = await readdir(directory);
    await removeOrphansAmong(directory, names);
  } catch {
    // The caller that reads the directory reports the failure.
  }
}

/** As {@link removeOrphans}, for a caller that has the names of the directory already. */
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
const checkpointMark = Buffer.from(indexFrame.mark);

/** The names are some moments old: the log may have come since. */
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
    // Something else has its name.
  }
}

async function removeCheckpoint(path: string): Promise<void> {
  try {
    if ((await lstat(path)).isFile() && (await isCheckpoint(path))) await unlink(path);
  } catch {
    // Another process removed it, or it may not be removed.
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
