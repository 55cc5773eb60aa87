/**
 * Archives sessions of every agent, lists what is archived, and brings it back. An archived session
 * is one that an operation removed for good keeping, and that is not at its path again.
 */
import { lstatSync, readdirSync, unlinkSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { OptionNames } from "@branchlog/streaming";
import { BranchlogError, isBranchlogError, openSession } from "@branchlog/core";
import { findSessions } from "../find/find-sessions.ts";
import type { ListedSession } from "../catalog/listed-session.ts";
import { requireOptions } from "@branchlog/core/files";
import { agentNamed } from "@branchlog/core/rows";
import { trashMs } from "./limits.ts";
import { sidecarsOf } from "./sidecars.ts";
import { statOf } from "./file-state.ts";
import { Archive, dataDirectoryNames } from "./archive-directory.ts";
import type { DataDirectoryOptions } from "./archive-directory.ts";
import type { FileChange, ArchivedFacts, PackedFile } from "./operation.ts";
import { recoverAside } from "./recover-aside.ts";
import { filesBelow, removeSessions } from "./remove-sessions.ts";
import type { Removal, RemovableSession } from "./remove-sessions.ts";
import { readPacked } from "./pack.ts";
import { placeTaken } from "./removal-errors.ts";
import { copyAdvice, restoreFiles } from "./restore-file.ts";
import { recorded } from "./undo.ts";

export interface ArchiveOptions extends DataDirectoryOptions {
  /** Also sessions that changed within the last minute, or whose lock is held. Default false. */
  readonly force?: boolean;
  /** Whether what is removed is kept for 30 days only. Default false: for good. */
  readonly trash?: boolean;
  /** What the operation is recorded as. Default `archive`. */
  readonly kind?: "archive" | "prune";
  /** Called with how many sessions are done. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  /** Ends the work with its reason; what was archived before stays archived. */
  readonly signal?: AbortSignal | undefined;
}

const archiveNames: OptionNames<ArchiveOptions> = {
  ...dataDirectoryNames,
  force: true,
  trash: true,
  kind: true,
  onProgress: true,
  signal: true,
};

export interface ArchivedSession extends ArchivedFacts {
  /** Where it was, and where it is restored. */
  readonly path: string;
  readonly sizeBytes: number;
  /** When it was archived, in epoch ms. */
  readonly archivedMs: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

/**
 * Compresses sessions into the data directory, with the files that belong to them, reads that
 * back, and only then removes them. Sessions that cannot be removed are left as they are, and are
 * among `failures`.
 * @param places Session files, directories with all below, and sessions of a list.
 * @throws BranchlogError `ERR_LOG_MISSING`, `ERR_LOG_UNREADABLE`, `ERR_NOT_A_SESSION` for a path;
 * `ERR_ARCHIVE_FAILED` if the archive cannot be written; the signal's reason.
 * @example
 * const { removed, failures } = await archiveSessions(["old.jsonl"]);
 */
export async function archiveSessions(
  places: readonly (string | ListedSession)[],
  options: ArchiveOptions = {},
): Promise<Removal> {
  const {
    force = false,
    trash = false,
    kind = "archive",
    onProgress,
    signal,
    ...place
  } = requireOptions(options, archiveNames);
  const kept = new Archive(place);
  await recoverAside(
    kept,
    places.map((one) => (typeof one === "string" ? resolve(one) : one.path)),
  );
  const sessions = await removableSessions(places, signal);
  const keptUntilMs = trash ? kept.ports.clock.now() + trashMs : undefined;
  await expireTrash(kept);
  return removeSessions(kept, sessions, {
    kind,
    force,
    requiresIdle: true,
    keptUntilMs,
    onProgress,
    signal,
  });
}

async function removableSessions(
  places: readonly (string | ListedSession)[],
  signal: AbortSignal | undefined,
): Promise<readonly RemovableSession[]> {
  const directories: string[] = [];
  const own: RemovableSession[] = [];
  const seen: Directories = new Map();
  const listed: ListedSession[] = [];
  for (const place of places) {
    if (typeof place !== "string") listed.push(place);
    else if (isDirectory(place)) directories.push(place);
    else own.push(await sessionAt(resolve(place), signal));
  }
  const found = await findSessions(directories, { artifacts: true, catalog: "read", signal });
  const sessions = [
    ...own,
    ...[...found.sessions, ...listed].map((session) => {
      const { transcript, dialect } = session;
      return removable(session, transcript?.of ?? dialect, transcript === undefined, seen);
    }),
  ];
  const parts = await subagentsBeside(sessions, signal);
  const whole = sessions.map((session) => {
    const others = parts.get(session.facts?.id ?? "") ?? [];
    return { ...session, attachments: [...new Set([...session.attachments, ...others])] };
  });
  const attachments = new Set(whole.flatMap((session) => session.attachments));
  const byPath = new Map(whole.map((session) => [session.path, session]));
  return [...byPath.values()].filter(({ path }) => !attachments.has(path)).toSorted(byPlace);
}

function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Throws as `openSession`, and `ERR_NOT_A_SESSION`. */
async function sessionAt(path: string, signal: AbortSignal | undefined): Promise<RemovableSession> {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
    const message =
      `${path} is a symbolic link; nothing was archived. Give ` +
      "branchlog archive the path it leads to.";
    throw new BranchlogError("ERR_NOT_A_SESSION", message, { path });
  }
  const reading = { access: "read", checkpoint: "read" } as const;
  const session = await openSession(path, signal === undefined ? reading : { ...reading, signal });
  try {
    const { path: canonical, header, name, transcriptOf, dialect } = session;
    const summary = await session.summary;
    const modifiedMs = summary.lastActivityMs ?? lstatSync(canonical).mtimeMs;
    const facts = { path: canonical, header, name, summary, modifiedMs };
    return removable(facts, transcriptOf ?? dialect, transcriptOf === undefined);
  } finally {
    await session.close();
  }
}

/** Forks are beside their parents: what they repeat is compressed together. */
function byPlace(one: RemovableSession, other: RemovableSession): number {
  return one.path < other.path ? -1 : 1;
}

function removable(
  session: Pick<ListedSession, "path" | "header" | "name" | "summary" | "modifiedMs">,
  agent: string,
  isOwn: boolean,
  directories: Directories = new Map(),
): RemovableSession {
  const { path, header, name, summary, modifiedMs } = session;
  const { messageCount, firstMessage } = summary;
  const cwd = textOf(header.cwd);
  const facts = { id: header.id, agent, name, firstMessage, cwd, messageCount, modifiedMs };
  return { path, facts, isOwn, attachments: attachmentsOf(path, directories) };
}

/** The names in directories, each read once. */
type Directories = Map<string, readonly string[]>;

/** As agents name their sessions: only then a directory of the same name is theirs. */
const agentNames =
  /^(?:\d{4}-\d\d-\d\dT[^_]*_.+|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\.jsonl$/i;

/** Originals, salvage files, and what is in its directory of artifacts. */
function attachmentsOf(path: string, directories: Directories): readonly string[] {
  const directory = dirname(path);
  const names = directories.get(directory) ?? readdirSync(directory);
  directories.set(directory, names);
  const name = basename(path);
  const artifacts = agentNames.test(name) ? name.replace(/\.jsonl$/, "") : undefined;
  const beside = names.filter((other) => other.startsWith(name) && other !== name);
  const kept = beside.length === 0 ? [] : sidecarsOf(path, undefined).kept;
  const files = kept.filter((file) => basename(file) !== name.replace(/\.jsonl$/, ""));
  const own = artifacts === undefined ? [] : filesBelow(join(directory, artifacts));
  return [...files, ...own];
}

/** Decoding boundary: of the header only the id was checked. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Transcripts of sub-agents in the directories of their sessions, by their parent's id. */
async function subagentsBeside(
  sessions: readonly RemovableSession[],
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const parts = new Map<string, string[]>();
  const patterns = new Map<string, RegExp>();
  for (const { path, facts } of sessions) {
    const names = agentNamed(facts?.agent ?? "")?.transcripts?.subagentNames;
    if (names?.place === "beside") patterns.set(dirname(path), names.pattern);
  }
  for (const [directory, pattern] of patterns) {
    for (const name of readdirSync(directory)) {
      if (!pattern.test(name)) continue;
      const path = join(directory, name);
      const parentSession = await parentOf(path, signal);
      if (parentSession === undefined) continue;
      parts.set(parentSession, [...(parts.get(parentSession) ?? []), path]);
    }
  }
  return parts;
}

/** Undefined also for what cannot be read. */
async function parentOf(
  path: string,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  try {
    const agent = await openSession(path, { access: "read", checkpoint: "read" });
    await agent.close();
    return agent.header.parentSession;
  } catch (error) {
    signal?.throwIfAborted();
    if (isBranchlogError(error)) return undefined;
    throw error;
  }
}

/**
 * Removes for good what was to be kept until now: packs that no operation wants any longer. Throws
 * nothing.
 */
export async function expireTrash(kept: Archive): Promise<void> {
  const nowMs = kept.ports.clock.now();
  const wantedUntilMs = new Map<string, number>();
  for (const { keptUntilMs = Infinity, changes } of await kept.operations().catch(() => [])) {
    for (const change of changes) {
      if (change.kind !== "removed") continue;
      const { pack } = change.file;
      wantedUntilMs.set(pack, Math.max(keptUntilMs, wantedUntilMs.get(pack) ?? -Infinity));
    }
  }
  for (const [pack, untilMs] of wantedUntilMs) {
    if (untilMs > nowMs) continue;
    try {
      unlinkSync(kept.packPath(pack));
    } catch {
      // It was removed before, or is tried again next time.
    }
  }
}

interface Archived {
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
 * By the record, in which what is removed and what is restored balance; of what a process that was
 * killed had recorded but not removed, the file is still there as it was.
 */
async function allArchived(kept: Archive): Promise<readonly Archived[]> {
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
 * The archived session with this path, id, file name or name, or the one whose id begins so.
 * @throws BranchlogError `ERR_SESSION_NOT_FOUND`, `ERR_SESSION_AMBIGUOUS`.
 */
export async function findArchived(
  word: string,
  options: DataDirectoryOptions = {},
): Promise<ArchivedSession> {
  const kept = new Archive(requireOptions(options, dataDirectoryNames));
  return (await requireArchived(word, kept)).session;
}

async function requireArchived(word: string, kept: Archive): Promise<Archived> {
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
      `${word} may be any of ${candidates.length} archived sessions. branchlog list --archived ` +
      "shows their paths: give one of them.";
    throw new BranchlogError("ERR_SESSION_AMBIGUOUS", message, { id: word, candidates });
  }
  return undefined;
}

/** Says what was done to a session that has such a name, if that is known. */
async function notArchived(word: string, kept: Archive): Promise<BranchlogError> {
  const message = `No archived session is ${word}. ${await adviceFor(word, kept)}`;
  return new BranchlogError("ERR_SESSION_NOT_FOUND", message, { id: word });
}

async function adviceFor(word: string, kept: Archive): Promise<string> {
  if (statOf(resolve(word)) !== undefined) return "There is such a file: branchlog info shows it.";
  const all = recorded(kept, await kept.operations());
  for (const { id, changes, undoneBy, isExpired } of all.toReversed()) {
    const change = changes.find((one) => one.kind === "removed" && isNamed(one, word));
    if (change === undefined || undoneBy !== undefined) continue;
    if (!isExpired) return `It was deleted: branchlog undo ${id} brings it back.`;
    return "It was deleted, and its 30 days are over: branchlog ops lists what is kept.";
  }
  return "branchlog list --archived shows them, branchlog ops what branchlog undo brings back.";
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
 * Brings an archived session back, with the bytes, permissions and times that it had.
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
  // Before anything is written, all of it is known to be there, and every place to be free.
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
  // The session comes last: with it, all is there.
  const attachments = changes.slice(1).map(({ file }) => file);
  const missing = attachments.filter((file) => !isRestored(file));
  await restoreFiles(kept, missing, undefined, signal);
  await restoreFiles(kept, [first.file], undefined, signal);
  const operation = kept.ports.ids.sessionId();
  const timeMs = kept.ports.clock.now();
  await kept.record({ id: operation, kind: "restore", timeMs, changes });
  return { session, path: session.path, operation };
}

export interface ArchivedCopy {
  readonly session: ArchivedSession;
  /** Of its file; gone once the next copy is asked for. */
  readonly path: string;
}

/**
 * Copies of archived sessions, made in a directory one archived group after the other: what is
 * compressed together is read once, and left out if it is damaged, which `onProblem` is told.
 * @throws BranchlogError `ERR_CREATE_FAILED`; the signal's reason.
 */
export async function* archivedCopies(
  directory: string,
  wanted: (session: ArchivedSession) => boolean,
  options: Omit<RestoreOptions, "output"> = {},
): AsyncGenerator<ArchivedCopy, void, undefined> {
  const copyNames = { ...dataDirectoryNames, signal: true } as const;
  const { signal, ...place } = requireOptions<typeof options>(options, copyNames);
  const kept = new Archive(place);
  const groups = new Map<string, Map<PackedFile, ArchivedSession>>();
  for (const { session, files } of await allArchived(kept)) {
    const [change] = files;
    if (change?.kind !== "removed" || !wanted(session)) continue;
    const { file } = change;
    const group = groups.get(file.pack) ?? new Map<PackedFile, ArchivedSession>();
    groups.set(file.pack, group.set(file, session));
  }
  for (const group of groups.values()) {
    const copyPath = ({ offset, path }: PackedFile): string =>
      join(directory, `${offset}-${basename(path)}`);
    try {
      await restoreFiles(kept, [...group.keys()], copyPath, signal);
    } catch (error) {
      if (!isBranchlogError(error, "ERR_ARCHIVE_DAMAGED")) throw error;
      kept.onProblem(error);
      continue;
    }
    for (const [file, session] of group) {
      const path = copyPath(file);
      yield { session, path };
      unlinkSync(path);
    }
  }
}

/** By an earlier call that did not end; or it was never removed. */
function isRestored({ path, sizeBytes, changedMs }: PackedFile): boolean {
  const stats = statOf(path);
  return stats?.size === sizeBytes && Math.abs(stats.mtimeMs - changedMs) < 2;
}
