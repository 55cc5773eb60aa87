/** What a word of a command line means where a session file is wanted: a path, or a session. */
import { lstatSync } from "node:fs";
import { BranchlogError, isBranchlogError, resolveSession } from "@branchlog/core";

/**
 * The word itself if it looks like a path, or something has that path; else the path of the session
 * with that name or id among those that agents keep.
 * @throws BranchlogError `ERR_SESSION_NOT_FOUND`, `ERR_SESSION_AMBIGUOUS`.
 */
export async function sessionPath(word: string, signal: AbortSignal): Promise<string> {
  if (/[/\\]|\.(?:jsonl|ya?ml)$/.test(word) || isThere(word)) return word;
  try {
    return (await resolveSession(word, undefined, { signal })).path;
  } catch (error) {
    if (!isBranchlogError(error, "ERR_SESSION_NOT_FOUND")) throw error;
    const message =
      `There is no file ${word} here, and no session that agents keep has this name, or an id ` +
      "that begins so. branchlog list shows them.";
    throw new BranchlogError(error.code, message, { id: word, cause: error });
  }
}

function isThere(path: string): boolean {
  try {
    // A link that leads nowhere is there as well.
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
