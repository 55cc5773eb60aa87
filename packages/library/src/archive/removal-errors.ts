/** Why a file was left, or where it is. Every message names the command that helps. */
import { BranchlogError } from "@branchlog/core";
import { reasonOf } from "@branchlog/core/files";
import { agentNamed, fileOfAddress } from "@branchlog/core/rows";
import { sharesFiles } from "../catalog/agent-files.ts";

/** Throws `ERR_READ_ONLY` for a session that has no file of its own, or shares some. */
export function requireOwnFiles(path: string, agent: string | undefined): void {
  if (!sharesFiles(path)) return;
  const { product = "its agent" } = agentNamed(agent ?? "") ?? {};
  const message =
    fileOfAddress(path).id === undefined
      ? `${path} holds several sessions of ${product}, or a part of one; it was not removed. ` +
        `Remove them with ${product}.`
      : `${path} is stored by ${product} together with other sessions; it was not removed. ` +
        `branchlog fork ${path} -o NEW writes a copy; then remove it with ${product}.`;
  throw new BranchlogError("ERR_READ_ONLY", message, { path });
}

export function busySession(path: string, why: string, cause?: unknown): BranchlogError {
  const message =
    `${path} was not changed: ${why}. Close that program and repeat the command; branchlog ` +
    "archive, delete, prune and mv also take --force.";
  return new BranchlogError("ERR_SESSION_BUSY", message, { path, cause });
}

export function removalFailed(path: string, cause: unknown): BranchlogError {
  const message =
    `${path} could not be removed or moved (${reasonOf(cause)}); it was left in place. Check ` +
    "the permissions of its directory, and repeat the command; branchlog ops lists what was done.";
  return new BranchlogError("ERR_DELETE_FAILED", message, { path, cause });
}

export function changedMeanwhile(path: string, cause?: unknown): BranchlogError {
  const message =
    `${path} changed while it was about to be removed or moved: another program writes to it. It ` +
    "was left in place. Close that program, and repeat the command; branchlog ops lists what " +
    "was done.";
  return new BranchlogError("ERR_LOG_CHANGED", message, { path, cause });
}

/** A file whose name another program gave to a new one meanwhile. */
export function leftAside(path: string, aside: string, cause: unknown): BranchlogError {
  const message =
    `${path} changed while it was about to be removed or moved, and has a new file in its place ` +
    `now, which was not changed. The old file is ${aside}: branchlog entries shows it. Close ` +
    "the program that writes there, and rename one of the two.";
  return new BranchlogError("ERR_LOG_CHANGED", message, { path, cause });
}

/** A file that the system did not let have its name back. */
export function notPutBack(path: string, aside: string, cause: unknown): BranchlogError {
  const message =
    `${path} could neither be removed or moved, nor be put back (${reasonOf(cause)}): it is ` +
    `${aside}. Check the disk and the permissions; branchlog restore, undo, archive and delete ` +
    "put it back.";
  return new BranchlogError("ERR_DELETE_FAILED", message, { path, cause });
}

export function placeTaken(path: string, advice: string, cause?: unknown): BranchlogError {
  const message = `${path} already exists; it was not changed. ${advice}`;
  return new BranchlogError("ERR_LOG_EXISTS", message, { path, cause });
}
