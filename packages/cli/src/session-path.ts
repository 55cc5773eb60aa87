/** Finds the session that an argument names: by path, name or id, or as the latest one. */
import { lstatSync } from "node:fs";
import { BranchlogError, isBranchlogError, resolveSession } from "@branchlog/core";
import { UsageError } from "./failure.ts";
import { hasPathForm, isAddress } from "./path-form.ts";

/**
 * The word itself if it has the form of a path, or if that path exists; else the path of the
 * session with that name or id in the agents' directories, or of the latest one for `@latest`. Of
 * several, those of the working directory come first.
 * @throws BranchlogError `ERR_SESSION_NOT_FOUND`, `ERR_SESSION_AMBIGUOUS`.
 */
export async function sessionPath(word: string, signal: AbortSignal): Promise<string> {
  if (word === "") throw new UsageError("The session is an empty text: give its path, name or id.");
  requireNoAddress(word);
  if (hasPathForm(word) || isThere(word)) return word;
  try {
    return (await resolveSession(word, undefined, { signal, cwd: process.cwd() })).path;
  } catch (error) {
    if (!isBranchlogError(error, "ERR_SESSION_NOT_FOUND")) throw error;
    const message =
      `There is no file ${word} here, and no session that agents keep has this name, or an id ` +
      "that begins so. branchlog list shows them.";
    throw new BranchlogError(error.code, message, { id: word, cause: error });
  }
}

/** Throws `ERR_INVALID_ARGUMENT`. */
export function requireNoAddress(word: string): void {
  if (!isAddress(word)) return;
  const message =
    "This command needs a file, not the address of a store. Make one with branchlog store pull " +
    "ADDRESS -o FILE.";
  throw new BranchlogError("ERR_INVALID_ARGUMENT", message);
}

function isThere(path: string): boolean {
  try {
    // A dangling symbolic link counts as existing.
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
