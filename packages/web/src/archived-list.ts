/** Archived sessions in the list of the page; archiving and restoring. */
import { isBranchlogError } from "@branchlog/core";
import { archiveSessions, archivedSessions, restoreSession } from "@branchlog/library";
import type { ArchivedSession } from "@branchlog/library";
import { realpathSync } from "node:fs";
import { resolve, sep } from "node:path";
import type { ArchiveRequest, ArchiveResult, SessionItem } from "./api.ts";
import { keyOfPath } from "./session-directory.ts";
import type { SessionDirectory, ShownPlace } from "./session-directory.ts";

/** Those that were below the place; of a store none. Reads the record of operations. */
export async function archivedItems(
  place: ShownPlace,
  directory: SessionDirectory,
): Promise<readonly SessionItem[]> {
  const sessions = await archivedBelow(place);
  // A newer file at the same path has the key.
  return sessions.map(itemOfArchived).filter(({ path }) => directory.keyOf(path) === undefined);
}

/** Decoding boundary: undefined for anything but such a request. */
export function archiveRequestIn(text: string): ArchiveRequest | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { kind, keys }: Readonly<Record<string, unknown>> = { ...value };
  if ((kind !== "archive" && kind !== "restore") || !Array.isArray(keys)) return undefined;
  const texts = keys.filter((key) => typeof key === "string");
  return texts.length === keys.length && texts.length > 0 ? { kind, keys: texts } : undefined;
}

/** Each session is archived or restored, or not changed and counted as a failure. */
export async function runArchiveRequest(
  { kind, keys }: ArchiveRequest,
  place: ShownPlace,
  directory: SessionDirectory,
): Promise<ArchiveResult> {
  return kind === "archive" ? archived(keys, directory) : restored(keys, place);
}

async function archived(
  keys: readonly string[],
  directory: SessionDirectory,
): Promise<ArchiveResult> {
  const paths = keys.flatMap((key) => {
    const source = directory.sourceOf(directory.item(key));
    return typeof source === "string" ? [source] : [];
  });
  const { removed, failures, operation } = await archiveSessions(paths);
  const undo = operation === null ? "" : ` branchlog undo ${operation} undoes it.`;
  return {
    done: removed.length,
    failures: failures.map(({ message }) => message),
    message: `${removed.length} archived.${undo}`,
  };
}

async function restored(keys: readonly string[], place: ShownPlace): Promise<ArchiveResult> {
  const wanted = new Set(keys);
  const failures: string[] = [];
  let done = 0;
  for (const { path } of await archivedBelow(place)) {
    if (!wanted.delete(keyOfPath(path))) continue;
    try {
      await restoreSession(path);
      done += 1;
    } catch (error) {
      if (!isBranchlogError(error)) throw error;
      failures.push(error.message);
    }
  }
  return { done, failures, message: `${done} restored.` };
}

async function archivedBelow(place: ShownPlace): Promise<readonly ArchivedSession[]> {
  if ("store" in place) return [];
  const directories = place.map(realPath);
  const sessions = await archivedSessions();
  return sessions.filter(({ path }) =>
    directories.some((one) => path === one || path.startsWith(`${one}${sep}`)),
  );
}

/** The archive has canonical paths. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

function itemOfArchived(session: ArchivedSession): SessionItem {
  const { path, id, name, firstMessage, agent, cwd, modifiedMs, sizeBytes, messageCount } = session;
  return {
    key: keyOfPath(path),
    path,
    id,
    name: name ?? null,
    firstMessage: firstMessage ?? null,
    firstPrompt: null,
    agent,
    cwd,
    modifiedMs,
    sizeBytes,
    messageCount,
    tokens: null,
    models: [],
    parentKey: null,
    isSubagent: false,
    isArchived: true,
    activity: null,
    cost: null,
    isEstimate: false,
  };
}
