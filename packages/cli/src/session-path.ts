/** Finds the session that an argument names: by path, name or id, or as the latest one. */
import { lstatSync } from "node:fs";
import { BranchlogError, isBranchlogError } from "@branchlog/core";
import { resolveSession } from "@branchlog/library";
import type { CommandIo } from "./command-io.ts";
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
    const { archivedPath } = await import("./archived-session.ts");
    const archived = await archivedPath(word);
    const message =
      archived !== undefined
        ? `${archived} is archived. branchlog restore ${word} brings it back.`
        : `There is no file ${word} here, and no session that agents keep has this name, or an ` +
          "id that begins so. branchlog list shows them, branchlog ops what was deleted.";
    throw new BranchlogError(error.code, message, { id: word, cause: error });
  }
}

/** As {@link sessionPath}; of a session that is archived, a copy that goes with this process. */
export async function readablePath(
  word: string,
  io: Pick<CommandIo, "signal"> & Partial<CommandIo>,
): Promise<{ readonly path: string; readonly isCopy: boolean }> {
  try {
    const path = await sessionPath(word, io.signal);
    if (isThere(path)) return { path, isCopy: false };
    const copy = await (await import("./archived-session.ts")).archivedCopy(word, io);
    return { path: copy ?? path, isCopy: copy !== undefined };
  } catch (error) {
    if (!isBranchlogError(error, "ERR_SESSION_NOT_FOUND")) throw error;
    const copy = await (await import("./archived-session.ts")).archivedCopy(word, io);
    if (copy === undefined) throw error;
    return { path: copy, isCopy: true };
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
