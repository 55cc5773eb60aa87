/**
 * Updates the search index: grown files are read from where the index ends, rewritten ones are read
 * again, missing ones are removed. A batch is kept as a whole or not at all, so that an interrupted
 * update continues where it was.
 */
import { isAbsolute } from "node:path";
import { setTimeout } from "node:timers/promises";
import { LineFramer, chunkBytesDefault } from "@branchlog/streaming";
import type { ByteSource, OptionNames } from "@branchlog/streaming";
import { isBranchlogError } from "@branchlog/core";
import type { ListingStore } from "@branchlog/core/types";
import { archiveStore } from "../archive/archive-store.ts";
import {
  documentFormatOf,
  fileOfAddress,
  openLogSource,
  readableFormat,
} from "@branchlog/core/rows";
import type { LogSource } from "@branchlog/core/rows";
import {
  FingerprintingReader,
  fingerprintOf,
  matchesFingerprint,
  requireOptions,
} from "@branchlog/core/files";
import type { LogFingerprint } from "@branchlog/core/files";
import { mayBeDocument, stampBeside } from "../catalog/agent-files.ts";
import { bytesSource, storedBytes } from "../catalog/stored-bytes.ts";
import { stampTrustedAfterMs } from "../catalog/limits.ts";
import { filesStamp, lookAtFile, sessionFile } from "../catalog/session-files.ts";
import type { FileStamp, SessionFile } from "../catalog/session-files.ts";
import { searchedFiles } from "../find/searched-files.ts";
import { knownPlaces } from "../find/find-sessions.ts";
import { SideTexts } from "../search/side-texts.ts";
import {
  IndexDatabase,
  linesOfFileMax,
  lockIndex,
  searchIndexPath,
  withIndexErrors,
} from "./index-database.ts";
import type { IndexedFile, IndexedLine } from "./index-database.ts";
import { digestOf, isAsIndexed, isDocumentIndexed, isWhollyIndexed } from "./index-lookup.ts";
import { isWorthReading, storedKey } from "./index-lookup.ts";
import type { IndexedSource } from "./index-lookup.ts";
import { SessionLines, TranscriptLines } from "./indexed-lines.ts";
import type { TakeLine } from "./indexed-lines.ts";

/** The progress of an update. */
export interface IndexProgress {
  /** Bytes of sessions that were read, of those that have to be. */
  readonly bytes: number;
  readonly totalBytes: number;
}

export interface IndexOptions {
  /** Directories and session files. Default: `knownPlaces()`, and the archive. */
  readonly places?: readonly string[];
  /** Called periodically. */
  readonly onProgress?: ((progress: IndexProgress) => void) | undefined;
  /** Ends the update with its reason; finished work is kept. */
  readonly signal?: AbortSignal | undefined;
}

/** The result of an update. */
export interface IndexUpdate {
  /** Bytes of sessions that were read. */
  readonly bytes: number;
  /** Files with new data. */
  readonly files: number;
  /** Missing files. */
  readonly removed: number;
}

const indexNames: OptionNames<IndexOptions> = { places: true, onProgress: true, signal: true };

/** Of sessions, that are written at once: small in memory, and not long for readers to wait. */
const batchBytes = 2 * 1024 * 1024;

/** In memory. */
const seenWordsMax = 500_000;

/**
 * Reads data missing from the search index, and adds it. Sessions elsewhere stay indexed while they
 * exist. O(new bytes); of transcripts, which depend on their first records, O(bytes) from time to
 * time.
 * @throws BranchlogError `ERR_LOCK_TIMEOUT` while another process updates it; `ERR_INDEX_FAILED`;
 * `ERR_LOG_MISSING`, `ERR_LOG_UNREADABLE` for a place; the signal's reason.
 */
export function updateSearchIndex(options: IndexOptions = {}): Promise<IndexUpdate> {
  return withIndexErrors(() => update(requireOptions(options, indexNames)));
}

async function update(options: IndexOptions): Promise<IndexUpdate> {
  const { places = knownPlaces(), onProgress, signal } = options;
  const lock = await lockIndex(await searchIndexPath());
  try {
    const files = await searchedFiles(places, { signal });
    const database = await IndexDatabase.create();
    try {
      const run = new Update(database, onProgress, signal);
      if (options.places === undefined) await run.addStored(archiveStore());
      return await run.run(files);
    } finally {
      database.close();
    }
  } finally {
    lock.releaseSync();
  }
}

class Update {
  readonly #database: IndexDatabase;
  readonly #onProgress: IndexOptions["onProgress"];
  readonly #signal: AbortSignal | undefined;
  readonly #chunk = Buffer.allocUnsafeSlow(chunkBytesDefault);
  /** What is written together. */
  #writes: (() => void)[] = [];
  #words = new Set<string>();
  #waitingBytes = 0;
  /** Words that this update has found before. */
  readonly #seenWords = new Set<string>();
  #nextId = 1;
  #files = 0;
  #bytes = 0;
  #totalBytes = 0;

  constructor(
    database: IndexDatabase,
    onProgress: IndexOptions["onProgress"],
    signal: AbortSignal | undefined,
  ) {
    this.#database = database;
    this.#onProgress = onProgress;
    this.#signal = signal;
  }

  async run(files: readonly SessionFile[]): Promise<IndexUpdate> {
    const known = new Map(this.#database.files().map((file) => [file.path, file]));
    for (const { id } of known.values()) this.#nextId = Math.max(this.#nextId, id + 1);
    const changed = files.filter((file) => {
      const indexed = known.get(file.path);
      if (indexed === undefined) return true;
      if (mayBeDocument(file.path)) return !isDocumentIndexed(indexed, file);
      return !isWhollyIndexed(indexed, file) || hasOtherSides(indexed);
    });
    const sizes = changed.map((file) => file.size - (known.get(file.path)?.cursor ?? 0));
    this.#totalBytes = sizes.reduce((sum, size) => sum + Math.max(0, size), 0);
    try {
      for (const file of changed) {
        const indexed = known.get(file.path);
        if (mayBeDocument(file.path)) await this.#readDocument(file, indexed);
        else await this.#readIfPossible(file, indexed);
      }
    } finally {
      // After an interruption, too.
      this.#flush();
    }
    const there = new Set(files.map(({ path }) => path));
    const databases = new Set(files.map(({ path }) => fileOfAddress(path).file));
    const isGone = (path: string): boolean => {
      if (!isAbsolute(path) || there.has(path)) return false;
      const { file } = fileOfAddress(path);
      return databases.has(file) || !lookAtFile(file).isReadable;
    };
    const gone = [...known.values()].filter(({ path }) => isGone(path));
    for (const { id } of gone) this.#database.write(() => this.#database.removeFile(id));
    return { bytes: this.#bytes, files: this.#files, removed: gone.length };
  }

  /** Logs that never change. Missing ones are removed. */
  async addStored(store: ListingStore): Promise<void> {
    const { indexedAs = "" } = store;
    const known = new Map(this.#database.files().map((file) => [file.path, file]));
    const names = new Set<string>();
    for await (const { name } of store.list(this.#signal)) names.add(name);
    const keys = new Set([...names].map((name) => storedKey(indexedAs, name)));
    for (const { path, id } of known.values()) {
      if (!path.startsWith(storedKey(indexedAs, "")) || keys.has(path)) continue;
      this.#database.write(() => this.#database.removeFile(id));
    }
    const isNew = (name: string): boolean => {
      const indexed = known.get(storedKey(indexedAs, name));
      return indexed === undefined || indexed.cursor === 0;
    };
    try {
      for await (const log of store.logsWith?.(undefined, this.#signal, isNew) ?? []) {
        // Documents are made into logs again by each version.
        if (log.owner !== undefined) continue;
        const path = storedKey(indexedAs, log.name);
        const bytes = await storedBytes(log, this.#signal);
        const stamp = { identity: log.name, size: bytes.length, mtimeMs: 0, ctimeMs: 0 };
        const file = { ...stamp, path, name: log.name, isReadable: true };
        const source = { ...bytesSource(bytes), before: 0, earlier: [] };
        await this.#read(file, source, known.get(path));
      }
    } finally {
      this.#flush();
    }
  }

  /** Unreadable files are not searched either. */
  async #readIfPossible(file: SessionFile, known: IndexedFile | undefined): Promise<void> {
    let source: LogSource | undefined;
    try {
      source = openLogSource(file.path);
      await this.#readFile(file.path, source, known);
    } catch (error) {
      this.#signal?.throwIfAborted();
      if (!(error instanceof Error && "syscall" in error)) throw error;
    } finally {
      source?.closeSync();
    }
  }

  /** The log that is made of it, with the stamp of before it was made. */
  async #readDocument(file: SessionFile, known: IndexedFile | undefined): Promise<void> {
    const { path } = file;
    const format = documentFormatOf(path);
    const sides = stampBeside(path);
    const log = await format?.toLog(path).catch(unlessRefused);
    if (format === undefined || log === undefined) return;
    this.#files += 1;
    this.#totalBytes += log.length - Math.max(0, file.size - (known?.cursor ?? 0));
    const source = bytesSource(log);
    const id = this.#newFile(path, known);
    const take: TakeLine = (line, words, names) => this.#add(id, line, { words, names });
    const transcript = readableFormat(source, log.length);
    const lines =
      transcript === undefined
        ? new SessionLines(source, false, take)
        : new TranscriptLines(
            source,
            { path, format: transcript, sides: new SideTexts(path, transcript.agent) },
            take,
          );
    const read = await this.#lines(source, log.length, lines, { from: start });
    if (read === undefined) return;
    const trustedAfterMs = Math.max(stampTrustedAfterMs, format.settlesAfterMs ?? 0);
    const isTrusted = Date.now() - file.ctimeMs > trustedAfterMs;
    const said = { agent: format.agent, sides, earlier: "", before: 0, lines: read.lines };
    const stamp = stampOf(isTrusted ? file : { ...file, ctimeMs: 0 });
    const all = { id, path, ...stamp, ...said, cursor: read.cursor, digest: digestOf(read) };
    this.#writes.push(() => this.#database.setFile(all));
  }

  async #readFile(path: string, source: LogSource, known: IndexedFile | undefined): Promise<void> {
    let file = sessionFile(path, source.statSync());
    if (!isSettled(file)) {
      // A change within the same tick of the clock would not change the times.
      await setTimeout(stampTrustedAfterMs, undefined, { signal: this.#signal });
      file = sessionFile(path, source.statSync());
    }
    await this.#read(isSettled(file) ? file : { ...file, ctimeMs: 0 }, source, known);
  }

  /** @param file With its stamp; times of 0 are those of no later look. */
  async #read(
    file: SessionFile,
    source: IndexedSource,
    known: IndexedFile | undefined,
  ): Promise<void> {
    const { path } = file;
    const { before } = source;
    const size = file.size + before;
    const isSame = known !== undefined && isAsIndexed(known, file, source);
    if (
      isSame &&
      known.agent !== undefined &&
      !hasOtherSides(known) &&
      !isWorthReading(known, size)
    ) {
      this.#writes.push(() => this.#database.setFile({ ...known, ...stampOf(file) }));
      return;
    }
    this.#files += 1;
    const isInside = isSame && known.agent === "";
    const id = isInside ? known.id : this.#newFile(path, known);
    const from = isInside ? { ...fingerprintOf(source, known.cursor), lines: known.lines } : start;
    if (isInside) this.#writes.push(() => this.#database.removeLines(id, from.lines + 1));
    const earlier = filesStamp(source.earlier);
    const setFile = (
      agent: string | undefined,
      sides: string | undefined,
      read: ReadLines,
    ): void => {
      const { cursor, lines } = read;
      const said = { agent, sides, earlier, before, cursor, lines, digest: digestOf(read) };
      this.#writes.push(() => this.#database.setFile({ id, path, ...stampOf(file), ...said }));
    };
    const take: TakeLine = (line, words, names) => this.#add(id, line, { words, names });
    const log = new SessionLines(source, isInside, take);
    // An interrupted update continues after the last batch.
    const onBatch = (batch: ReadLines): void => {
      if (log.isBegun && !log.isOver) setFile("", "", batch);
    };
    const read = await this.#lines(source, size, log, { from, onBatch });
    if (!log.isOver) {
      if (read !== undefined) onBatch(read);
      return;
    }
    const format = log.mayBeTranscript ? readableFormat(source, size) : undefined;
    if (format === undefined) {
      // Nothing of it is found while it does not change.
      setFile(undefined, "", { ...fingerprintOf(source, size), lines: 0 });
      return;
    }
    const sides = new SideTexts(path, format.agent);
    // Before they are read: a later change shows.
    const stamp = sides.stamp();
    const lines = new TranscriptLines(source, { path, format, sides }, take);
    const all = await this.#lines(source, size, lines, { from: start });
    if (all !== undefined) setFile(format.agent, stamp, all);
  }

  /** In place of what is known of it. */
  #newFile(path: string, known: IndexedFile | undefined): number {
    const id = this.#nextId;
    this.#nextId += 1;
    this.#writes.push(() => {
      if (known !== undefined) this.#database.removeFile(known.id);
      this.#database.addFile(id, path);
    });
    return id;
  }

  #add(fileId: number, line: IndexedLine, { words, names }: SaidInLine): void {
    if (line.number >= linesOfFileMax) return;
    for (const word of words) {
      if (this.#seenWords.has(word)) continue;
      this.#seenWords.add(word);
      this.#words.add(word);
    }
    const joined = [...words].join(" ");
    this.#writes.push(() => {
      this.#database.addLine(fileId, line, joined);
      if (names.length > 0) this.#database.addNames(fileId, line, names);
    });
  }

  /** Where it ends; undefined if the file was rewritten meanwhile, or has too many lines. */
  async #lines(
    source: ByteSource,
    size: number,
    sink: SessionLines | TranscriptLines,
    { from, onBatch }: { readonly from: ReadLines; readonly onBatch?: (read: ReadLines) => void },
  ): Promise<ReadLines | undefined> {
    const trail = new FingerprintingReader(source, from);
    const framer = new LineFramer({ offset: from.cursor, lineNumber: from.lines + 1 });
    const isOver = (): boolean => "isOver" in sink && sink.isOver;
    while (framer.offset < size && !isOver()) {
      const length = Math.min(this.#chunk.length, size - framer.offset);
      const bytesRead = await trail.read(this.#chunk, 0, length, framer.offset);
      this.#signal?.throwIfAborted();
      if (bytesRead === 0) break;
      framer.push(this.#chunk.subarray(0, bytesRead), sink);
      this.#bytes += bytesRead;
      this.#waitingBytes += bytesRead;
      if (this.#waitingBytes <= batchBytes) continue;
      const batch = linesRead(source, trail, framer);
      if (batch !== undefined) onBatch?.(batch);
      this.#flush();
    }
    return linesRead(source, trail, framer);
  }

  #flush(): void {
    const [writes, words] = [this.#writes, this.#words];
    [this.#writes, this.#words, this.#waitingBytes] = [[], new Set(), 0];
    if (writes.length > 0) {
      this.#database.write(() => {
        for (const write of writes) write();
        this.#database.addWords(words);
      });
    }
    // Written twice, a word is the same one.
    if (this.#seenWords.size > seenWordsMax) this.#seenWords.clear();
    this.#onProgress?.({ bytes: this.#bytes, totalBytes: this.#totalBytes });
  }
}

/** Undefined for a damaged or missing document: a search reports it. */
function unlessRefused(error: unknown): undefined {
  const isOfSystem = error instanceof Error && "syscall" in error;
  if (!isBranchlogError(error) && !isOfSystem) throw error;
}

function isSettled({ ctimeMs }: FileStamp): boolean {
  return Date.now() - ctimeMs > stampTrustedAfterMs;
}

function stampOf({ identity, size, mtimeMs, ctimeMs }: FileStamp): FileStamp {
  return { identity, size, mtimeMs, ctimeMs };
}

/** Whether files next to a transcript changed, or may have. */
function hasOtherSides({ path, agent, sides }: IndexedFile): boolean {
  return Boolean(agent) && new SideTexts(path, agent).stamp() !== sides;
}

interface SaidInLine {
  readonly words: ReadonlySet<string>;
  readonly names: readonly string[];
}

interface ReadLines extends LogFingerprint {
  readonly lines: number;
}

function linesRead(
  source: ByteSource,
  trail: FingerprintingReader,
  framer: LineFramer,
): ReadLines | undefined {
  const lines = framer.lineNumber - 1;
  const bytes = fingerprintOf(source, framer.committedOffset);
  // Of the read file, not of a possible replacement.
  const isSame = matchesFingerprint(source, trail.bytes);
  return isSame && lines < linesOfFileMax ? { ...bytes, lines } : undefined;
}

const start: ReadLines = {
  cursor: 0,
  lines: 0,
  start: Buffer.alloc(0),
  beforeCursor: Buffer.alloc(0),
};
