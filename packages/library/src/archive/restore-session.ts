/** Restores archived sessions. */
import { requireOptions } from "@branchlog/core/files";
import { statOf } from "./file-state.ts";
import { Archive, dataDirectoryNames } from "./archive-directory.ts";
import type { DataDirectoryOptions } from "./archive-directory.ts";
import { isRestored, requireArchived } from "./archived-sessions.ts";
import type { ArchivedSession } from "./archived-sessions.ts";
import { recoverAside } from "./recover-aside.ts";
import { readPacked } from "./pack.ts";
import { placeTaken } from "./removal-errors.ts";
import { copyAdvice, restoreFiles } from "./restore-file.ts";

export interface RestoreOptions extends DataDirectoryOptions {
  /**
   * Where a copy of the session's file goes; it stays archived then. Default: to its path, with the
   * files that belong to it.
   */
  readonly output?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface RestoreResult {
  readonly session: ArchivedSession;
  /** Where its file is now. */
  readonly path: string;
  /** Of this operation, to undo it; null for a copy. */
  readonly operation: string | null;
}

/**
 * Restores an archived session with its bytes, permissions and times.
 * @param word As of `findArchived`.
 * @throws BranchlogError `ERR_SESSION_NOT_FOUND`, `ERR_SESSION_AMBIGUOUS`; `ERR_LOG_EXISTS`,
 * `ERR_ARCHIVE_DAMAGED`, `ERR_CREATE_FAILED`: nothing was restored.
 * @example
 * const { path } = await restoreSession("Fix the login test");
 */
export async function restoreSession(
  word: string,
  options: RestoreOptions = {},
): Promise<RestoreResult> {
  const restoreNames = { ...dataDirectoryNames, output: true, signal: true } as const;
  const { output, signal, ...place } = requireOptions<RestoreOptions>(options, restoreNames);
  const kept = new Archive(place);
  await recoverAside(kept);
  const { session, files } = await requireArchived(word, kept);
  const changes = files.flatMap((change) =>
    "file" in change ? [{ ...change, kind: "restored" } as const] : [],
  );
  const [first] = changes;
  if (first === undefined) throw new Error("an archived session without a file");
  // Before anything is written, all of it is checked, and every path is free.
  const isCopy = output !== undefined;
  const wanted = (isCopy ? [first] : changes).map(({ file }) => file);
  const taken = wanted.find((file) => {
    const path = output ?? file.path;
    return statOf(path) !== undefined && (isCopy || !isRestored(file));
  });
  if (taken !== undefined) throw placeTaken(output ?? taken.path, copyAdvice(taken.path));
  await readPacked(kept, wanted, undefined, signal);
  if (isCopy) {
    await restoreFiles(kept, [first.file], () => output, signal);
    return { session, path: output, operation: null };
  }
  // The session comes last: with it, all is restored.
  const attachments = changes.slice(1).map(({ file }) => file);
  const missing = attachments.filter((file) => !isRestored(file));
  await restoreFiles(kept, missing, undefined, signal);
  await restoreFiles(kept, [first.file], undefined, signal);
  const operation = kept.ports.ids.sessionId();
  const timeMs = kept.ports.clock.now();
  await kept.record({ id: operation, kind: "restore", timeMs, changes });
  return { session, path: session.path, operation };
}
