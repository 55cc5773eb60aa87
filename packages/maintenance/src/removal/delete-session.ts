/**
 * Deletes a session file with its sidecars, unless a writer may have it open: it is kept for 30
 * days, or removed for good.
 */
import { lstatSync, readlinkSync, realpathSync, unlinkSync } from "node:fs";
import type { BigIntStats } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { OptionNames } from "@branchlog/streaming";
import { BranchlogError } from "@branchlog/core";
import type { SessionHeader } from "@branchlog/core";
import type { EngineOptions } from "@branchlog/core/types";
import {
  CatalogStore,
  descriptorPoolOf,
  errorCodeOf,
  nodeFileSystem,
  removeAbandonedTickets,
  requireOptions,
  requireText,
  readSessionHeaderSync,
  transcriptErrorAt,
} from "@branchlog/core/internal";
import { expireTrash } from "../keeping/archive-sessions.ts";
import { KeptFiles, keepingNames } from "../keeping/kept-files.ts";
import type { KeepingOptions } from "../keeping/kept-files.ts";
import { lockForRemoval, removalFailed, removeSessions } from "../keeping/remove-sessions.ts";
import { trashMs } from "../limits.ts";
import { removeFiles, sidecarsOf } from "./sidecars.ts";

export interface DeleteOptions extends KeepingOptions, Pick<EngineOptions, "checkpointDir"> {
  /** Also while another process holds its lock, or omp its own. Default false. */
  readonly force?: boolean;
  /** Removes it for good, instead of keeping it for 30 days. Default false. */
  readonly permanent?: boolean;
}

const deleteNames: OptionNames<DeleteOptions> = {
  checkpointDir: true,
  ...keepingNames,
  force: true,
  permanent: true,
};

export interface DeleteResult {
  /** Canonical path of the session file that was there. */
  readonly path: string;
  readonly id: string;
  /** `trash`: it can be taken back for 30 days. `unlinked`: it is gone. */
  readonly how: "trash" | "unlinked";
  /** To undo it; null if it is gone. */
  readonly operation: string | null;
  /** Derived files that were removed with it. */
  readonly removed: readonly string[];
  readonly kept: readonly string[];
}

/**
 * Deletes a session file. It is kept for 30 days, for `undoOperation`, unless `permanent`.
 * Checkpoints and temporary files go as well; originals, salvage files and artifacts stay. Symbolic
 * links are refused. Open sessions see `ERR_LOG_GONE`.
 * @throws BranchlogError `ERR_SESSION_BUSY`, `ERR_LOG_MISSING`, `ERR_LOG_UNREADABLE`,
 * `ERR_NOT_A_SESSION`, `ERR_LOG_CHANGED`, `ERR_DELETE_FAILED`, `ERR_ARCHIVE_FAILED`,
 * `ERR_INVALID_ARGUMENT`; the session was kept.
 * @example
 * const { how, kept } = await deleteSession("old.jsonl");
 */
export async function deleteSession(
  path: string,
  options: DeleteOptions = {},
): Promise<DeleteResult> {
  const {
    permanent = false,
    force = false,
    checkpointDir,
    ...place
  } = requireOptions(options, deleteNames);
  const file = deletableFile(requireText("The path", path));
  const { removed, kept } = sidecarsOf(file.path, checkpointDir);
  const shared = { path: file.path, id: file.header.id, kept };
  const files = new KeptFiles(place);
  if (files.holds(file.path)) {
    throw removalFailed(file.path, "Branchlog keeps there what was removed");
  }
  if (permanent) {
    await unlinkSession(file, force, files);
    return { ...shared, how: "unlinked", operation: null, removed: removeFiles(removed) };
  }
  await expireTrash(files);
  const session = { path: file.path, isOwn: true, belonging: [], derived: removed };
  const { operation, failures } = await removeSessions(files, [session], {
    kind: "delete",
    force,
    isQuiet: false,
    keptUntilMs: files.ports.clock.now() + trashMs,
  });
  const [failure] = failures;
  if (failure !== undefined) throw failure;
  return { ...shared, how: "trash", operation, removed };
}

async function unlinkSession(
  file: DeletableFile,
  force: boolean,
  { ports }: KeptFiles,
): Promise<void> {
  const { path } = file;
  const held = force ? null : lockForRemoval(path, ports);
  try {
    descriptorPoolOf(nodeFileSystem).closePath(path);
    if (!isStillAt(file)) throw replaced(path);
    try {
      unlinkSync(path);
    } catch (error) {
      throw removalFailed(path, error);
    }
    await new CatalogStore("auto").forget(path);
    removeAbandonedTickets(path);
    try {
      nodeFileSystem.syncDirectorySync(dirname(path));
    } catch {
      // It is deleted; a loss of power may bring it back.
    }
  } finally {
    held?.releaseSync();
  }
}

function replaced(path: string): BranchlogError {
  const message = `${path} was replaced or removed by another program meanwhile. Look at it again.`;
  return new BranchlogError("ERR_LOG_CHANGED", message, { path });
}

interface DeletableFile {
  readonly path: string;
  /** As stored: foreign files may lack any field but the id. */
  readonly header: SessionHeader;
  readonly stats: BigIntStats;
}

/** Refuses a symbolic link: what to delete would be ambiguous. */
function deletableFile(path: string): DeletableFile {
  const named = resolve(path);
  const stats = readable(named, () => lstatSync(named, { bigint: true }));
  if (stats.isSymbolicLink()) {
    const message = `${named} is a symbolic link to ${readlinkSync(named)}.`;
    const advice = "Delete that by its own path, or remove the link yourself.";
    throw refused("ERR_NOT_A_SESSION", named, `${message} ${advice}`);
  }
  if (!stats.isFile()) {
    const what = stats.isDirectory() ? "a directory" : "not a regular file";
    throw refused("ERR_LOG_UNREADABLE", named, `${named} is ${what}, not a session file.`);
  }
  const canonical = join(realpathSync(dirname(named)), basename(named));
  const header = readable(canonical, () => readSessionHeaderSync(canonical));
  if (header !== undefined) return { path: canonical, header, stats };
  const foreign = transcriptErrorAt(canonical);
  if (foreign !== undefined) throw foreign;
  const message = `${named} has no readable session header, so it may be anything.`;
  throw refused("ERR_NOT_A_SESSION", named, message);
}

function isStillAt({ path, stats }: DeletableFile): boolean {
  const now = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return now !== undefined && now.dev === stats.dev && now.ino === stats.ino;
}

function readable<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (errorCodeOf(cause) === "ENOENT") {
      const message = `There is no session file at ${path}.`;
      throw new BranchlogError("ERR_LOG_MISSING", message, { path, cause });
    }
    const message = `${path} cannot be read (${String(cause)}). Check its permissions.`;
    throw new BranchlogError("ERR_LOG_UNREADABLE", message, { path, cause });
  }
}

function refused(
  code: "ERR_LOG_UNREADABLE" | "ERR_NOT_A_SESSION",
  path: string,
  message: string,
): BranchlogError {
  return new BranchlogError(code, `${message} It was left alone.`, { path });
}
