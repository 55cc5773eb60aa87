/**
 * pi's functions over records as text or file. Lines without a JSON object are left out; nothing is
 * written.
 */
import { decodeLine, LineFramer, recordsSync } from "@branchlog/streaming";
import type { JsonObject } from "@branchlog/streaming";
import {
  currentVersion,
  entryForm,
  readHeader,
  upcastEntry,
  legacyEntryId,
} from "@branchlog/core/rows";
import type { FileEntry } from "@branchlog/core/entries";
import { BranchlogError } from "@branchlog/core";
import { bodyBytesMax, errorCodeOf, resolvePath } from "@branchlog/core/files";

/** The version of new files. */
export const CURRENT_SESSION_VERSION: number = currentVersion;

/** As stored, with or without a header. */
export function parseSessionEntries(content: string): FileEntry[] {
  const records: FileEntry[] = [];
  const bytes = Buffer.from(content);
  const framer = new LineFramer({ lineBytesMax: bytes.length });
  const take = (line: Buffer, start: number, end: number): void => {
    const decoded = decodeLine(line, start, end);
    if (decoded.ok) records.push(asRecord(decoded.value));
  };
  framer.push(bytes, { line: take, longLine: () => undefined });
  const rest = framer.rest()?.bytes;
  if (rest) take(rest, 0, rest.length);
  return records;
}

/**
 * The records from the header on, as stored. Empty if the file is missing or not a session.
 *
 * @throws BranchlogError `ERR_LOG_UNREADABLE`, with the system's message.
 */
export function loadEntriesFromFile(filePath: string): FileEntry[] {
  const records: FileEntry[] = [];
  try {
    for (const record of recordsSync(resolvePath(filePath), { lineBytesMax: bodyBytesMax })) {
      if (!record.ok) continue;
      const isFirst = records.length === 0;
      if (isFirst && readHeader(record.value).kind === "not-header") continue;
      records.push(asRecord(record.value));
    }
  } catch (error) {
    if (errorCodeOf(error) !== "ENOENT") throw unreadable(filePath, error);
  }
  return records;
}

/**
 * Migrates records of version 1 or 2 in place. New ids depend only on session id and position.
 * Without a header, version 1 is assumed.
 */
export function migrateSessionEntries(entries: readonly FileEntry[]): void {
  // Decoding boundary: records are JSON, changed as such.
  const records = entries as unknown as readonly JsonObject[];
  const readings = records.map((record) => readHeader(record));
  const header = readings.find((reading) => reading.kind === "header");
  const version = entryForm(header?.version ?? 1);
  if (version === 3) return;
  const idOf = (i: number): string => legacyEntryId(header?.header.id ?? "", i + 1);
  let parentId: string | null = null;
  for (const [at, record] of records.entries()) {
    if (record["type"] === "session") {
      record["version"] = currentVersion;
      continue;
    }
    const idAtFileIndex = (i: number): string | null | undefined => {
      const target = records[i];
      if (target === undefined || target["type"] === "session") return undefined;
      return i > at ? null : idOf(i);
    };
    const id = idOf(at);
    becomes(record, upcastEntry(record, { version, id, parentId, idAtFileIndex }));
    parentId = id;
  }
}

function becomes(record: JsonObject, form: JsonObject): void {
  if (form === record) return;
  for (const key of Object.keys(record)) if (!Object.hasOwn(form, key)) delete record[key];
  Object.assign(record, form);
}

function asRecord(value: JsonObject): FileEntry {
  // Decoding boundary: records are returned as stored.
  return value as unknown as FileEntry;
}

function unreadable(path: string, cause: unknown): BranchlogError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new BranchlogError("ERR_LOG_UNREADABLE", message, { path, cause });
}
