/**
 * The session of a manager as an immutable state, so that a failed switch leaves the manager
 * unchanged.
 */
import { dirname } from "node:path";
import { encodeHeader, objectText } from "@branchlog/core/rows";
import type { FileEntry } from "@branchlog/core/entries";
import type { SessionHeader } from "@branchlog/core";
import { engineSettings, resolvePath } from "@branchlog/core/files";
import { newHeader } from "@branchlog/core/engine";
import type { NewSessionOptions } from "@branchlog/core/engine";
import { claimEmptyFile, openExisting } from "./existing-file.ts";
import type { FaceOptions, FoundLog } from "./existing-file.ts";
import { findMostRecentSession } from "./session-lookup.ts";
import { bytesOf, draftLog, fileLog, memoryLog } from "./session-log.ts";
import type { SessionLog } from "./session-log.ts";
import { madeDirectory, newSessionPath, resolvedSession, storeOf } from "./session-places.ts";

/** Constant while a manager switches sessions. */
export interface ManagerPlace {
  readonly cwd: string;
  /** A directory, or the address of a store; "" if new sessions are not kept. */
  readonly sessionDir: string;
  readonly isPersisted: boolean;
  readonly options: FaceOptions;
}

export interface ManagerState extends ManagerPlace {
  /**
   * A draft's file does not exist yet. In memory undefined, or the file that the session was copied
   * from.
   */
  readonly file: string | undefined;
  readonly log: SessionLog;
}

/** Creates the directory. */
export function filePlace(
  cwd: string,
  sessionDir: string | undefined,
  options: FaceOptions,
): ManagerPlace {
  const made = madeDirectory(cwd, sessionDir, options);
  return { cwd: resolveCwd(cwd), sessionDir: made, isPersisted: true, options };
}

/** Creates a missing directory. Throws as {@link startSession}. */
export function createSession(
  options: FaceOptions,
  cwd: string,
  sessionDir?: string,
  session?: NewSessionOptions,
): ManagerState {
  return startSession(filePlace(cwd, sessionDir, options), session);
}

/**
 * A new session, not yet on disk.
 *
 * @param file Default: a name made from its header.
 * @throws BranchlogError `ERR_INVALID_SESSION_ID`.
 */
export function startSession(
  place: ManagerPlace,
  options?: NewSessionOptions,
  file?: string,
): ManagerState {
  const header = headerFor(place, options);
  const chunks = [encodeHeader(header)];
  const own = newLogOptions(place.options);
  if (!place.isPersisted) return { ...place, file: undefined, log: memoryLog(chunks, own) };
  const path = file ?? newSessionPath(place.sessionDir, header);
  return { ...place, file: path, log: draftLog(path, chunks, own) };
}

function headerFor(
  { options, cwd }: Pick<ManagerPlace, "options" | "cwd">,
  session?: NewSessionOptions,
): SessionHeader {
  const { ports, dialect } = engineSettings(newLogOptions(options));
  return newHeader(ports, cwd, { ...session, dialect });
}

/** A log without entries does not show its dialect. */
function newLogOptions(options: FaceOptions): FaceOptions {
  const { newSessionDialect, dialect = newSessionDialect } = options;
  return dialect === undefined ? options : { ...options, dialect };
}

/**
 * A missing file is a new session for that path, an empty one gets a header. In memory, a copy that
 * does not touch the file.
 *
 * @throws BranchlogError as `openExisting`.
 */
export function openSession(place: ManagerPlace, path: string): ManagerState {
  const file = resolvedSession(path);
  return stateIn(place, file, openExisting(file, place.options));
}

/**
 * @param cwd Replaces the working directory of the header.
 * @throws BranchlogError as `openExisting`.
 */
export function openWhereItBelongs(
  options: FaceOptions,
  path: string,
  sessionDir?: string,
  cwd?: string,
): ManagerState {
  const file = resolvedSession(path);
  const found = openExisting(file, options);
  const stored = typeof found === "string" ? undefined : found.engine.header.cwd;
  const openedIn = resolveCwd(cwd ?? stored);
  const place =
    sessionDir === undefined
      ? { cwd: openedIn, sessionDir: storeOf(file) ?? dirname(file), isPersisted: true, options }
      : filePlace(openedIn, sessionDir, options);
  return stateIn(place, file, found);
}

/**
 * A new session if the directory has none.
 *
 * @throws BranchlogError as `openExisting`.
 */
export function continueRecentSession(
  options: FaceOptions,
  cwd: string,
  sessionDir?: string,
): ManagerState {
  const place = filePlace(cwd, sessionDir, options);
  const recent = findMostRecentSession(place.sessionDir, place.cwd);
  return recent === null ? startSession(place) : openSession(place, recent);
}

/** From given records, or new. */
export function startInMemory(
  options: FaceOptions,
  cwd?: string,
  session?: NewSessionOptions,
  records: readonly FileEntry[] = [],
): ManagerState {
  const place = { cwd: resolveCwd(cwd), sessionDir: "", isPersisted: false, options };
  if (records.length === 0) return startSession(place, session);
  const headerAt = records.findIndex(isHeader);
  const header = records[headerAt] ?? headerFor(place, session);
  const chunks = [recordLine(header)];
  for (const [at, record] of records.entries()) {
    if (at !== headerAt) chunks.push(recordLine(record));
  }
  return { ...place, file: undefined, log: memoryLog(chunks, options) };
}

function stateIn(place: ManagerPlace, file: string, found: FoundLog): ManagerState {
  const { options } = place;
  if (!place.isPersisted) {
    if (typeof found === "string") return { ...startSession(place), file };
    return { ...place, file, log: memoryLog(bytesOf(found.engine), options) };
  }
  if (found === "missing") return startSession(place, undefined, file);
  if (found === "empty") {
    claimEmptyFile(file, encodeHeader(headerFor(place)), options);
    return { ...place, file, log: fileLog(file, newLogOptions(options)) };
  }
  return { ...place, file, log: found };
}

function isHeader(record: FileEntry): boolean {
  return record?.type === "session" && typeof record.id === "string";
}

function recordLine(record: FileEntry): Buffer {
  return Buffer.from(`${objectText({ ...record }, "A record")}\n`);
}

function resolveCwd(cwd: unknown): string {
  if (typeof cwd !== "string" || cwd === "") return process.cwd();
  try {
    return resolvePath(cwd);
  } catch {
    // A `file:` URL of another machine.
    return process.cwd();
  }
}
