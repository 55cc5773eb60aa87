/**
 * Migrates a v1 or v2 log, once, before the first append to it. The new file is written next to the
 * log without its lock; under the lock only what was appended meanwhile is added, the original gets
 * a second name (`<file>.v1-original`), and the new file is renamed over it. A crash at any point
 * leaves either the old log or the new one, whole.
 */
import { encodeHeader } from "../entries/encode-entry.ts";
import {
  LineFramer,
  decodeLine,
  portStep,
  readFullySync,
  readRange,
  runSync,
  scan,
} from "@branchlog/streaming";
import type { Steps } from "@branchlog/streaming";
import { entryForm } from "../dialects/header.ts";
import { migrateLine } from "../dialects/migrate-line.ts";
import { BranchlogError } from "../errors.ts";
import { AtomicFile, linkOrCopy } from "../platform/atomic-file.ts";
import { acquireLock } from "../platform/lock.ts";
import type { LogFile } from "../platform/log-file.ts";
import type { Ports } from "../platform/ports.ts";
import { keptPaths } from "../platform/sidecar.ts";
import type { LogState } from "./log-state.ts";
import type { TrackedLog } from "./tracked-log.ts";

const attemptsMax = 3;

export function needsMigration(log: TrackedLog): boolean {
  return entryForm(log.state.indexer.header?.version ?? 3) < 3;
}

/**
 * Returns the path of the kept original; null if the log is of the current version, or another
 * process migrated it meanwhile. Throws `ERR_MIGRATION` with the cause, the log unchanged;
 * `ERR_LOCK_TIMEOUT`.
 */
export function* migrate(log: TrackedLog, ports: Ports, lockWaitMs: number): Steps<string | null> {
  if (!needsMigration(log)) return null;
  if (log.stored !== undefined) throw oldInStore(log.path);
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    let file: AtomicFile | undefined;
    let original: string | null = null;
    try {
      file = new AtomicFile(ports, log.path);
      original = yield* migrateInto({ log, ports, lockWaitMs, file });
    } catch (error) {
      throw error instanceof BranchlogError ? error : migrationError(log.path, error);
    } finally {
      file?.discard();
    }
    if (original !== null) log.reloadMigrated();
    if (!needsMigration(log)) return original;
  }
  throw migrationError(log.file.path, "other programs kept rewriting it");
}

function oldInStore(path: string): BranchlogError {
  const message =
    `${path} has an old version, which a store does not migrate; nothing was stored. Write it ` +
    "to a file with branchlog store pull, migrate that, and push it under a new name.";
  return new BranchlogError("ERR_MIGRATION", message, { path });
}

interface Migration {
  readonly log: TrackedLog;
  readonly ports: Ports;
  readonly lockWaitMs: number;
  readonly file: AtomicFile;
}

function* migrateInto(migration: Migration): Steps<string | null> {
  const { log, ports, file } = migration;
  const { generation, state } = log;
  const converted = state.committedEnd;
  yield portStep("write");
  addAll(file, migratedChunks(log.file, state, 0, converted));
  file.syncSync();
  const held = yield* acquireLock(log.file.path, ports, migration.lockWaitMs);
  try {
    yield* log.catchUp();
    if (log.generation !== generation || log.state !== state) return null;
    yield portStep("write");
    addAll(file, migratedChunks(log.file, state, converted, state.end));
    if (!state.isTerminated) file.add(Buffer.from("\n"));
    file.syncSync();
    yield portStep("check lock");
    if (!held.isOursSync()) return null;
    return yield* takePlace(migration);
  } finally {
    held.releaseSync();
  }
}

/** Null if another log has taken the name: that one stays. */
function* takePlace({ log, ports, file }: Migration): Steps<string | null> {
  const { state } = log;
  const { end, committedEnd } = state;
  yield portStep("link");
  const backup = keepOriginal(ports, log);
  if (backup === null) {
    yield* log.catchUp();
    return null;
  }
  yield portStep("rename");
  file.replace();
  file.syncName();
  yield portStep("stat");
  if (!backup.isCopy) log.file.reopen(backup.path);
  const size = log.file.openSizeSync() ?? end;
  if (size <= end) return backup.path;
  // A writer without our lock still had the old file open: its lines must not be lost there.
  runSync(state.read(size));
  addAll(file, lateChunks(log, committedEnd));
  if (!state.isTerminated) file.add(Buffer.from("\n"));
  return backup.path;
}

function addAll(file: AtomicFile, chunks: Iterable<Buffer>): void {
  for (const chunk of chunks) file.add(chunk);
}

function lateChunks({ file, state }: TrackedLog, from: number): Generator<Buffer> {
  // A record that seemed complete was continued: its bytes are copied as they are.
  if (state.isBroken) return readRange(file, from, state.end - from);
  return migratedChunks(file, state, from, state.end);
}

interface KeptOriginal {
  readonly path: string;
  readonly isCopy: boolean;
}

/**
 * A link that already exists is fine; where there are none, it is a copy. Null if the path is no
 * longer the original's.
 */
function keepOriginal(ports: Ports, { file, state }: TrackedLog): KeptOriginal | null {
  const { fs } = ports;
  const { path } = file;
  const original = fs.statSync(path);
  if (original === null || !state.confirm(original)) return null;
  const version = entryForm(state.indexer.header?.version ?? 1);
  for (const name of keptPaths(path, `.v${version}-original`)) {
    const taken = fs.statSync(name);
    if (taken !== null && taken.ino !== original.ino) continue;
    const bytes = (): Iterable<Buffer> => readRange(file, 0, original.size);
    const isLink = taken !== null || isLinked(ports, { path, name }, bytes);
    // The path may belong to another log since its stat, before the link or after.
    const [kept, now] = [fs.statSync(name)?.ino, fs.statSync(path)];
    const isOriginal = now?.ino === original.ino;
    if (!isLink) {
      if (isOriginal && now.size === original.size) return { path: name, isCopy: true };
      fs.unlinkSync(name);
      return null;
    }
    if (kept === original.ino) return isOriginal ? { path: name, isCopy: false } : null;
    if (kept === now?.ino) fs.unlinkSync(name);
    return null;
  }
  return null; // Not reached: the names end with an error.
}

function isLinked(...names: Parameters<typeof linkOrCopy>): boolean {
  try {
    return linkOrCopy(...names);
  } catch (error) {
    // Its errors say that a session was not created.
    throw migrationError(names[1].path, error);
  }
}

function migrationError(path: string, cause: unknown): BranchlogError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new BranchlogError(
    "ERR_MIGRATION",
    `${path} could not be migrated to the current version (${reason}); it was not changed. ` +
      "Fix the cause and append again; reading needs no migration.",
    { path, cause },
  );
}

const bomBytes = 3;
const chunkBytes = 1024 * 1024;
const newline = 0x0a;

/**
 * Range and chunks start and end between lines. Only session records and lines of entries change. A
 * byte-order mark is omitted, since agents cannot read a log that starts with one.
 */
export function* migratedChunks(
  file: LogFile,
  state: LogState,
  from: number,
  to: number,
): Generator<Buffer> {
  let gathered: Buffer[] = [];
  let bytes = 0;
  for (const piece of migratedPieces(file, state, from, to)) {
    gathered.push(piece);
    bytes += piece.length;
    if (bytes < chunkBytes || piece.at(-1) !== newline) continue;
    yield Buffer.concat(gathered);
    gathered = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(gathered);
}

function* migratedPieces(
  file: LogFile,
  state: LogState,
  from: number,
  to: number,
): Generator<Buffer> {
  const { rows } = state.index;
  let at = from === 0 && startsWithBom(file) ? bomBytes : from;
  for (let row = rows.firstFrom(at); row < rows.count && rows.offset(row) < to; row += 1) {
    yield* betweenEntries(file, state, at, rows.offset(row));
    yield state.bodies.migratedLine(row, state.bodies.lineSync(row));
    at = rows.offset(row) + rows.length(row);
  }
  yield* betweenEntries(file, state, at, to);
}

function* betweenEntries(
  file: LogFile,
  state: LogState,
  from: number,
  to: number,
): Generator<Buffer> {
  let at = from;
  for (const { offset, length } of sessionRecords(file, state, from, to)) {
    yield* readRange(file, at, offset - at);
    yield migrateSession(file, state, offset, length);
    at = offset + length;
  }
  yield* readRange(file, at, to - at);
}

interface LinePlace {
  readonly offset: number;
  readonly length: number;
}

function sessionRecords(
  file: LogFile,
  state: LogState,
  from: number,
  to: number,
): readonly LinePlace[] {
  // The usual case: one newline, possibly with a carriage return.
  if (to - from <= 2) return [];
  const found: LinePlace[] = [];
  const longLine = ({ offset, length }: LinePlace): void => {
    if (offset === state.indexer.header?.offset) found.push({ offset, length });
  };
  const line = (bytes: Buffer, start: number, end: number, offset: number): void => {
    const decoded = decodeLine(bytes, start, end);
    if (!decoded.ok || decoded.value["type"] !== "session") return;
    found.push({ offset, length: end - start });
  };
  const framer = new LineFramer({ offset: from });
  runSync(scan(file, framer, { line, longLine }, { from, to }));
  const rest = framer.rest();
  if (rest?.bytes) line(rest.bytes, 0, rest.length, rest.offset);
  else if (rest) longLine(rest);
  return found;
}

export function headerInCurrentForm(file: LogFile, state: LogState): Buffer {
  const { header, offset = 0, length = 0 } = state.indexer.header ?? {};
  if (state.indexer.transcript !== undefined && header !== undefined) {
    return encodeHeader(header).subarray(0, -1);
  }
  const line = migrateSession(file, state, offset, length);
  return line.subarray(line.indexOf("{"), line.lastIndexOf("}") + 1);
}

function migrateSession(file: LogFile, state: LogState, offset: number, length: number): Buffer {
  const line = readFullySync(file, Buffer.alloc(length), offset);
  const version = entryForm(state.indexer.header?.version ?? 3);
  const context = { version, id: "", parentId: null, idAtFileIndex: () => undefined };
  return migrateLine(line, { ...context, kind: "header" });
}

function startsWithBom(file: LogFile): boolean {
  const start = readFullySync(file, Buffer.alloc(bomBytes), 0);
  return start.equals(Buffer.from([0xef, 0xbb, 0xbf]));
}
