/** Deletes a session file with its sidecars, unless a writer may have it open. */
import { execFile } from "node:child_process";
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  readlinkSync,
  realpathSync,
  unlinkSync,
} from "node:fs";
import type { BigIntStats } from "node:fs";
import { basename, delimiter, dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { runSync } from "@branchlog/streaming";
import type { OptionNames } from "@branchlog/streaming";
import { BranchlogError, isBranchlogError } from "@branchlog/core";
import type { SessionHeader } from "@branchlog/core";
import type { EngineOptions, Ports } from "@branchlog/core/types";
import {
  CatalogStore,
  acquireLock,
  descriptorPoolOf,
  engineSettings,
  errorCodeOf,
  nodeFileSystem,
  removeAbandonedTickets,
  requireOptions,
  requireText,
  readSessionHeaderSync,
  transcriptErrorAt,
} from "@branchlog/core/internal";
import type { HeldLock } from "@branchlog/core/internal";
import { trashMsMax } from "../limits.ts";
import { heldByOmp, removeFiles, sidecarsOf } from "./sidecars.ts";

export interface DeleteOptions extends Pick<EngineOptions, "checkpointDir"> {
  /** Also while another process holds its lock, or omp its own. Default false. */
  readonly force?: boolean;
  readonly ports?: Partial<Pick<Ports, "clock" | "lock">>;
}

const deleteNames: OptionNames<DeleteOptions> = { checkpointDir: true, force: true, ports: true };

export interface DeleteResult {
  /** Canonical path of the session file that was there. */
  readonly path: string;
  readonly id: string;
  /** `trash`: it can be taken back from there. `unlinked`: it is gone. */
  readonly how: "trash" | "unlinked";
  readonly removed: readonly string[];
  readonly kept: readonly string[];
}

/**
 * Deletes a session file: to the trash if there is a command `trash`, else for good. Checkpoints
 * and temporary files go as well; originals, salvage files and artifacts stay. Symbolic links are
 * refused. Open sessions see `ERR_LOG_GONE`.
 * @throws BranchlogError `ERR_SESSION_BUSY`, `ERR_LOG_MISSING`, `ERR_LOG_UNREADABLE`,
 * `ERR_NOT_A_SESSION`, `ERR_LOG_CHANGED`, `ERR_DELETE_FAILED`, `ERR_INVALID_ARGUMENT`; the session
 * was kept.
 * @example
 * const { how, kept } = await deleteSession("old.jsonl");
 */
export async function deleteSession(
  path: string,
  options: DeleteOptions = {},
): Promise<DeleteResult> {
  const { ports } = engineSettings({ ports: requireOptions(options, deleteNames).ports ?? {} });
  const file = deletableFile(requireText("The path", path));
  const held = options.force === true ? null : lockOf(file.path, ports);
  try {
    descriptorPoolOf(nodeFileSystem).closePath(file.path);
    const { removed, kept } = sidecarsOf(file.path, options.checkpointDir);
    if (!isStillAt(file)) throw replaced(file.path);
    const how = (await moveToTrash(file.path)) ? "trash" : unlink(file);
    await new CatalogStore("auto").forget(file.path);
    removeAbandonedTickets(file.path);
    return { path: file.path, id: file.header.id, how, removed: removeFiles(removed), kept };
  } finally {
    held?.releaseSync();
  }
}

function lockOf(path: string, ports: Ports): HeldLock {
  const lock = heldByOmp(path, ports.clock.now());
  if (lock !== undefined) throw busy(path, `${lock} says that omp is writing to it`);
  try {
    return runSync(acquireLock(path, ports, 0));
  } catch (error) {
    if (!isBranchlogError(error, "ERR_LOCK_TIMEOUT")) throw deleteFailed(path, error);
    throw busy(path, "another process is appending to it", error);
  }
}

/** Whether there is a command `trash`, which may fail all the same. */
export function hasTrash(): boolean {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const endings = process.platform === "win32" ? ["", ".exe", ".cmd"] : [""];
  return folders.some((folder) =>
    endings.some((ending) => isExecutable(join(folder, `trash${ending}`))),
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Only if there is a command `trash`. Throws nothing. */
async function moveToTrash(path: string): Promise<boolean> {
  try {
    // An absolute path cannot be taken for an option.
    await promisify(execFile)("trash", [path], { timeout: trashMsMax });
    return !existsSync(path);
  } catch {
    return false;
  }
}

function unlink(file: DeletableFile): "unlinked" {
  const { path } = file;
  // The trash may have taken a while.
  if (!isStillAt(file)) throw replaced(path);
  try {
    unlinkSync(path);
  } catch (error) {
    throw deleteFailed(path, error);
  }
  try {
    nodeFileSystem.syncDirectorySync(dirname(path));
  } catch {
    // It is deleted; a loss of power may bring it back.
  }
  return "unlinked";
}

function busy(path: string, why: string, cause?: unknown): BranchlogError {
  const message = `${path} was not deleted: ${why}. Close that program, or force it.`;
  return new BranchlogError("ERR_SESSION_BUSY", message, { path, cause });
}

function replaced(path: string): BranchlogError {
  const message = `${path} was replaced or removed by another program meanwhile. Look at it again.`;
  return new BranchlogError("ERR_LOG_CHANGED", message, { path });
}

function deleteFailed(path: string, cause: unknown): BranchlogError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `${path} could not be deleted (${reason}). Check the permissions.`;
  return new BranchlogError("ERR_DELETE_FAILED", message, { path, cause });
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
