/** Archives sessions of every agent. */
import { lstatSync, readdirSync, unlinkSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { OptionNames } from "@branchlog/streaming";
import { BranchlogError, isBranchlogError, openSession } from "@branchlog/core";
import { lastFile, sharesFiles } from "../catalog/agent-files.ts";
import { findSessions } from "../find/find-sessions.ts";
import type { ListedSession } from "../catalog/listed-session.ts";
import { requireOptions } from "@branchlog/core/files";
import { agentNamed, earlierFiles } from "@branchlog/core/rows";
import { trashMs } from "./limits.ts";
import { sidecarsOf } from "./sidecars.ts";
import { Archive, dataDirectoryNames } from "./archive-directory.ts";
import type { DataDirectoryOptions } from "./archive-directory.ts";
import { statOf } from "./file-state.ts";
import { recoverAside } from "./recover-aside.ts";
import { filesBelow, removeSessions } from "./remove-sessions.ts";
import { requireOwnFiles } from "./removal-errors.ts";
import type { Removal, RemovableSession } from "./remove-sessions.ts";

export interface ArchiveOptions extends DataDirectoryOptions {
  /** Also sessions that changed within the last minute, or whose lock is held. Default false. */
  readonly force?: boolean;
  /** Whether removed files are kept for 30 days only. Default false: permanently. */
  readonly trash?: boolean;
  /** The recorded kind of the operation. Default `archive`. */
  readonly kind?: "archive" | "prune";
  /** Called with how many sessions are done. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  /** Ends the work with its reason; sessions archived before stay archived. */
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

/**
 * Compresses sessions into the data directory, with their other files, verifies the result, and
 * only then removes them. Sessions that cannot be removed are not changed, and are in `failures`.
 * @param places Session files, directories (recursive), and sessions of a list.
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

/**
 * Archives one file that Branchlog writers append to, with any contents, and its other files. Does
 * nothing if none of them exists. Throws `ERR_ARCHIVE_FAILED`, `ERR_DELETE_FAILED`,
 * `ERR_LOG_CHANGED`.
 */
export async function archiveFiles(
  path: string,
  attachments: readonly string[],
  place: DataDirectoryOptions,
): Promise<void> {
  const kept = new Archive(place);
  await recoverAside(kept, [path]);
  const [first, ...others] = [path, ...attachments].filter((one) => statOf(one) !== undefined);
  if (first === undefined) return;
  // A file that is not a session of a known agent is in no list, and is restored by its operation.
  const session = await sessionAt(first, undefined).catch(() => undefined);
  const whole = { ...session, path: first, attachments: others, isOwn: true };
  const { failures } = await removeSessions(kept, [whole], {
    kind: "archive",
    force: true,
    requiresIdle: false,
  });
  const [failure] = failures;
  if (failure !== undefined) throw failure;
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
    else own.push(await sessionAt(lastFile(resolve(place)), signal));
  }
  const found = await findSessions(directories, { artifacts: true, catalog: "read", signal });
  for (const { path, transcript } of listed) requireOwnFiles(path, transcript?.of);
  const alone = found.sessions.filter(({ path }) => !sharesFiles(path));
  const sessions = [
    ...own,
    ...[...alone, ...listed].map((session) => {
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
      `${path} is a symbolic link; nothing was archived. Archive its target ` +
      "instead: branchlog archive TARGET.";
    throw new BranchlogError("ERR_NOT_A_SESSION", message, { path });
  }
  const reading = { access: "read", checkpoint: "read" } as const;
  const session = await openSession(path, signal === undefined ? reading : { ...reading, signal });
  try {
    const { path: canonical, header, name, transcriptOf, dialect } = session;
    requireOwnFiles(canonical, transcriptOf);
    const summary = await session.summary;
    const modifiedMs = summary.lastActivityMs ?? lstatSync(canonical).mtimeMs;
    const facts = { path: canonical, header, name, summary, modifiedMs };
    return removable(facts, transcriptOf ?? dialect, transcriptOf === undefined);
  } finally {
    await session.close();
  }
}

/** Forks are next to their parents: repeated data is compressed together. */
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
  const { messageCount = 0, firstMessage } = summary;
  const cwd = textOf(header.cwd);
  const facts = { id: header.id, agent, name, firstMessage, cwd, messageCount, modifiedMs };
  const { transcripts, documents } = agentNamed(agent) ?? {};
  const attachments = [
    ...earlierFiles(path),
    ...attachmentsOf(path, directories),
    ...(transcripts?.belongings?.(path) ?? []),
    ...(documents?.belongings?.(path) ?? []),
  ];
  return { path, facts, isOwn, attachments };
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

/** Transcripts of subagents in the directories of their sessions, by their parent's id. */
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

/** Transcripts of the subagents of a session that are files of their own. */
export async function subagentFiles(
  { path, id, agent }: { readonly path: string; readonly id: string; readonly agent: string },
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const transcripts = agentNamed(agent)?.transcripts;
  if (transcripts === undefined) return [];
  const { pattern, place } = transcripts.subagentNames;
  const directory = dirname(path);
  const beside =
    place === "beside" ? readdirSync(directory).filter((name) => pattern.test(name)) : [];
  const own = [...attachmentsOf(path, new Map()), ...(transcripts.belongings?.(path) ?? [])];
  const files = new Set([...own, ...beside.map((name) => join(directory, name))]);
  files.delete(path);
  const found: string[] = [];
  for (const file of files) {
    if (file.endsWith(".jsonl") && (await parentOf(file, signal)) === id) found.push(file);
  }
  return found;
}

/** Undefined also if it cannot be read. */
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
 * Permanently removes expired files: packs that no operation needs any longer. Throws nothing.
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
