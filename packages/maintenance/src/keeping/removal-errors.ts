/** Why a file was left, or where it is: every message says what to do next. */
import { BranchlogError } from "@branchlog/core";

export function busySession(path: string, why: string, cause?: unknown): BranchlogError {
  const message = `${path} was left alone: ${why}. Close that program, or use --force.`;
  return new BranchlogError("ERR_SESSION_BUSY", message, { path, cause });
}

export function removalFailed(path: string, cause: unknown): BranchlogError {
  const message =
    `${path} could not be removed (${reasonOf(cause)}); it was left where it is. Check the ` +
    "permissions of its directory.";
  return new BranchlogError("ERR_DELETE_FAILED", message, { path, cause });
}

export function changedMeanwhile(path: string, cause?: unknown): BranchlogError {
  const message =
    `${path} changed while it was about to be removed: another program writes to it. It was left ` +
    "where it is. Close that program, and try again.";
  return new BranchlogError("ERR_LOG_CHANGED", message, { path, cause });
}

/** A file that could not get its name back, since another program made a file of that name. */
export function leftAside(path: string, aside: string, cause: BranchlogError): BranchlogError {
  const message =
    `${path} changed while it was about to be removed, and another program made a new file of ` +
    `that name. Nothing is lost: what was there is ${aside}, and ${path} is the new file. Close ` +
    "that program, and compare both with branchlog diff.";
  return new BranchlogError("ERR_LOG_CHANGED", message, { path, cause });
}

/** A file that could not get its name back, since the system refused that. */
export function notPutBack(path: string, aside: string, cause: unknown): BranchlogError {
  const message =
    `${path} could not be removed, and not be put back (${reasonOf(cause)}): it is ${aside}. ` +
    "Check the disk and the permissions; the next branchlog undo, restore, archive or delete " +
    "puts it back.";
  return new BranchlogError("ERR_DELETE_FAILED", message, { path, cause });
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
