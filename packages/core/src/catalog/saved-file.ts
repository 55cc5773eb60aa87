/**
 * What is saved of a file in a directory of sessions, and its line in the saved catalog. Pure. What
 * would not be read from JSON as it was is not saved, and a line is read field by field: types,
 * ranges and places that no file of its size has make it no line of a catalog.
 */
import { createHash } from "node:crypto";
import { basename } from "node:path";
import { isDeepStrictEqual } from "node:util";
import {
  finiteNumber,
  malformed,
  SavedFields,
  savedText,
  wholeNumber,
} from "../checkpoint/saved-fields.ts";
import { dialectNames } from "../dialects/dialect.ts";
import { readHeader } from "../dialects/header.ts";
import type { SessionSummary } from "../projections/summary.ts";
import type { LogFingerprint } from "../log/fingerprint.ts";
import { catalogLineUnitsMax } from "./limits.ts";
import type { ListedSession } from "./listed-session.ts";
import type { SessionMarks } from "./session-facts.ts";
import { isSessionFileName } from "./session-files.ts";
import type { FileStamp } from "./session-files.ts";

/** What is known of the session in a file, whatever its path. */
export type SavedSession = Omit<ListedSession, "path">;

/** Where reading may go on once the file has grown, and what is known of the bytes before. */
export interface SavedPlace {
  readonly offset: number;
  readonly lineNumber: number;
  readonly digest: string;
  readonly marks: SessionMarks;
}

/** See the file comment. */
export interface SavedFile {
  /** Of the file as it was read. */
  readonly stamp: FileStamp;
  /** Whether a change since then shows in the stamp; if not, the file has to be looked into. */
  readonly isSettled: boolean;
  /** The session in the file; undefined if it is none. */
  readonly session: SavedSession | undefined;
  /** Undefined if reading has to begin anew. */
  readonly place: SavedPlace | undefined;
}

/** By which bytes a file is known, in short. */
export function bytesDigest({ start, beforeCursor }: LogFingerprint): string {
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

/** The file of a line. Throws `SyntaxError` or `TypeError` for what is no such line. */
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
