/**
 * Lists and finds archived sessions. An archived session was removed into the archive by an
 * operation, and is not at its path again.
 */
import { basename, resolve } from "node:path";
import { BranchlogError } from "@branchlog/core";
import { requireOptions } from "@branchlog/core/files";
import { statOf } from "./file-state.ts";
import { Archive, dataDirectoryNames } from "./archive-directory.ts";
import type { DataDirectoryOptions } from "./archive-directory.ts";
import type { FileChange, ArchivedFacts, PackedFile } from "./operation.ts";
import { recorded } from "./undo.ts";

export interface ArchivedSession extends ArchivedFacts {
  /** Where it was, and where it is restored. */
  readonly path: string;
  readonly sizeBytes: number;
  /** When it was archived, in epoch ms. */
  readonly archivedMs: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

export interface Archived {
  readonly session: ArchivedSession;
  /** The session's file first. */
  readonly files: readonly FileChange[];
}

/**
 * The archived sessions, those that changed last first.
 * @throws BranchlogError as `openSession`, for the record of operations.
 */
export async function archivedSessions(
  options: DataDirectoryOptions = {},
): Promise<readonly ArchivedSession[]> {
  const kept = new Archive(requireOptions(options, dataDirectoryNames));
  return (await allArchived(kept)).map(({ session }) => session);
}

/**
 * By the record, in which removals and restores balance; a file that a killed process recorded but
 * did not remove is still there, unchanged.
 */
export async function allArchived(kept: Archive): Promise<readonly Archived[]> {
  const archived = new Map<string, Archived>();
  for (const { timeMs, keptUntilMs, changes } of await kept.operations()) {
    let files: FileChange[] = [];
    for (const change of changes) {
      if (!("file" in change)) continue;
      if (change.session === undefined) {
        files.push(change);
        continue;
      }
      files = [change];
      const { path, sizeBytes, sha256, pack, offset } = change.file;
      const version = `${pack} ${offset}`;
      if (change.kind === "restored") archived.delete(version);
      else if (keptUntilMs === undefined) {
        const session = { ...change.session, path, sizeBytes, sha256, archivedMs: timeMs };
        archived.set(version, { session, files });
      }
    }
  }
  return [...archived.values()]
    .filter(({ files: [first] }) => first === undefined || !isStillThere(first))
    .toSorted((one, other) => other.session.modifiedMs - one.session.modifiedMs);
}

function isStillThere(change: FileChange): boolean {
  return "file" in change && isRestored(change.file);
}

/**
 * The archived session with this path, id, file name or name, or the one whose id starts with it.
 * @throws BranchlogError `ERR_SESSION_NOT_FOUND`, `ERR_SESSION_AMBIGUOUS`.
 */
export async function findArchived(
  word: string,
  options: DataDirectoryOptions = {},
): Promise<ArchivedSession> {
  const kept = new Archive(requireOptions(options, dataDirectoryNames));
  return (await requireArchived(word, kept)).session;
}

export async function requireArchived(word: string, kept: Archive): Promise<Archived> {
  const found = chosen(word, await allArchived(kept));
  if (found === undefined) throw await notArchived(word, kept);
  return found;
}

/** Throws `ERR_SESSION_AMBIGUOUS`. */
function chosen(word: string, all: readonly Archived[]): Archived | undefined {
  const ways: readonly ((session: ArchivedSession) => boolean)[] = [
    ({ path, id }) =>
      path === resolve(word) || basename(path) === word || (id !== "" && id === word),
    ({ name }) => name?.toLowerCase() === word.toLowerCase(),
    ({ id }) => word.length > 0 && id.startsWith(word),
  ];
  for (const fits of ways) {
    // Of several versions of one file, the one that was archived last.
    const byPath = new Map(
      all
        .filter(({ session }) => fits(session))
        .toSorted((one, other) => one.session.archivedMs - other.session.archivedMs)
        .map((one) => [one.session.path, one]),
    );
    const [found, other] = byPath.values();
    if (found !== undefined && other === undefined) return found;
    if (found === undefined) continue;
    const candidates = [...byPath.keys()];
    const message =
      `${word} matches ${candidates.length} archived sessions. branchlog list --archived ` +
      "shows their paths: give one of them.";
    throw new BranchlogError("ERR_SESSION_AMBIGUOUS", message, { id: word, candidates });
  }
  return undefined;
}

/** Reports what happened to a session with such a name, if known. */
async function notArchived(word: string, kept: Archive): Promise<BranchlogError> {
  const message = `No archived session matches ${word}. ${await adviceFor(word, kept)}`;
  return new BranchlogError("ERR_SESSION_NOT_FOUND", message, { id: word });
}

async function adviceFor(word: string, kept: Archive): Promise<string> {
  if (statOf(resolve(word)) !== undefined) return "There is such a file: branchlog info shows it.";
  const all = recorded(kept, await kept.operations());
  for (const { id, changes, undoneBy, isExpired } of all.toReversed()) {
    const change = changes.find((one) => one.kind === "removed" && isNamed(one, word));
    if (change === undefined || undoneBy !== undefined) continue;
    if (!isExpired) return `It was deleted: branchlog undo ${id} restores it.`;
    return "It was deleted, and its 30 days have passed: branchlog ops lists what is kept.";
  }
  return "branchlog list --archived shows them, branchlog ops what branchlog undo restores.";
}

/** The names of agents' files end in the id of their session. */
function isNamed(change: FileChange, word: string): boolean {
  if (!("file" in change)) return false;
  const { session, file } = change;
  const name = basename(file.path);
  const id = name.replace(/\.jsonl$/, "").replace(/^[^_]*_/, "");
  return (
    [file.path, name, session?.id, session?.name].includes(word) ||
    file.path === resolve(word) ||
    (word.length >= idUnitsMin && id.startsWith(word))
  );
}

/** Fewer units of an id may be those of any other. */
const idUnitsMin = 4;

/** By an earlier call that did not end; or it was never removed. */
export function isRestored({ path, sizeBytes, changedMs }: PackedFile): boolean {
  const stats = statOf(path);
  return stats?.size === sizeBytes && Math.abs(stats.mtimeMs - changedMs) < 2;
}
