/**
 * One file of a directory as last read, perhaps by another process that saved it. Reads only
 * appended bytes while the file's identity and earlier bytes are unchanged.
 */
import { mayBeDocument, stampBeside } from "./agent-files.ts";
import { createHash } from "node:crypto";
import { basename, isAbsolute } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { ByteSource } from "@branchlog/streaming";
import {
  agentNamed,
  documentFormatOf,
  dialectNames,
  fileOfAddress,
  openLogSource,
  readHeader,
  SavedFields,
  finiteNumber,
  malformed,
  savedText,
  wholeNumber,
} from "@branchlog/core/rows";
import { FingerprintingReader, fingerprintOf, matchesFingerprint } from "@branchlog/core/files";
import type { LogFingerprint } from "@branchlog/core/files";
import type { SessionSummary } from "@branchlog/core/types";
import { catalogLineUnitsMax, openedFileBytes, stampTrustedAfterMs } from "./limits.ts";
import {
  readActivity,
  readActivityMarks,
  savedActivity,
  savedActivityMarks,
} from "./listed-activity.ts";
import { readListedUsage, savedListedUsage } from "./listed-usage.ts";
import { listedDocument, unreadDocument } from "./listed-document.ts";
import { listedSession } from "./listed-session.ts";
import type { ListedSession } from "./listed-session.ts";
import { FactsReader } from "./session-facts.ts";
import type { FactsReadOptions, SessionMarks } from "./session-facts.ts";
import { isSessionFileName, isUnchanged, sessionFile } from "./session-files.ts";
import type { FileStamp, SessionFile } from "./session-files.ts";
import type { ListedTranscript } from "./transcript-scan.ts";

interface Progress {
  readonly reader: FactsReader;
  readonly bytes: LogFingerprint;
}

export class CatalogFile {
  #session: ListedSession | undefined;
  /** That of the file itself, where another one may have another. */
  #ownName: string | undefined;
  #read: FileStamp | undefined;
  /** Whether other files than those of the stamps say something of it. */
  #isOfOneFile = true;
  /** Of the other files that say something of it, before they were read. */
  #beside: string | undefined;
  #isDamaged = false;
  /** Whether a later change would show in the stamp. */
  #isSettled = false;
  #progress: Progress | undefined;
  #saved: SavedFile | undefined;

  constructor(saved?: SavedFile) {
    this.#saved = saved;
  }

  /** Whether it is a document that cannot be read. */
  get isDamaged(): boolean {
    return this.#isDamaged;
  }

  get identity(): string | undefined {
    return this.#read?.identity;
  }

  /** Undefined if the file is not a session, or was never readable. */
  get session(): ListedSession | undefined {
    return this.#session;
  }

  /** Whether the file is as it was read, perhaps by another process. */
  recall(file: SessionFile): boolean {
    this.#takeUpSaved(file);
    if (!this.#isSettled || this.#read === undefined) return false;
    if (!isUnchanged(this.#read, file)) return false;
    if (this.#beside !== stampBeside(file.path, this.#owner)) return false;
    this.#takeName(file.path);
    return true;
  }

  /** What is known of it without reading it; false: nothing is. It is read another time. */
  leaveUnread(file: SessionFile): boolean {
    const session = unreadDocument(file);
    if (session === undefined) return false;
    if (!isDeepStrictEqual(session, this.#session)) this.#session = session;
    [this.#read, this.#isSettled, this.#saved] = [file, false, undefined];
    return true;
  }

  /**
   * Reads new bytes and returns how many. A failure leaves the state unchanged.
   *
   * @param lookedAtMs When `file` was stat'ed, or before, in epoch ms.
   */
  async read(file: SessionFile, lookedAtMs: number, options: FactsReadOptions): Promise<number> {
    if (mayBeDocument(file.path)) return this.#readDocument(file, lookedAtMs);
    const besideBefore = stampBeside(file.path);
    const source = openLogSource(file.path);
    try {
      // The file may have been replaced, or have grown.
      const opened = sessionFile(file.path, source.statSync());
      const { reader, bytes } = this.#progressIn(opened, source);
      this.#progress = undefined;
      const trail = new FingerprintingReader(source, bytes);
      const facts = await reader.readOn(trail, opened.size + source.before, {
        ...options,
        path: file.path,
      });
      const ownBytes = opened.size + source.before - source.inherited;
      const session = facts && listedSession({ ...opened, size: ownBytes }, facts);
      if (!isDeepStrictEqual(session, this.#session)) this.#session = session;
      this.#ownName = facts && "ownName" in facts ? facts.ownName : facts?.name;
      this.#isOfOneFile = source.before === 0;
      this.#beside = this.#besideAfter(file.path, besideBefore);
      // A reader of a transcript holds all its ids: only what grows is worth that.
      const isKept = session?.transcript === undefined || this.#read !== undefined;
      this.#progress = isKept ? { reader, bytes: trail.bytes } : undefined;
      this.#read = opened;
      // A change within the same clock tick would not change the times.
      const isTrusted = lookedAtMs - opened.ctimeMs > stampTrustedAfterMs;
      this.#isSettled = isTrusted && this.#beside !== undefined;
      this.#saved = undefined;
      return openedFileBytes + reader.offset - bytes.cursor;
    } finally {
      source.closeSync();
    }
  }

  /** Undefined: no agent is known to have such files. */
  get #owner(): string | undefined {
    return this.#session && (this.#session.transcript?.of ?? this.#session.dialect);
  }

  /** The stamp of the files that its agent keeps beside it, if none changed while it was read. */
  #besideAfter(path: string, before: string | undefined): string | undefined {
    if (before === undefined || before === "") return before;
    const beside = stampBeside(path, this.#owner);
    return stampBeside(path) === before ? beside : undefined;
  }

  /** Some agents keep the names of all sessions in one file. */
  #takeName(path: string): void {
    const session = this.#session;
    const format = agentNamed(session?.transcript?.of ?? "")?.transcripts;
    if (session === undefined || format?.indexedName === undefined) return;
    if (format.filesBeside !== undefined) return;
    const name = format.indexedName(path) ?? this.#ownName;
    if (name !== session.name) this.#session = { ...session, name };
  }

  /** Read whole. */
  async #readDocument(file: SessionFile, lookedAtMs: number): Promise<number> {
    const besideBefore = stampBeside(file.path);
    const { session: listed, logBytes } = await listedDocument(file);
    const session = listed === "damaged" ? undefined : listed;
    this.#isDamaged = listed === "damaged";
    if (!isDeepStrictEqual(session, this.#session)) this.#session = session;
    this.#ownName = session?.name;
    this.#isOfOneFile = true;
    this.#beside = this.#besideAfter(file.path, besideBefore);
    this.#read = file;
    const { settlesAfterMs = 0 } = documentFormatOf(file.path) ?? {};
    const trustedAfterMs = Math.max(stampTrustedAfterMs, settlesAfterMs);
    const isTrusted = lookedAtMs - file.ctimeMs > trustedAfterMs;
    this.#isSettled = isTrusted && this.#beside !== undefined;
    return Math.max(file.size, logBytes);
  }

  /** Undefined if nothing was read, or all of it has to be read again. */
  save(): SavedFile | undefined {
    if (this.#saved !== undefined || this.#read === undefined) return this.#saved;
    // That a document is damaged, and what is in other files, is found again.
    if (this.#isDamaged || !this.#isOfOneFile) return undefined;
    const place = this.#place();
    if (!this.#isSettled && place === undefined) return undefined;
    const { identity, size, mtimeMs, ctimeMs } = this.#read;
    const stamp = { identity, size, mtimeMs, ctimeMs };
    const beside = this.#beside === "" ? undefined : this.#beside;
    return { stamp, isSettled: this.#isSettled, session: this.#savedSession(), place, beside };
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
    const { path: _path, ...said } = this.#session;
    // What several sessions share has no part in the stamp.
    return this.#beside === "" ? { ...said, name: this.#ownName } : said;
  }

  /** If the file is as it was when another one read it, that one's session is in it. */
  #takeUpSaved(file: SessionFile): void {
    const saved = this.#saved;
    if (this.#read !== undefined || saved === undefined) return;
    if (!saved.isSettled || !isUnchanged(saved.stamp, file)) return;
    this.#session = saved.session && { path: file.path, ...saved.session };
    this.#ownName = saved.session?.name;
    this.#beside = saved.beside ?? "";
    this.#read = saved.stamp;
    this.#isSettled = true;
  }

  #progressIn(opened: SessionFile, source: ByteSource): Progress {
    const before = this.#read ?? this.#saved?.stamp;
    if (before === undefined || !canRetain(before, opened)) return anew(source);
    if (this.#progress !== undefined) {
      return matchesFingerprint(source, this.#progress.bytes) ? this.#progress : anew(source);
    }
    const { place, session: facts } = this.#saved ?? {};
    if (place === undefined || facts?.usage === undefined) return anew(source);
    const { usage, activity } = facts;
    const { messageCount, ...summary } = facts.summary;
    if (activity === undefined || messageCount === undefined) return anew(source);
    const bytes = fingerprintOf(source, place.offset);
    if (bytesDigest(bytes) !== place.digest) return anew(source);
    const counted = { ...summary, messageCount };
    const said = { ...facts, summary: counted, usage, activity, marks: place.marks };
    return { reader: new FactsReader({}, { ...place, facts: said }), bytes };
  }
}

/** A changed stamp with the same size is more than an append. */
function canRetain(before: FileStamp, now: FileStamp): boolean {
  if (before.identity !== now.identity) return false;
  return now.size > before.size || isUnchanged(before, now);
}

function anew(source: ByteSource): Progress {
  return { reader: new FactsReader(), bytes: fingerprintOf(source, 0) };
}

type SavedSession = Omit<ListedSession, "path">;

interface SavedPlace {
  readonly offset: number;
  readonly lineNumber: number;
  readonly digest: string;
  readonly marks: SessionMarks;
}

export interface SavedFile {
  /** Of the file as it was read. */
  readonly stamp: FileStamp;
  /** Whether a later change would show in the stamp; if not, the file has to be read. */
  readonly isSettled: boolean;
  readonly session: SavedSession | undefined;
  readonly place: SavedPlace | undefined;
  /** Of the files next to it that say something of the session. */
  readonly beside: string | undefined;
}

/** Identifies the bytes that were read, in short form. */
function bytesDigest({ start, beforeCursor }: LogFingerprint): string {
  return createHash("sha256").update(start).update(beforeCursor).digest("base64");
}

/** Without a newline; undefined if it would be too long, or JSON would change it. */
export function savedLine(name: string, file: SavedFile): string | undefined {
  const { identity, size, mtimeMs, ctimeMs } = file.stamp;
  const { session } = file;
  const { firstMessage } = session?.summary ?? {};
  if ((firstMessage ?? "").length > catalogLineUnitsMax) return undefined;
  const usage = session?.usage && savedListedUsage(session.usage);
  if (usage === null) return undefined;
  const activity = session?.activity && savedActivity(session.activity, firstMessage);
  const { tree } = file.place?.marks ?? {};
  const marks = tree && { ...file.place?.marks, tree: savedActivityMarks(tree) };
  const place = file.place && { ...file.place, marks };
  const saved = { ...file, stamp: [identity, size, mtimeMs, ctimeMs], place };
  const { transcript: of } = session ?? {};
  const transcript = of && { ...of, version: readerVersion(of) };
  try {
    const facts = session && { ...session, usage, activity, transcript };
    const line = JSON.stringify({ name, ...saved, session: facts });
    if (line.length > catalogLineUnitsMax) return undefined;
    return isDeepStrictEqual(savedFile(line).file, file) ? line : undefined;
  } catch {
    // A header that is nested too deeply is read again each time.
    return undefined;
  }
}

/** Throws `SyntaxError` or `TypeError` for anything but such a line. */
export function savedFile(line: string): { readonly name: string; readonly file: SavedFile } {
  const fields = new SavedFields(JSON.parse(line));
  const name = fields.text("name");
  const isNamed = isSessionFileName(basename(name)) || mayBeDocument(name);
  const isPlaced = isAbsolute(name) || name === basename(name);
  if (!isPlaced || !isNamed) throw malformed("session file", "name");
  const stamp = readStamp(fields);
  const isWhole = fileOfAddress(name).id === undefined;
  const sizes = isWhole ? { from: stamp.size, to: stamp.size } : { from: 0, to: sizeMax };
  const session = fields.has("session") ? readSession(fields.fields("session"), sizes) : undefined;
  const place = fields.has("place") ? readPlace(fields.fields("place"), stamp) : undefined;
  const beside = fields.optionalText("beside");
  return { name, file: { stamp, isSettled: fields.flag("isSettled"), session, place, beside } };
}

function readStamp(fields: SavedFields): FileStamp {
  const [identity, size, mtimeMs, ctimeMs] = fields.list("stamp", 4, (one) => one);
  return {
    identity: savedText(identity),
    size: wholeNumber(size, 0, sizeMax),
    mtimeMs: finiteNumber(mtimeMs),
    ctimeMs: finiteNumber(ctimeMs),
  };
}

const sizeMax = Number.MAX_SAFE_INTEGER;

/** @param sizes Between which that of the session is. */
function readSession(
  fields: SavedFields,
  { from, to }: { readonly from: number; readonly to: number },
): SavedSession {
  const reading = readHeader(fields.stored("header"));
  if (reading.kind !== "header") throw malformed("header", "header");
  const summary = readSummary(fields.fields("summary"), to);
  const saved = fields.list("activity", 7, (one) => one);
  return {
    header: reading.header,
    name: fields.optionalText("name"),
    summary,
    activity: readActivity(saved, summary.firstMessage),
    usage: readListedUsage(fields.list("usage", 4, (one) => one)),
    dialect: fields.oneOf("dialect", dialectNames),
    modifiedMs: fields.dateMs("modifiedMs"),
    sizeBytes: fields.whole("sizeBytes", from, to),
    ...(fields.has("transcript")
      ? { transcript: readTranscript(fields.fields("transcript")) }
      : {}),
  };
}

/** Undefined: no such agent is registered. */
function readerVersion({ of }: ListedTranscript): number | undefined {
  const agent = agentNamed(of);
  return (agent?.transcripts ?? agent?.documents)?.version;
}

/** Of another version, the agent's sessions may be read otherwise. */
function readTranscript(fields: SavedFields): ListedTranscript {
  const transcript = { of: fields.text("of"), isSubagent: fields.flag("isSubagent") };
  const version = readerVersion(transcript);
  if (version === undefined) throw malformed("agent", "of");
  fields.whole("version", version, version);
  return transcript;
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
      tree: readActivityMarks(marks.list("tree", 4, (one) => one)),
    },
  };
}
