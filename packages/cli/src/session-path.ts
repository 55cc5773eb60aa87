/** Finds the session that an argument names: by path, name or id, or as the latest one. */
import { lstatSync } from "node:fs";
import { BranchlogError, isBranchlogError } from "@branchlog/core";
import type { StoredSession } from "@branchlog/core";
import { fileOfAddress } from "@branchlog/core/rows";
import { resolveSession } from "@branchlog/library";
import type { CommandIo } from "./command-io.ts";
import { UsageError } from "./failure.ts";
import { hasPathForm, isAddress } from "./path-form.ts";

/**
 * The argument itself if it has the form of a path, or if that path exists; else the path of the
 * session with that name or id in the agents' directories, or of the latest one for `@latest`. Of
 * several, those of the working directory come first.
 * @throws BranchlogError `ERR_SESSION_NOT_FOUND`, `ERR_SESSION_AMBIGUOUS`.
 */
export async function sessionPath(word: string, signal: AbortSignal): Promise<string> {
  if (word === "") throw new UsageError("The session argument is empty: give a path, name or id.");
  requireNoAddress(word);
  if (hasPathForm(word) || isThere(word)) return word;
  try {
    return (await resolveSession(word, undefined, { signal, cwd: process.cwd() })).path;
  } catch (error) {
    if (!isBranchlogError(error, "ERR_SESSION_NOT_FOUND")) throw error;
    const subagent = await subagentPath(word, signal);
    if (subagent !== undefined) return subagent;
    const { archivedAs } = await import("./archived-place.ts");
    const archived = await archivedAs(word);
    const message =
      archived !== undefined
        ? `${archived.path} is archived. branchlog restore ${word} restores it.`
        : `There is no file ${word} here, and no session of an agent has this name or an id ` +
          "that starts with it. branchlog list shows them, branchlog ops what was deleted.";
    throw new BranchlogError(error.code, message, { id: word, cause: error });
  }
}

/** Ids of subagents are in lists with `--all`. */
async function subagentPath(word: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    return (await resolveSession(word, undefined, { signal, artifacts: true })).path;
  } catch (error) {
    if (!isBranchlogError(error, "ERR_SESSION_NOT_FOUND")) throw error;
    return undefined;
  }
}

/** As {@link sessionPath}, or where the archived session is that the word names. */
export async function readablePlace(
  word: string,
  io: Pick<CommandIo, "signal"> & Partial<CommandIo>,
): Promise<string | StoredSession> {
  const { archivedPlace } = await import("./archived-place.ts");
  try {
    const path = await sessionPath(word, io.signal);
    return isThere(path) ? path : ((await archivedPlace(word, io)) ?? path);
  } catch (error) {
    if (!isBranchlogError(error, "ERR_SESSION_NOT_FOUND")) throw error;
    const place = await archivedPlace(word, io);
    if (place === undefined) throw error;
    return place;
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
    return lstatSync(fileOfAddress(path).file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
