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
  descriptorPoolOf,
  nodeFileSystem,
  removeAbandonedTickets,
} from "@branchlog/core/internal";
import type { HeldLock } from "@branchlog/core/internal";
import { packBytesMax, quietMsMin } from "../limits.ts";
import { heldByOmp, removeFiles, sidecarsOf } from "../removal/sidecars.ts";
import type { KeptFiles } from "./kept-files.ts";
import type { FileChange, KeptFacts, OperationKind } from "./operation.ts";
import { writePack } from "./pack.ts";
import type { PackedSource } from "./pack.ts";

export interface RemovableSession {
  /** Canonical. */
  readonly path: string;
  /** Absent: it is in no list of archived sessions. */
  readonly facts?: KeptFacts;
  /** Whether its writers may use a lock of ours: nothing is made beside files of other agents. */
  readonly isOwn: boolean;
  /** Files that are of no use without it. */
  readonly belonging: readonly string[];
}

export interface RemovalOptions {
  readonly kind: OperationKind;
  /** For files whose lock is held, too. */
  readonly force: boolean;
  /** Whether a session that just changed is left alone. */
  readonly isQuiet: boolean;
  readonly keptUntilMs?: number | undefined;
  readonly checkpointDir?: string | undefined;
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
  let [sizeBytes, packedBytes, seen] = [0, 0, 0];
  for (const group of groupsOf(sessions, options, kept, timeMs, failures)) {
    onProgress?.(seen, sessions.length);
    seen += group.length;
    const packed = await writePack(kept, group.flatMap(filesOf), signal);
    const sources = new Map(packed.map((source) => [source.file.path, source]));
    const changes = group.flatMap((session) => changesOf(session, sources));
    await kept.record({ id, kind, timeMs, keptUntilMs, changes });
    packedBytes += kept.packBytes(packed[0]?.file.pack ?? "");
    for (const session of group) {
      try {
        await removeSession(session, sources, options, kept.ports);
        removed.push(session.path);
        for (const path of filesOf(session)) sizeBytes += sources.get(path)?.file.sizeBytes ?? 0;
      } catch (error) {
        if (!isBranchlogError(error)) throw error;
        failures.push(error);
      }
    }
  }
  onProgress?.(sessions.length, sessions.length);
  const operation = removed.length > 0 ? id : null;
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
  { directory }: KeptFiles,
  nowMs: number,
  failures: BranchlogError[],
): Generator<RemovableSession[]> {
  let [group, bytes]: [RemovableSession[], number] = [[], 0];
  for (const session of sessions) {
    let size = 0;
    try {
      for (const path of filesOf(session)) {
        if (path.startsWith(join(directory, "/"))) {
          throw removalFailed(path, "Branchlog keeps there what was removed");
        }
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
  if (isQuiet && !force && quietMs < quietMsMin) {
    throw busySession(path, `it changed ${Math.max(0, Math.round(quietMs / 1000))} s ago`);
  }
  return stats.size;
}

async function removeSession(
  session: RemovableSession,
  sources: ReadonlyMap<string, PackedSource>,
  options: RemovalOptions,
  ports: Ports,
): Promise<void> {
  const { path, isOwn, belonging } = session;
  const held = isOwn && !options.force ? lockForRemoval(path, ports) : null;
  try {
    descriptorPoolOf(nodeFileSystem).closePath(path);
    const derived = isOwn ? sidecarsOf(path, options.checkpointDir).removed : [];
    removeUnchanged(sourceOf(sources, path));
    if (isOwn) await new CatalogStore("auto").forget(path);
    if (isOwn) removeAbandonedTickets(path);
    removeFiles(derived);
    for (const file of belonging) removeUnchanged(sourceOf(sources, file));
    removeEmptyDirectories(path.replace(/\.jsonl$/, ""), belonging);
    syncQuietly(dirname(path));
  } finally {
    held?.releaseSync();
  }
}

/** Throws `ERR_LOG_CHANGED` if it is not what was packed; `ERR_DELETE_FAILED`. */
function removeUnchanged({ file: { path }, dev, ino, size, changedNs }: PackedSource): void {
  const now = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  const isSame =
    now?.dev === dev && now.ino === ino && now.size === size && now.mtimeNs === changedNs;
  if (!isSame) {
    const message =
      `${path} changed while it was put into the archive: another program writes to it. It was ` +
      "left where it is. Close that program, and try again.";
    throw new BranchlogError("ERR_LOG_CHANGED", message, { path });
  }
  removing(path, () => {
    unlinkSync(path);
  });
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
