/** The files that a search reads, and the search index holds. */
import { resolve } from "node:path";
import { requireNoAddress } from "@branchlog/core/addresses";
import { documentFiles, heldIn, mayBeDocument } from "../catalog/agent-files.ts";
import { isUnlistable, lookAtFile } from "../catalog/session-files.ts";
import type { SessionFile } from "../catalog/session-files.ts";
import { filesIn, sessionDirectories } from "./find-sessions.ts";

export interface SearchedPath extends SessionFile {
  /** Whether it was named, and not found in a directory. */
  readonly isGiven: boolean;
}

interface SearchedFilesOptions {
  readonly onUnlisted?: ((path: string) => void) | undefined;
  /** Only sessions changed since, in epoch ms. */
  readonly sinceMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * All readable ones, latest change first.
 * @throws BranchlogError `ERR_LOG_MISSING`, `ERR_LOG_UNREADABLE` for a place; the signal's reason.
 */
export async function searchedFiles(
  places: readonly string[],
  { onUnlisted, sinceMs = Number.NEGATIVE_INFINITY, signal }: SearchedFilesOptions,
): Promise<SearchedPath[]> {
  for (const place of places) requireNoAddress(place);
  const [named, directories]: [SessionFile[], string[]] = [[], []];
  for (const place of places) {
    const path = resolve(place);
    const files = mayBeDocument(path) ? await documentFiles(path) : [lookAtFile(path)];
    const readable = files.filter(({ isReadable }) => isReadable);
    named.push(...readable);
    if (readable.length === 0) directories.push(place);
  }
  const below = await sessionDirectories(directories, signal);
  for (const path of below.unlisted) onUnlisted?.(path);
  const isHeld = heldIn(named);
  const found = (await filesIn(below, signal)).filter(({ path }) => !isHeld(path));
  for (const file of found) if (isUnlistable(file)) onUnlisted?.(file.path);
  const all = new Map([...named, ...found].map((file) => [file.identity ?? file.path, file]));
  const byPath = (one: SessionFile, other: SessionFile): number => (one.path < other.path ? -1 : 1);
  const given = new Set(named.map(({ path }) => path));
  return [...all.values()]
    .filter(({ isReadable, mtimeMs }) => isReadable && mtimeMs >= sinceMs)
    .sort((one, other) => other.mtimeMs - one.mtimeMs || byPath(one, other))
    .map((file) => ({ ...file, isGiven: given.has(file.path) }));
}
