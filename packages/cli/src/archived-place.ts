/** Archived sessions named by an argument. */
import { isBranchlogError } from "@branchlog/core";
import type { StoredSession } from "@branchlog/core";
import { archiveStore, findArchived } from "@branchlog/library";
import type { ArchivedSession } from "@branchlog/library";
import type { CommandIo } from "./command-io.ts";
import { oneLine } from "./text/clean-text.ts";

/** Prints how to restore it. Undefined: no archived session has this name. */
export async function archivedPlace(
  word: string,
  { err, isJson = false }: Partial<Pick<CommandIo, "err" | "isJson">>,
): Promise<StoredSession | undefined> {
  const archived = await archivedAs(word);
  if (archived === undefined) return undefined;
  const shown = oneLine(archived.path, 400);
  if (!isJson) await err?.write(`archived: branchlog restore restores ${shown}\n`);
  return { store: archiveStore(), id: archived.path };
}

export async function archivedAs(word: string): Promise<ArchivedSession | undefined> {
  try {
    return await findArchived(word);
  } catch (error) {
    if (isBranchlogError(error, "ERR_SESSION_NOT_FOUND")) return undefined;
    throw error;
  }
}
