/** What a word of a command line means where a session file is wanted: a path, or a session. */
import { lstatSync } from "node:fs";
import { isBranchlogError, resolveSession } from "@branchlog/core";

/**
 * The word itself if it looks like a path, or something has that path; else the path of the session
 * with that name or id among those that agents keep. The word again if there is none.
 * @throws BranchlogError `ERR_SESSION_AMBIGUOUS`.
 */
export async function sessionPath(word: string, signal: AbortSignal): Promise<string> {
  if (/[/\\]|\.jsonl$/.test(word) || isThere(word)) return word;
  try {
    return (await resolveSession(word, undefined, { signal })).path;
  } catch (error) {
    if (isBranchlogError(error, "ERR_SESSION_NOT_FOUND")) return word;
    throw error;
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
