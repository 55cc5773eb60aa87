/**
 * One file of a directory as of its last examination: the session in it, if it is one.
 * Looking again reads only what was appended, as long as the file is the one that was read; also if
 * it was read by another process, which saved what it found.
 */
import { createHash } from "node:crypto";
import { basename } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { openByteSource } from "@branchlog/streaming";
import type { ByteSource } from "@branchlog/streaming";
import {
  SavedFields,
  finiteNumber,
  malformed,
  savedText,
  wholeNumber,
} from "../checkpoint/saved-facts.ts";
import { dialectNames } from "../dialects/dialect.ts";
import { readHeader } from "../dialects/header.ts";
import {
  FingerprintingReader,
  fingerprintOf,
  matchesFingerprint,
  nothingRead,
} from "../log/fingerprint.ts";
import type { LogFingerprint } from "../log/fingerprint.ts";
import type { SessionSummary } from "../projections/summary.ts";
import { catalogLineUnitsMax, openedFileBytes, stampTrustedAfterMs } from "./limits.ts";
import { listedSession } from "./listed-session.ts";
import type { ListedSession } from "./listed-session.ts";
import { FactsReader } from "./session-facts.ts";
import type { FactsReadOptions, SessionMarks } from "./session-facts.ts";
import { isSessionFileName, isUnchanged, sessionFile } from "./session-files.ts";
import type { FileStamp, SessionFile } from "./session-files.ts";

/** How far a file was read, which was the last thing that was done with it. */
interface Progress {
  readonly reader: FactsReader;
  readonly bytes: LogFingerprint;
}

/** One update at a time. */
export class CatalogFile {
  #session: ListedSession | undefined;
  /** As it was when it was last read to its end. */
  #read: FileStamp | undefined;
  /** Whether a change since then would show in the stamp. */
  #isSettled = false;
  #progress: Progress | undefined;
  /** What another one found, until it is known to hold, or not. */
  #saved: SavedFile | undefined;

  constructor(saved?: SavedFile) {
    this.#saved = saved;
  }

  /** Which file was read last; undefined if none was. */
  get identity(): string | undefined {
    return this.#read?.identity;
  }

  /** The session in the file; undefined if it is not one, or could never be read. */
  get session(): ListedSession | undefined {
    return this.#session;
  }

  /**
   * Reads what is new, and returns what that cost in bytes; 0 if nothing had to be read. What fails
   * leaves everything as it was, and is tried again at the next look.
   * @param lookedAtMs When `file` was examined, or before, in epoch ms.
   */
  async look(file: SessionFile, lookedAtMs: number, options: FactsReadOptions): Promise<number> {
    this.#takeUpSaved(file);
    if (this.#isSettled && this.#read !== undefined && isUnchanged(this.#read, file)) return 0;
    const source = openByteSource(file.path);
    try {
      // The file of that name may be another one since, or have grown.
      const opened = sessionFile(file.path, source.statSync());
      const { reader, bytes } = this.#progressIn(opened, source);
      this.#progress = undefined;
      const trail = new FingerprintingReader(source, bytes);
      const facts = await reader.readOn(trail, opened.size, { ...options, path: file.path });
      const session = facts && listedSession(opened, facts);
      if (!isDeepStrictEqual(session, this.#session)) this.#session = session;
      this.#progress = { reader, bytes: trail.bytes };
      this.#read = opened;
      // A change in the same moment as the look would not change its times.
      this.#isSettled = lookedAtMs - opened.ctimeMs > stampTrustedAfterMs;
      this.#saved = undefined;
      return openedFileBytes + reader.offset - bytes.cursor;
    } finally {
      source.closeSync();
    }
  }

  /** What others need not read again; undefined if nothing was read, or all of it has to be. */
  save(): SavedFile | undefined {
    if (this.#saved !== undefined || this.#read === undefined) return this.#saved;
    // Nothing is saved beside files of other agents.
    if (this.#session?.transcript !== undefined) return undefined;
    const place = this.#place();
    if (!this.#isSettled && place === undefined) return undefined;
    const { identity, size, mtimeMs, ctimeMs } = this.#read;
    const stamp = { identity, size, mtimeMs, ctimeMs };
    return { stamp, isSettled: this.#isSettled, session: this.#savedSession(), place };
  }

  #place(): SavedPlace | undefined {
    const { reader, bytes } = this.#progress ?? {};
    const known = reader?.upTo();
    if (known === undefined || bytes === undefined) return undefined;
    const { offset, lineNumber, facts } = known;
    return { offset, lineNumber, digest: bytesDigest(bytes), marks: facts.marks };
  }

  #savedSession(): SavedSession | undefined {
    if (this.#session === undefined) return undefined;
    const { header, name, summary, dialect, modifiedMs, sizeBytes } = this.#session;
    return { header, name, summary, dialect, modifiedMs, sizeBytes };
  }

  /** If the file is as it was when another one read it, that one's session is in it. */
  #takeUpSaved(file: SessionFile): void {
    const saved = this.#saved;
    if (this.#read !== undefined || saved === undefined) return;
    if (!saved.isSettled || !isUnchanged(saved.stamp, file)) return;
    this.#session = saved.session && { path: file.path, ...saved.session };
    this.#read = saved.stamp;
    this.#isSettled = true;
  }

  /** Where reading continues; the start if the file is not the one that was read. */
  #progressIn(opened: SessionFile, source: ByteSource): Progress {
    const before = this.#read ?? this.#saved?.stamp;
    if (before === undefined || !canRetain(before, opened)) return anew();
    if (this.#progress !== undefined) {
      return matchesFingerprint(source, this.#progress.bytes) ? this.#progress : anew();
    }
    const { place, session: facts } = this.#saved ?? {};
    if (place === undefined || facts === undefined) return anew();
    const bytes = fingerprintOf(source, place.offset);
    if (bytesDigest(bytes) !== place.digest) return anew();
    const known = { ...place, facts: { ...facts, marks: place.marks } };
    return { reader: new FactsReader({}, known), bytes };
  }
}

/** Whether nothing but appends may have happened: a stamp that moved over the same size is more. */
function canRetain(before: FileStamp, now: FileStamp): boolean {
  if (before.identity !== now.identity) return false;
  return now.size > before.size || isUnchanged(before, now);
}

function anew(): Progress {
  return { reader: new FactsReader(), bytes: nothingRead };
}

/** What is known of the session in a file, whatever its path. */
type SavedSession = Omit<ListedSession, "path">;

/** Where reading may continue once the file has grown, and what is known of the bytes before. */
interface SavedPlace {
  readonly offset: number;
  readonly lineNumber: number;
  readonly digest: string;
  readonly marks: SessionMarks;
}

/**
 * What is saved of a file in a directory of sessions, and its line in the saved catalog. Pure. What
 * would not be read from JSON as it was is not saved, and a line is read field by field: types,
 * ranges and places that no file of its size has make it no line of a catalog.
 */
export interface SavedFile {
  /** Of the file as it was read. */
  readonly stamp: FileStamp;
  /** Whether a change since then shows in the stamp; if not, the file has to be looked into. */
  readonly isSettled: boolean;
  /** The session in the file; undefined if it is not one. */
  readonly session: SavedSession | undefined;
  /** Undefined if reading has to begin anew. */
  readonly place: SavedPlace | undefined;
}

/** By which bytes a file is known, in short. */
function bytesDigest({ start, beforeCursor }: LogFingerprint): string {
  return createHash("sha256").update(start).update(beforeCursor).digest("base64");
}

/** The line of a file, without a newline; undefined if it is long, or JSON would change it. */
export function savedLine(name: string, file: SavedFile): string | undefined {
  const { identity, size, mtimeMs, ctimeMs } = file.stamp;
  const { firstMessage = "" } = file.session?.summary ?? {};
  if (firstMessage.length > catalogLineUnitsMax) return undefined;
  try {
    const line = JSON.stringify({ name, ...file, stamp: [identity, size, mtimeMs, ctimeMs] });
    if (line.length > catalogLineUnitsMax) return undefined;
    return isDeepStrictEqual(savedFile(line).file, file) ? line : undefined;
  } catch {
    // A header that is nested too deeply is read again each time.
    return undefined;
  }
}

/** The file of a line. Throws `SyntaxError` or `TypeError` for anything but such a line. */
export function savedFile(line: string): { readonly name: string; readonly file: SavedFile } {
  const fields = new SavedFields(JSON.parse(line));
  const name = fields.text("name");
  if (name !== basename(name) || !isSessionFileName(name)) throw malformed("session file", "name");
  const stamp = readStamp(fields);
  const session = fields.has("session") ? readSession(fields.fields("session"), stamp) : undefined;
  const place = fields.has("place") ? readPlace(fields.fields("place"), stamp) : undefined;
  return { name, file: { stamp, isSettled: fields.flag("isSettled"), session, place } };
}

function readStamp(fields: SavedFields): FileStamp {
  const [identity, size, mtimeMs, ctimeMs] = fields.list("stamp", 4, (one) => one);
  return {
    identity: savedText(identity),
    size: wholeNumber(size, 0, Number.MAX_SAFE_INTEGER),
    mtimeMs: finiteNumber(mtimeMs),
    ctimeMs: finiteNumber(ctimeMs),
  };
}

function readSession(fields: SavedFields, { size }: FileStamp): SavedSession {
  const reading = readHeader(fields.stored("header"));
  if (reading.kind !== "header") throw malformed("header", "header");
  return {
    header: reading.header,
    name: fields.optionalText("name"),
    summary: readSummary(fields.fields("summary"), size),
    dialect: fields.oneOf("dialect", dialectNames),
    modifiedMs: fields.dateMs("modifiedMs"),
    sizeBytes: fields.whole("sizeBytes", size, size),
  };
}

function readSummary(fields: SavedFields, size: number): SessionSummary {
  return {
    messageCount: fields.whole("messageCount", 0, size),
    firstMessage: fields.optionalText("firstMessage"),
    lastActivityMs: fields.has("lastActivityMs") ? fields.dateMs("lastActivityMs") : undefined,
  };
}

function readPlace(fields: SavedFields, { size }: FileStamp): SavedPlace {
  const offset = fields.whole("offset", 0, size);
  const marks = fields.fields("marks");
  return {
    offset,
    lineNumber: fields.whole("lineNumber", 1, offset + 1),
    digest: fields.text("digest"),
    marks: {
      slot: marks.isNull("slot") ? null : marks.text("slot"),
      entry: marks.isNull("entry") ? null : marks.text("entry"),
      dialect: marks.isNull("dialect") ? null : marks.oneOf("dialect", dialectNames),
    },
  };
}
