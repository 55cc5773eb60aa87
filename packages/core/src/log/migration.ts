/**
 * Brings a v1 or v2 log into the current form, once, before the first append to it. The new file is
 * written beside the log without its lock; under the lock only what was appended meanwhile is
 * added, the original gets a second name (`<file>.v1-original`), and the new file takes its place
 * in one step. A crash at any point leaves either the old log or the new one, whole.
 */
import { readRange } from "@branchlog/streaming";
import { entryForm } from "../dialects/header.ts";
import { BranchlogError } from "../errors.ts";
import { AtomicFile } from "../store/atomic-file.ts";
import type { FileSystem, Ports } from "../store/ports.ts";
import { keptPaths } from "../store/sidecar-path.ts";
import { acquireLock } from "../store/lock.ts";
import { migratedChunks } from "./migrated-bytes.ts";
import { portStep } from "../store/steps.ts";
import type { Steps } from "../store/steps.ts";
import type { TrackedLog } from "./tracked-log.ts";

const attemptsMax = 3;

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
    const file = begun(log, ports);
    let original: string | null = null;
    try {
      original = yield* migrateInto({ log, ports, lockWaitMs, file });
    } catch (error) {
      throw error instanceof BranchlogError ? error : migrationError(log.file.path, error);
    } finally {
      file.discard();
    }
    if (original !== null) log.reloadMigrated();
    if (!needsMigration(log)) return original;
  }
  throw migrationError(log.file.path, "other programs kept rewriting it");
}

/** The new file, where the directory lets one be made. */
function begun({ file: { path } }: TrackedLog, ports: Ports): AtomicFile {
  try {
    return new AtomicFile(ports, path);
  } catch (error) {
    throw migrationError(path, error);
  }
}

interface Migration {
  readonly log: TrackedLog;
  readonly ports: Ports;
  readonly lockWaitMs: number;
  /** The migrated log. */
  readonly file: AtomicFile;
}

/** The path of the original once the new file has become the log; else null. */
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

/**
 * Keeps the original under a second name, replaces it, and carries over what was late. Null if
 * another log has the name by now: that one stays.
 */
function* takePlace({ log, ports, file }: Migration): Steps<string | null> {
  const { fs } = ports;
  const { state } = log;
  const { end, committedEnd } = state;
  yield portStep("link");
  const backup = keepOriginal(fs, log);
  if (backup === null) {
    yield* log.catchUp();
    return null;
  }
  yield portStep("rename");
  file.replace();
  file.syncName();
  yield portStep("stat");
  const size = fs.statSync(backup)?.size ?? end;
  if (size <= end) return backup;
  // A writer without our lock still had the old file open: its lines must not stay behind there.
  state.readSync(size);
  addAll(file, lateChunks(log, committedEnd));
  if (!state.isTerminated) file.add(Buffer.from("\n"));
  return backup;
}

function addAll(file: AtomicFile, chunks: Iterable<Buffer>): void {
  for (const chunk of chunks) file.add(chunk);
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
  for (const name of keptPaths(path, `.v${version}-original`)) {
    const taken = fs.statSync(name);
    if (taken !== null && taken.ino !== original.ino) continue;
    if (taken === null) fs.linkSync(path, name);
    // The path may have gone to another log since it was looked at, before the link or after.
    const [kept, now] = [fs.statSync(name)?.ino, fs.statSync(path)?.ino];
    if (kept === original.ino) return now === original.ino ? name : null;
    if (kept === now) fs.unlinkSync(name);
    return null;
  }
  return null; // Not reached: the names end with an error.
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
