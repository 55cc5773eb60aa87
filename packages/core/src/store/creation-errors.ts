/** The errors of creating a log: what happened to which file, and what to do. */
import { BranchlogError } from "../errors.ts";

/** What to do about an error of the system, by its code. */
const remedies: Readonly<Record<string, string>> = {
  EACCES: "Check the permissions of its directory, or choose another place.",
  EDQUOT: "Free some of your quota, then create it again.",
  EEXIST: "A part of its path is a file, not a directory: choose another path.",
  EISDIR: "Give the path of a file, not of a directory.",
  ERR_INVALID_ARG_VALUE: "A path holds no null character: choose another one.",
  ELOOP: "Its path leads through symbolic links in a circle: choose another path.",
  EMFILE: "Too many files are open in this process: close some, then create it again.",
  ENAMETOOLONG: "Choose a shorter path: names have 255 bytes at most.",
  ENFILE: "Too many files are open on this machine: close some, then create it again.",
  ENOENT: "Its directory is gone, or the name is empty: choose another path.",
  ENOSPC: "Free space on the disk, then create it again.",
  ENOTDIR: "A part of its path is a file, not a directory: choose another path.",
  EPERM: "Check the permissions of its directory, or choose another place.",
  EROFS: "The file system is read-only: choose another place.",
};

/** `ERR_LOG_EXISTS`: the name is taken. */
export function logExists(path: string, cause: unknown): BranchlogError {
  const message =
    `There is something at ${path} already; it was left as it is. ` +
    "Open it, or choose another name.";
  return new BranchlogError("ERR_LOG_EXISTS", message, { path, cause });
}

/** `ERR_CREATE_FAILED`: nothing is under the name. */
export function creationFailed(path: string, cause: unknown): BranchlogError {
  const message = `The session file ${path} was not created (${reasonOf(cause)}). `;
  return new BranchlogError("ERR_CREATE_FAILED", message + remedyFor(cause), { path, cause });
}

/** `ERR_CREATE_FAILED`: there is no directory for sessions. */
export function directoryFailed(path: string, cause: unknown): BranchlogError {
  const message = `The directory ${path} for sessions was not made (${reasonOf(cause)}). `;
  return new BranchlogError("ERR_CREATE_FAILED", message + remedyFor(cause), { path, cause });
}

function remedyFor(cause: unknown): string {
  return remedies[errorCodeOf(cause)] ?? "Remove the cause, then create it again.";
}

/** `ERR_CREATE_FAILED`: the log is there, but a power failure could take its name away. */
export function nameNotDurable(path: string, cause: unknown): BranchlogError {
  const message =
    `The session file ${path} was created and is whole, but its directory could not be synced ` +
    `(${reasonOf(cause)}), so that a power failure may lose it. Open it to go on.`;
  return new BranchlogError("ERR_CREATE_FAILED", message, { path, cause });
}

/** The code of a system error; "" for anything else. */
export function errorCodeOf(error: unknown): string {
  if (!(error instanceof Error) || !("code" in error)) return "";
  return typeof error.code === "string" ? error.code : "";
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
