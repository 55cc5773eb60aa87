/**
 * Brings a v1 or v2 log into the current form, once, before the first append to it. The new file is
 * written beside the log without its lock; under the lock only what was appended meanwhile is
 * added, the original gets a second name (`<file>.v1-original`), and the new file takes its place
 * in one step. A crash at any point leaves either the old log or the new one, whole.
 */
import { dirname } from "node:path";
import { readRange } from "@branchlog/streaming";
import { entryForm } from "../dialects/header.ts";
import { BranchlogError } from "../errors.ts";
import { removeQuietly, temporaryPath, writeFully } from "../store/create-log.ts";
import type { FileSystem, Ports } from "../store/ports.ts";
import { sidecarPath } from "../store/sidecar-path.ts";
import { acquireLock } from "../store/lock.ts";
import { migratedChunks } from "./migrated-bytes.ts";
import { portStep } from "../store/steps.ts";
import type { Steps } from "../store/steps.ts";
import type { TrackedLog } from "./tracked-log.ts";

const attemptsMax = 3;
const backupNamesMax = 100;

/** Whether the log has to be migrated before anything is appended. */
export function needsMigration(log: TrackedLog): boolean {
  return entryForm(log.state.indexer.header?.version ?? 3) < 3;
}

/**
 * Migrates the log and reads it again. The path of the kept original; null if another process did
 * it meanwhile.
 * @throws BranchlogError `ERR_MIGRATION` with the cause, the log unchanged; `ERR_LOCK_TIMEOUT`.
 */
export function* migrate(log: TrackedLog, ports: Ports, lockWaitMs: number): Steps<string | null> {
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const temporary = temporaryPath(ports, log.file.path);
    const fd = created(log, ports.fs, temporary);
    let original: string | null = null;
    try {
      original = yield* migrateInto({ log, ports, lockWaitMs, temporary, fd });
    } catch (error) {
      throw error instanceof BranchlogError ? error : migrationError(log.file.path, error);
    } finally {
      ports.fs.closeSync(fd);
      // Where removing fails, what it is done for has failed, too, and that is to be said.
      if (original === null) removeQuietly(ports.fs, temporary);
    }
    if (original !== null) log.reloadMigrated();
    if (!needsMigration(log)) return original;
  }
  throw migrationError(log.file.path, "other programs kept rewriting it");
}

/** The new file, where the directory lets one be made. */
function created(log: TrackedLog, fs: FileSystem, temporary: string): number {
  try {
    return fs.openSync(temporary, "create");
  } catch (error) {
    throw migrationError(log.file.path, error);
  }
}

interface Migration {
  readonly log: TrackedLog;
  readonly ports: Ports;
  readonly lockWaitMs: number;
  readonly temporary: string;
  readonly fd: number;
}

/** The path of the original once the temporary file has become the log; else null. */
function* migrateInto(migration: Migration): Steps<string | null> {
  const { log, ports, fd } = migration;
  const { fs } = ports;
  const { generation, state } = log;
  const converted = state.committedEnd;
  yield portStep("write");
  for (const chunk of migratedChunks(log.file, state, 0, converted)) writeFully(fs, fd, chunk);
  fs.fdatasyncSync(fd);
  const held = yield* acquireLock(log.file.path, ports, migration.lockWaitMs);
  try {
    yield* log.catchUp();
    if (log.generation !== generation || log.state !== state) return null;
    yield portStep("write");
    for (const chunk of migratedChunks(log.file, state, converted, state.end)) {
      writeFully(fs, fd, chunk);
    }
    if (!state.isTerminated) writeFully(fs, fd, Buffer.from("\n"));
    fs.fdatasyncSync(fd);
    yield portStep("check lock");
    if (!held.isOursSync()) return null;
    return yield* takePlace(migration);
  } finally {
    held.releaseSync();
  }
}

/**
 * Keeps the original under a second name, replaces it, and carries over what was late. Null if
 * another log has the name by now: that one stays.
 */
function* takePlace({ log, ports, temporary, fd }: Migration): Steps<string | null> {
  const { fs } = ports;
  const { path } = log.file;
  const { state } = log;
  const { end, committedEnd } = state;
  yield portStep("link");
  const backup = keepOriginal(fs, log);
  if (backup === null) {
    yield* log.catchUp();
    return null;
  }
  yield portStep("rename");
  fs.renameSync(temporary, path);
  fs.syncDirectorySync(dirname(path));
  yield portStep("stat");
  const size = fs.statSync(backup)?.size ?? end;
  if (size <= end) return backup;
  // A writer without our lock still had the old file open: its lines must not stay behind there.
  state.readSync(size);
  for (const chunk of lateChunks(log, committedEnd)) writeFully(fs, fd, chunk);
  if (!state.isTerminated) writeFully(fs, fd, Buffer.from("\n"));
  return backup;
}

function lateChunks({ file, state }: TrackedLog, from: number): Generator<Buffer> {
  // A record that was taken for whole went on: its bytes are kept as they are.
  if (state.isBroken) return readRange(file, from, state.end - from);
  return migratedChunks(file, state, from, state.end);
}

/**
 * Links the original to a free name; the same file under that name already is fine. Null if it is
 * not the original that has the path.
 */
function keepOriginal(fs: FileSystem, { file: { path }, state }: TrackedLog): string | null {
  const original = fs.statSync(path);
  if (original === null || !state.confirm(original)) return null;
  const version = entryForm(state.indexer.header?.version ?? 1);
  for (let number = 1; number <= backupNamesMax; number += 1) {
    const suffix = number === 1 ? "" : `-${number}`;
    const name = sidecarPath(path, `.v${version}-original${suffix}`);
    const taken = fs.statSync(name);
    if (taken !== null && taken.ino !== original.ino) continue;
    if (taken === null) fs.linkSync(path, name);
    // The path may have gone to another log since it was looked at, before the link or after.
    const [kept, now] = [fs.statSync(name)?.ino, fs.statSync(path)?.ino];
    if (kept === original.ino) return now === original.ino ? name : null;
    if (kept === now) fs.unlinkSync(name);
    return null;
  }
  throw migrationError(path, `there are ${backupNamesMax} kept originals beside it already`);
}

function migrationError(path: string, cause: unknown): BranchlogError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new BranchlogError(
    "ERR_MIGRATION",
    `${path} could not be brought into the current version (${reason}); it was left as it is. ` +
      "Fix the cause and append again; reading needs no migration.",
    { path, cause },
  );
}
