/**
 * Archived sessions, as the commands that read show them: from a copy, which goes with this
 * process.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { isBranchlogError } from "@branchlog/core";
import { searchSessions, archivedCopies, findArchived, restoreSession } from "@branchlog/library";
import type { SearchHit, SearchOptions, ArchivedSession } from "@branchlog/library";
import type { CommandIo } from "./command-io.ts";
import { problemsTo } from "./archive-problems.ts";
import { oneLine } from "./text/clean-text.ts";

/** Undefined: no archived session is named so. */
export async function archivedCopy(
  word: string,
  { signal, err, isJson = false }: Pick<CommandIo, "signal"> & Partial<CommandIo>,
): Promise<string | undefined> {
  const archived = await archivedAs(word);
  if (archived === undefined) return undefined;
  const path = await copyOf(archived, signal);
  const shown = oneLine(archived.path, 400);
  if (isJson) return path;
  await err?.write(`archived: a copy is shown; branchlog restore brings ${shown} back\n`);
  return path;
}

async function archivedAs(word: string): Promise<ArchivedSession | undefined> {
  try {
    return await findArchived(word);
  } catch (error) {
    if (isBranchlogError(error, "ERR_SESSION_NOT_FOUND")) return undefined;
    throw error;
  }
}

let directory: string | undefined;

async function copyOf({ path }: ArchivedSession, signal: AbortSignal): Promise<string> {
  directory ??= temporaryDirectory();
  const output = join(mkdtempSync(join(directory, "s-")), basename(path));
  await restoreSession(path, { output, signal });
  return output;
}

/** Readable only for this user, as sessions are. */
function temporaryDirectory(): string {
  const made = mkdtempSync(join(tmpdir(), "branchlog-archived-"));
  process.once("exit", () => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** Where the archived session was that a word names. */
export async function archivedPath(word: string): Promise<string | undefined> {
  return (await archivedAs(word))?.path;
}

/** In all archived sessions, one after the other. */
export async function* archivedHits(
  query: string,
  options: SearchOptions,
  io: Pick<CommandIo, "err" | "isJson">,
): AsyncGenerator<SearchHit, void, undefined> {
  const { signal, agents, sinceMs = -Infinity } = options;
  const isWanted = ({ agent, modifiedMs }: ArchivedSession): boolean =>
    modifiedMs >= sinceMs && (agents === undefined || agents.some((one) => one === agent));
  const onProblem = problemsTo(io);
  directory ??= temporaryDirectory();
  const place = mkdtempSync(join(directory, "s-"));
  for await (const { session, path } of archivedCopies(place, isWanted, { signal, onProblem })) {
    for await (const hit of searchSessions([path], query, options)) {
      yield { ...hit, path: session.path };
    }
  }
}
