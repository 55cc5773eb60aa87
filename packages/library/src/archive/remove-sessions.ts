/**
 * Removes sessions with the files that belong to them. Each is first in a pack that was read back,
 * and recorded; a file that changed meanwhile stays.
 */
import { lstatSync, readdirSync, rmdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { runSync } from "@branchlog/streaming";
import { BranchlogError, isBranchlogError } from "@branchlog/core";
import type { Ports, HeldLock } from "@branchlog/core/types";
import { CatalogStore } from "../catalog/catalog-store.ts";
import {
  acquireLock,
  cachedCheckpoints,
  checkpointPath,
  descriptorPoolOf,
  nodeFileSystem,
  removeAbandonedTickets,
} from "@branchlog/core/files";
import { asideSessionsMax, packBytesMax, quietMsMin } from "./limits.ts";
import { heldByOmp, removeFiles, sidecarsOf } from "./sidecars.ts";
import { filesOpenElsewhere, isOpenIn, statOf } from "./file-state.ts";
import type { Archive } from "./archive-directory.ts";
import type { FileChange, ArchivedFacts, OperationKind, PackedFile } from "./operation.ts";
import { writePack } from "./pack.ts";
import { busySession, changedMeanwhile, removalFailed } from "./removal-errors.ts";
import { FilesAside, asideEnding } from "./set-aside.ts";
import type { KnownFile } from "./set-aside.ts";

export interface RemovableSession {
  /** Canonical. */
  readonly path: string;
  /** Absent: it is in no list of archived sessions. */
  readonly facts?: ArchivedFacts;
  /**
   * Whether its writers may use a lock of ours: nothing is created next to files of other agents.
   */
  readonly isOwn: boolean;
  /** Files that are of no use without it. */
  readonly attachments: readonly string[];
  /** Files that are removed and not kept. Default: its checkpoint. */
  readonly derived?: readonly string[];
}

export interface RemovalOptions {
  readonly kind: OperationKind;
  /** For files whose lock is held, too. */
  readonly force: boolean;
  /** Whether a session that just changed is skipped. */
  readonly requiresIdle: boolean;
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
  /** Those of them where another program created a new file, which stays. */
  readonly recreated: readonly string[];
  /** Of the others: each was not changed. */
  readonly failures: readonly BranchlogError[];
  /** Of what was removed. */
  readonly sizeBytes: number;
  readonly packedBytes: number;
}

/** Throws `ERR_ARCHIVE_FAILED`, errors of recording, the signal's reason; what is packed stays. */
export async function removeSessions(
  kept: Archive,
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
    const sources = new Map(packed.map((file) => [file.path, file]));
    const changes = group.flatMap((session) => changesOf(session, sources));
    await kept.record({ id, kind, timeMs, keptUntilMs, changes });
    packedBytes += kept.packBytes(packed[0]?.pack ?? "");
    const leaving = group.map((session) => leavingOf(session, sources));
    const outcomes = await removeTogether(leaving, options, kept.ports);
    const gone = new Set<string>();
    for (const [path, outcome] of outcomes) {
      for (const file of outcome.removed) gone.add(file);
      if (outcome.removed.includes(path)) removed.push(path);
      if (outcome.error !== undefined) failures.push(outcome.error);
    }
    const left: FileChange[] = [];
    for (const change of changes) {
      if (change.kind !== "removed") continue;
      if (gone.has(change.file.path)) sizeBytes += change.file.sizeBytes;
      else left.push({ ...change, kind: "restored" });
    }
    // What was left in place was not removed.
    if (left.length > 0) await kept.record({ id, kind, timeMs, keptUntilMs, changes: left });
    isAnyGone ||= left.length < changes.length;
  }
  onProgress?.(sessions.length, sessions.length);
  const operation = isAnyGone ? id : null;
  const recreated = removed.filter((path) => statOf(path) !== undefined);
  return { operation, removed, recreated, failures, sizeBytes, packedBytes };
}

function filesOf({ path, attachments }: RemovableSession): readonly string[] {
  return [path, ...attachments];
}

function changesOf(
  { path, facts, attachments }: RemovableSession,
  sources: ReadonlyMap<string, PackedFile>,
): FileChange[] {
  const [first, ...others] = [path, ...attachments].map((of) => {
    return { kind: "removed", file: sourceOf(sources, of) } as const;
  });
  if (first === undefined) return [];
  return [facts === undefined ? first : { ...first, session: facts }, ...others];
}

function sourceOf(sources: ReadonlyMap<string, PackedFile>, path: string): PackedFile {
  const source = sources.get(path);
  if (source === undefined) throw new Error(`${path} is not in the pack`);
  return source;
}

function leavingOf(session: RemovableSession, sources: ReadonlyMap<string, PackedFile>): Leaving {
  const { path, isOwn } = session;
  const { derived = [checkpointPath(path, isOwn ? undefined : cachedCheckpoints())] } = session;
  return { path, isOwn, derived, files: filesOf(session).map((of) => sourceOf(sources, of)) };
}

export const keptThere = "Branchlog keeps there what was removed";

/** Those that can be removed, so many that a pack is not too long. */
function* groupsOf(
  sessions: readonly RemovableSession[],
  options: RemovalOptions,
  kept: Archive,
  nowMs: number,
  failures: BranchlogError[],
): Generator<RemovableSession[]> {
  const openElsewhere = options.force ? new Set<string>() : filesOpenElsewhere();
  let [group, bytes]: [RemovableSession[], number] = [[], 0];
  for (const session of sessions) {
    let size = 0;
    try {
      for (const path of filesOf(session)) {
        if (kept.holds(path)) throw removalFailed(path, keptThere);
        if (isOpenIn(openElsewhere, path)) throw busySession(path, "another process has it open");
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
function requireRemovable(
  path: string,
  { force, requiresIdle }: RemovalOptions,
  nowMs: number,
): number {
  const [stats, directory] = removing(path, () => [lstatSync(path), lstatSync(dirname(path))]);
  const userId = process.geteuid?.();
  const isOther = userId !== undefined && userId !== 0 && directory.uid !== userId;
  if (isOther || (userId !== undefined && userId !== 0 && stats.uid !== userId)) {
    throw removalFailed(path, "it belongs to another user");
  }
  if (!stats.isFile()) throw removalFailed(path, "it is not a regular file");
  const quietMs = nowMs - stats.mtimeMs;
  // A clock was wrong if it changed in the future.
  if (requiresIdle && !force && Math.abs(quietMs) < quietMsMin) {
    throw busySession(path, `it changed ${Math.max(0, Math.round(quietMs / 1000))} s ago`);
  }
  return stats.size;
}

/** Files that are removed together, all or none. */
interface Leaving {
  /** Of the first of them. */
  readonly path: string;
  readonly files: readonly KnownFile[];
  /** Whether its writers may use a lock of ours. */
  readonly isOwn: boolean;
  readonly derived: readonly string[];
}

interface Left {
  /** Paths of the files that are removed: all, unless the system refused one. */
  readonly removed: readonly string[];
  readonly error?: BranchlogError;
}

interface Leave {
  readonly leaving: Leaving;
  readonly held: HeldLock | null;
  readonly files: FilesAside;
}

/**
 * What became of each, by its path. All are set aside before it is asked once which files other
 * processes have open: then none can be opened by its path any more.
 */
export async function removeTogether(
  all: readonly Leaving[],
  { force }: Pick<RemovalOptions, "force">,
  ports: Ports,
): Promise<ReadonlyMap<string, Left>> {
  const left = new Map<string, Left>();
  for (let at = 0; at < all.length; at += asideSessionsMax) {
    const leaves: Leave[] = [];
    try {
      const before = force ? new Set<string>() : filesOpenElsewhere();
      for (const leaving of all.slice(at, at + asideSessionsMax)) {
        const { path } = leaving;
        try {
          leaves.push(beginLeave(leaving, before, force, ports));
        } catch (error) {
          left.set(path, { removed: [], error: asRemovalError(path, error) });
        }
      }
      const open = force ? new Set<string>() : filesOpenElsewhere();
      const catalog = new CatalogStore("auto");
      for (const leave of leaves) {
        left.set(leave.leaving.path, await finishLeave(leave, open, catalog));
      }
    } finally {
      for (const { leaving, files, held } of leaves) {
        files.putBack(changedMeanwhile(leaving.path));
        held?.releaseSync();
      }
    }
  }
  return left;
}

/** Only to skip a file in use; removed files are compared later. */
function requireUnused({ path, sizeBytes }: KnownFile, open: ReadonlySet<string>): void {
  if (isOpenIn(open, path)) throw busySession(path, "another process has it open");
  if (sizeBytes !== undefined && statOf(path)?.size !== sizeBytes) throw changedMeanwhile(path);
}

function beginLeave(
  leaving: Leaving,
  open: ReadonlySet<string>,
  force: boolean,
  ports: Ports,
): Leave {
  const { path, isOwn, files } = leaving;
  for (const file of files) requireUnused(file, open);
  const held = isOwn && !force ? lockForRemoval(path, ports) : null;
  try {
    descriptorPoolOf(nodeFileSystem).closePath(path);
    return { leaving, held, files: new FilesAside(ports, files) };
  } catch (error) {
    held?.releaseSync();
    throw error;
  }
}

async function finishLeave(
  { leaving, files }: Leave,
  open: ReadonlySet<string>,
  catalog: CatalogStore,
): Promise<Left> {
  const { path, isOwn, derived } = leaving;
  const { removed } = files;
  let error: BranchlogError | undefined;
  try {
    await files.requireKnown(open);
    files.remove();
  } catch (cause) {
    error = files.putBack(asRemovalError(path, cause));
  }
  if (removed.includes(path)) {
    await catalog.forget(path);
    if (isOwn) removeAbandonedTickets(path);
    removeFiles(derived);
    removeEmptyDirectories(path.replace(/\.jsonl$/, ""), removed);
    syncQuietly(dirname(path));
  }
  return error === undefined ? { removed } : { removed, error };
}

function asRemovalError(path: string, error: unknown): BranchlogError {
  return error instanceof BranchlogError ? error : removalFailed(path, error);
}

/**
 * Removes files again that are in packs, as `removeTogether`: only what still has the hash that it
 * had.
 */
export async function removeAgain(
  files: readonly { readonly file: PackedFile; readonly session?: ArchivedFacts }[],
  ports: Ports,
): Promise<ReadonlyMap<string, Left>> {
  const there = files.filter(({ file: { path } }) => statOf(path) !== undefined);
  const leaving = there.map(({ file, session }) => {
    const { path } = file;
    const isOfOurs = session === undefined || session.agent === "pi" || session.agent === "omp";
    const isOwn = isOfOurs && path.endsWith(".jsonl");
    const derived = isOwn ? sidecarsOf(path, undefined).removed : [];
    return { path, files: [file], isOwn, derived };
  });
  return removeTogether(leaving, { force: false }, ports);
}

/** Throws `ERR_SESSION_BUSY`, `ERR_DELETE_FAILED`. */
function lockForRemoval(path: string, ports: Ports): HeldLock {
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

function isTemporary(path: string): boolean {
  return temporaryForm.test(path) || path.endsWith(asideEnding);
}

/**
 * Regular files below a directory, in any order; of a file, itself. Links are ignored, and
 * temporary files of a killed process.
 */
export function filesBelow(path: string): string[] {
  if (isTemporary(path)) return [];
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory() !== true) return stats?.isFile() === true ? [path] : [];
  return readdirSync(path).flatMap((name) => filesBelow(join(path, name)));
}

function syncQuietly(directory: string): void {
  try {
    nodeFileSystem.syncDirectorySync(directory);
  } catch {
    // It is removed; a power failure may restore it.
  }
}

function removing<T>(path: string, step: () => T): T {
  try {
    return step();
  } catch (error) {
    throw removalFailed(path, error);
  }
}
