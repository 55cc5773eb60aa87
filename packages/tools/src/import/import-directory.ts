/**
 * Imports all sessions of other agents below a directory, one session file each. Can be interrupted
 * and restarted: imported sessions are kept and skipped.
 */
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { resolve } from "node:path";
import { findSessions } from "@branchlog/library";
import { BranchlogError } from "@branchlog/core";
import type { ListedSession } from "@branchlog/library";
import { isBranchlogError } from "@branchlog/core/errors";
import { documentFormatOf } from "@branchlog/core/rows";
import { requireText } from "@branchlog/core/files";
import { sessionPath } from "@branchlog/core/engine";
import { importSession, importedId } from "./import-session.ts";
import type { ImportReport } from "./import-session.ts";

export interface DirectoryImportOptions {
  /** Ends the import with its reason; the session that is being imported is not created. */
  readonly signal?: AbortSignal | undefined;
}

type Outcome =
  | { readonly kind: "imported"; readonly report: ImportReport }
  /** Already imported. */
  | { readonly kind: "exists"; readonly path: string }
  /** Nothing was created. */
  | { readonly kind: "failed"; readonly error: BranchlogError };

/** The result for one session, and the progress. */
export type DirectoryImportStep = Outcome & {
  readonly source: string;
  readonly done: number;
  readonly total: number;
};

/**
 * Imports the sessions of other agents below a directory, those of subagents among them, the
 * latest first. A session is named by the time at which it began and its id, as pi names sessions;
 * one that has grown since it was imported is not imported again.
 * @param target The directory of the new sessions; created if it is missing.
 * @throws What `findSessions` throws about the place; the signal's reason.
 * @example
 * for await (const { kind, source } of importDirectory("transcripts", "sessions")) {
 *   console.log(kind, source);
 * }
 */
export async function* importDirectory(
  place: string,
  target: string,
  { signal }: DirectoryImportOptions = {},
): AsyncGenerator<DirectoryImportStep, void, undefined> {
  const directory = resolve(requireText("The target", target));
  const options = { artifacts: true, catalog: "read", signal } as const;
  const { sessions, unlisted } = await findSessions([place], options);
  const foreign = sessions.filter(({ transcript }) => transcript !== undefined);
  await mkdir(directory, { recursive: true });
  const errors: BranchlogError[] = [];
  for (const path of unlisted) errors.push(...(await damageOf(path)));
  const total = foreign.length + errors.length;
  const imported = new Map<string, string>();
  for (const [at, session] of foreign.entries()) {
    const step = { source: session.path, done: at + 1, total };
    yield { ...step, ...(await outcomeOf(session, directory, imported, signal)) };
  }
  for (const [at, error] of errors.entries()) {
    const done = foreign.length + at + 1;
    yield { source: error.path ?? "", done, total, kind: "failed", error };
  }
}

async function outcomeOf(
  { header, path: source }: ListedSession,
  directory: string,
  /** The sources of this run, by the created session. */
  imported: Map<string, string>,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  try {
    const path = sessionPath(directory, { ...header, id: importedId(header.id) });
    const other = imported.get(path);
    if (other !== undefined) return { kind: "failed", error: sameSession(source, other, path) };
    if (existsSync(path)) return { kind: "exists", path };
    const options = signal === undefined ? {} : { signal };
    const report = await importSession(source, path, options);
    imported.set(path, source);
    return { kind: "imported", report };
  } catch (error) {
    signal?.throwIfAborted();
    if (isBranchlogError(error)) return { kind: "failed", error };
    throw error;
  }
}

/** Of a document; none for a name that is not UTF-8. */
async function damageOf(path: string): Promise<readonly BranchlogError[]> {
  try {
    await documentFormatOf(path)?.toLog(path);
    return [];
  } catch (error) {
    if (isBranchlogError(error)) return [error];
    throw error;
  }
}

function sameSession(source: string, other: string, path: string): BranchlogError {
  const message =
    `${source} has the id and time of ${other}, which was imported to ${path}; it was not ` +
    "imported. Import it to a file of its own: branchlog import FILE -o NEW.";
  return new BranchlogError("ERR_LOG_EXISTS", message, { path });
}
