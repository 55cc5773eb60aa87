/**
 * Removes sessions with the files that belong to them. Each is first in a pack that was read back,
 * and recorded; a file that changed meanwhile stays.
 */
import { lstatSync, readdirSync, rmdirSync, unlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { runSync } from "@branchlog/streaming";
import { BranchlogError, isBranchlogError } from "@branchlog/core";
import type { Ports } from "@branchlog/core/types";
import {
  CatalogStore,
  acquireLock,
  checkpointPath,
  descriptorPoolOf,
  nodeFileSystem,
  removeAbandonedTickets,
} from "@branchlog/core/internal";
import type { HeldLock } from "@branchlog/core/internal";
import { packBytesMax, quietMsMin } from "../limits.ts";
import { heldByOmp, removeFiles, sidecarsOf } from "../removal/sidecars.ts";
import { filesOpenElsewhere, statOf } from "./file-state.ts";
import type { KeptFiles } from "./kept-files.ts";
import type { FileChange, KeptFacts, OperationKind, PackedFile } from "./operation.ts";
import { writePack } from "./pack.ts";
import type { PackedSource } from "./pack.ts";
import { hashOfFile } from "./restore-file.ts";

export interface RemovableSession {
  /** Canonical. */
  readonly path: string;
  /** Absent: it is in no list of archived sessions. */
  readonly facts?: KeptFacts;
  /** Whether its writers may use a lock of ours: nothing is made beside files of other agents. */
  readonly isOwn: boolean;
  /** Files that are of no use without it. */
  readonly belonging: readonly string[];
  /** Files that are removed and not kept. Default: its checkpoint. */
  readonly derived?: readonly string[];
}

export interface RemovalOptions {
  readonly kind: OperationKind;
  /** For files whose lock is held, too. */
  readonly force: boolean;
  /** Whether a session that just changed is left alone. */
  readonly isQuiet: boolean;
  readonly keptUntilMs?: number | undefined;
  /** Called before each session. */
  readonly onProgress?: ((removed: number, total: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Removal {
  /** Of the operation, to undo it; null: nothing was removed. */
  readonly operation: string | null;
  /** Paths of the sessions that are removed. */
  readonly removed: readonly string[];
  /** Of the others: each was left as it is. */
  readonly failures: readonly BranchlogError[];
  /** Of what was removed. */
  readonly sizeBytes: number;
  readonly packedBytes: number;
}

/** Throws `ERR_ARCHIVE_FAILED`, errors of recording, the signal's reason; what is packed stays. */
export async function removeSessions(
  kept: KeptFiles,
  sessions: readonly RemovableSession[],
  options: RemovalOptions,
): Promise<Removal> {
  const { kind, keptUntilMs, onProgress, signal } = options;
  const { clock, ids } = kept.ports;
  const [id, timeMs] = [ids.sessionId(), clock.now()];
  const [removed, failures]: [string[], BranchlogError[]] = [[], []];
  let [sizeBytes, packedBytes, seen, isAnyGone] = [0, 0, 0, false];
  for (const group of groupsOf(sessions, options, kept, timeMs, failures)) {
    onProgress?.(seen, sessions.length);
    seen += group.length;
    const packed = await writePack(kept, group.flatMap(filesOf), signal);
    const sources = new Map(packed.map((source) => [source.file.path, source]));
    const changes = group.flatMap((session) => changesOf(session, sources));
    await kept.record({ id, kind, timeMs, keptUntilMs, changes });
    packedBytes += kept.packBytes(packed[0]?.file.pack ?? "");
    const left: FileChange[] = [];
    for (const session of group) {
      const isRemoved = await removeSession(session, sources, options, kept.ports).catch(
        (error: unknown) => {
          if (!isBranchlogError(error)) throw error;
          failures.push(error);
          return false;
        },
      );
      if (isRemoved) removed.push(session.path);
      for (const change of changesOf(session, sources)) {
        if (change.kind !== "removed") continue;
        if (statOf(change.file.path) === undefined) sizeBytes += change.file.sizeBytes;
        else left.push({ ...change, kind: "restored" });
      }
    }
    // What was left where it is was not removed.
    if (left.length > 0) await kept.record({ id, kind, timeMs, keptUntilMs, changes: left });
    isAnyGone ||= left.length < changes.length;
  }
  onProgress?.(sessions.length, sessions.length);
  const operation = isAnyGone ? id : null;
  return { operation, removed, failures, sizeBytes, packedBytes };
}

function filesOf({ path, belonging }: RemovableSession): readonly string[] {
  return [path, ...belonging];
}

function changesOf(
  { path, facts, belonging }: RemovableSession,
  sources: ReadonlyMap<string, PackedSource>,
): FileChange[] {
  const [first, ...others] = [path, ...belonging].map((of) => {
    return { kind: "removed", file: sourceOf(sources, of).file } as const;
  });
  if (first === undefined || facts === undefined) return first === undefined ? [] : [first];
  return [{ ...first, session: facts }, ...others];
}

function sourceOf(sources: ReadonlyMap<string, PackedSource>, path: string): PackedSource {
  const source = sources.get(path);
  if (source === undefined) throw new Error(`${path} is not in the pack`);
  return source;
}

/** Those that can be removed, so many that a pack is not too long. */
function* groupsOf(
  sessions: readonly RemovableSession[],
  options: RemovalOptions,
  kept: KeptFiles,
  nowMs: number,
  failures: BranchlogError[],
): Generator<RemovableSession[]> {
  const openElsewhere = options.force ? new Set<string>() : filesOpenElsewhere();
  let [group, bytes]: [RemovableSession[], number] = [[], 0];
  for (const session of sessions) {
    let size = 0;
    try {
      for (const path of filesOf(session)) {
        if (kept.holds(path)) throw removalFailed(path, "Branchlog keeps there what was removed");
        if (openElsewhere.has(path)) throw busySession(path, "another process has it open");
        size += requireRemovable(path, options, nowMs);
      }
    } catch (error) {
      if (!isBranchlogError(error)) throw error;
      failures.push(error);
      continue;
    }
    if (group.length > 0 && bytes + size > packBytesMax) {
      yield group;
      [group, bytes] = [[], 0];
    }
    group.push(session);
    bytes += size;
  }
  if (group.length > 0) yield group;
}

/** Its size. */
function requireRemovable(path: string, { force, isQuiet }: RemovalOptions, nowMs: number): number {
  const [stats, directory] = removing(path, () => [lstatSync(path), lstatSync(dirname(path))]);
  const userId = process.geteuid?.();
  const isOther = userId !== undefined && userId !== 0 && directory.uid !== userId;
  if (isOther || (userId !== undefined && userId !== 0 && stats.uid !== userId)) {
    throw removalFailed(path, "it belongs to another user");
  }
  if (!stats.isFile()) throw removalFailed(path, "it is no regular file");
  const quietMs = nowMs - stats.mtimeMs;
  // A clock was wrong if it changed in the future.
  if (isQuiet && !force && Math.abs(quietMs) < quietMsMin) {
    throw busySession(path, `it changed ${Math.max(0, Math.round(quietMs / 1000))} s ago`);
  }
  return stats.size;
}

/** All of it or nothing, unless a file changes in the very moment. */
async function removeSession(
  session: RemovableSession,
  sources: ReadonlyMap<string, PackedSource>,
  options: RemovalOptions,
  ports: Ports,
): Promise<true> {
  const { path, isOwn, belonging } = session;
  const { derived = isOwn ? [checkpointPath(path, undefined)] : [] } = session;
  const held = isOwn && !options.force ? lockForRemoval(path, ports) : null;
  try {
    descriptorPoolOf(nodeFileSystem).closePath(path);
    for (const file of filesOf(session)) requireUnchanged(sourceOf(sources, file));
    removeUnchanged(sourceOf(sources, path));
    if (isOwn) await new CatalogStore("auto").forget(path);
    if (isOwn) removeAbandonedTickets(path);
    removeFiles(derived);
    for (const file of belonging) removeUnchanged(sourceOf(sources, file));
    removeEmptyDirectories(path.replace(/\.jsonl$/, ""), belonging);
    syncQuietly(dirname(path));
    return true;
  } finally {
    held?.releaseSync();
  }
}

/** Throws `ERR_LOG_CHANGED` if it is not what was packed; `ERR_DELETE_FAILED`. */
function removeUnchanged(source: PackedSource): void {
  requireUnchanged(source);
  removing(source.file.path, () => {
    unlinkSync(source.file.path);
  });
}

/** Throws `ERR_LOG_CHANGED`. */
function requireUnchanged({ file: { path }, dev, ino, size, changedNs }: PackedSource): void {
  const now = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  const isSame =
    now?.dev === dev && now.ino === ino && now.size === size && now.mtimeNs === changedNs;
  if (!isSame) {
    const message =
      `${path} changed while it was put into the archive: another program writes to it. It was ` +
      "left where it is. Close that program, and try again.";
    throw new BranchlogError("ERR_LOG_CHANGED", message, { path });
  }
}

/**
 * Removes files again that are in packs, a session's own file under its lock: only what still has
 * the hash that it had. Throws `ERR_SESSION_BUSY`, `ERR_LOG_CHANGED`, `ERR_DELETE_FAILED`.
 */
export async function removeAgain(
  files: readonly { readonly file: PackedFile; readonly session?: KeptFacts }[],
  ports: Ports,
): Promise<void> {
  const openElsewhere = filesOpenElsewhere();
  for (const { file, session } of files) {
    const { path, sha256 } = file;
    if (statOf(path) === undefined) continue;
    if (openElsewhere.has(path)) throw busySession(path, "another process has it open");
    const isOwn = session === undefined || session.agent === "pi" || session.agent === "omp";
    const isLog = isOwn && path.endsWith(".jsonl");
    const held = isLog ? lockForRemoval(path, ports) : null;
    try {
      descriptorPoolOf(nodeFileSystem).closePath(path);
      if ((await hashOfFile(path)) !== sha256) throw changedSince(path);
      if (isLog) removeFiles(sidecarsOf(path, undefined).removed);
      removing(path, () => {
        unlinkSync(path);
      });
      if (isLog) await new CatalogStore("auto").forget(path);
      syncQuietly(dirname(path));
    } finally {
      held?.releaseSync();
    }
  }
}

function changedSince(path: string): BranchlogError {
  const message = `${path} changed since; it was left where it is. Archive or delete it instead.`;
  return new BranchlogError("ERR_LOG_CHANGED", message, { path });
}

/** Throws `ERR_SESSION_BUSY`, `ERR_DELETE_FAILED`. */
export function lockForRemoval(path: string, ports: Ports): HeldLock {
  const lock = heldByOmp(path, ports.clock.now());
  if (lock !== undefined) throw busySession(path, `${lock} says that omp is writing to it`);
  try {
    return runSync(acquireLock(path, ports, 0));
  } catch (error) {
    if (!isBranchlogError(error, "ERR_LOCK_TIMEOUT")) throw removalFailed(path, error);
    throw busySession(path, "another process is appending to it", error);
  }
}

/** Those of a session's artifacts. Throws nothing. */
function removeEmptyDirectories(root: string, files: readonly string[]): void {
  const inside = files.filter((file) => file.startsWith(join(root, "/")));
  const directories = new Set(inside.map((file) => dirname(file)));
  for (const directory of directories) {
    for (let at = directory; at.startsWith(root); at = dirname(at)) {
      try {
        rmdirSync(at);
      } catch {
        break;
      }
    }
  }
}

const temporaryForm = /\.[\da-f-]{36}\.tmp$/;

/**
 * Regular files below a directory, in any order; of a file, itself. Links are left alone, and what
 * a killed process left under a temporary name.
 */
export function filesBelow(path: string): string[] {
  if (temporaryForm.test(path)) return [];
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory() !== true) return stats?.isFile() === true ? [path] : [];
  return readdirSync(path).flatMap((name) => filesBelow(join(path, name)));
}

function syncQuietly(directory: string): void {
  try {
    nodeFileSystem.syncDirectorySync(directory);
  } catch {
    // It is removed; a loss of power may bring it back.
  }
}

function removing<T>(path: string, step: () => T): T {
  try {
    return step();
  } catch (error) {
    throw removalFailed(path, error);
  }
}

export function busySession(path: string, why: string, cause?: unknown): BranchlogError {
  const message = `${path} was left alone: ${why}. Close that program, or force it.`;
  return new BranchlogError("ERR_SESSION_BUSY", message, { path, cause });
}

export function removalFailed(path: string, cause: unknown): BranchlogError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `${path} could not be removed (${reason}). Check the permissions.`;
  return new BranchlogError("ERR_DELETE_FAILED", message, { path, cause });
}
