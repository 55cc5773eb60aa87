/**
 * Checks a path before its file is deleted: it has to be a session file, under its own name.
 * Nothing is written.
 */
import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import type { BigIntStats } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { BranchlogError } from "@branchlog/core";
import type { SessionHeader } from "@branchlog/core";
import { readSessionHeaderSync, transcriptErrorAt } from "@branchlog/core/internal";

/** A session file that may be deleted. */
export interface DeletableFile {
  /** Canonical, as locks and checkpoints have it. */
  readonly path: string;
  /** As stored: foreign files may lack any field but the id. */
  readonly header: SessionHeader;
  readonly stats: BigIntStats;
}

/**
 * The session file at a path. A symbolic link is none: neither it nor what it leads to is what the
 * caller is sure to mean.
 * @throws BranchlogError `ERR_LOG_MISSING`, `ERR_LOG_UNREADABLE`, `ERR_NOT_A_SESSION`.
 */
export function deletableFile(path: string): DeletableFile {
  const named = resolve(path);
  const stats = lookAt(named);
  if (stats.isSymbolicLink()) throw isLink(named);
  if (!stats.isFile()) {
    const what = stats.isDirectory() ? "a directory" : "not a regular file";
    throw refused("ERR_LOG_UNREADABLE", named, `${named} is ${what}, not a session file.`);
  }
  const canonical = join(realpathSync(dirname(named)), basename(named));
  const header = headerOf(canonical);
  if (header !== undefined) return { path: canonical, header, stats };
  const foreign = transcriptErrorAt(canonical);
  if (foreign !== undefined) throw foreign;
  const message = `${named} has no readable session header, so it may be anything.`;
  throw refused("ERR_NOT_A_SESSION", named, message);
}

/** Whether the file is still the one that was checked. Throws what the system throws. */
export function isStillAt({ path, stats }: DeletableFile): boolean {
  const now = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return now !== undefined && now.dev === stats.dev && now.ino === stats.ino;
}

function lookAt(path: string): BigIntStats {
  try {
    return lstatSync(path, { bigint: true });
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") {
      throw new BranchlogError("ERR_LOG_MISSING", `There is no session file at ${path}.`, {
        path,
        cause,
      });
    }
    throw unreadable(path, cause);
  }
}

function headerOf(path: string): SessionHeader | undefined {
  try {
    return readSessionHeaderSync(path);
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

function isLink(path: string): BranchlogError {
  const message =
    `${path} is a symbolic link to ${readlinkSync(path)}. Delete that by its own path, or remove ` +
    "the link yourself.";
  return refused("ERR_NOT_A_SESSION", path, message);
}

function unreadable(path: string, cause: unknown): BranchlogError {
  const message = `${path} cannot be read (${String(cause)}). Check its permissions.`;
  return new BranchlogError("ERR_LOG_UNREADABLE", message, { path, cause });
}

function refused(
  code: "ERR_LOG_UNREADABLE" | "ERR_NOT_A_SESSION",
  path: string,
  message: string,
): BranchlogError {
  return new BranchlogError(code, `${message} It was left alone.`, { path });
}
