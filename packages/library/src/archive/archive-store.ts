/**
 * The archive as a read-only store, so that lists, searches and `openSession` have its sessions
 * like those of any store. A session is decompressed and checked when it is read.
 */
import { BranchlogError, isBranchlogError } from "@branchlog/core";
import type { SessionHeader } from "@branchlog/core";
import type { ListingStore, StoredLog } from "@branchlog/core/types";
import { requireOptions } from "@branchlog/core/files";
import { agentNamed, earlierFiles, joinedFiles } from "@branchlog/core/rows";
import type { ListedSession } from "../catalog/listed-session.ts";
import type { ListedFacts } from "../catalog/stored-catalog.ts";
import { Archive, dataDirectoryNames } from "./archive-directory.ts";
import type { DataDirectoryOptions } from "./archive-directory.ts";
import { allArchived, requireArchived } from "./archived-sessions.ts";
import type { Archived, ArchivedSession } from "./archived-sessions.ts";
import type { PackedFile } from "./operation.ts";
import { readPacked } from "./pack.ts";

/**
 * A store of all archived sessions; a session's name there is that by which `findArchived` finds
 * it, or the one that a list of the store gives. Reading one has all its bytes in memory.
 * @example
 * const { sessions } = await findSessions({ store: archiveStore() });
 */
export function archiveStore(options: DataDirectoryOptions = {}): ListingStore {
  const kept = new Archive(requireOptions(options, dataDirectoryNames));
  return {
    open: async (name, signal) => {
      const all = await allArchived(kept);
      const found = all.find((one) => nameOf(one) === name) ?? (await requireArchived(name, kept));
      return openedLog(kept, found, signal);
    },
    list: async function* () {
      for (const one of await allArchived(kept)) yield factsOf(one);
    },
    latest: async function* () {
      for (const one of await allArchived(kept)) yield factsOf(one);
    },
    // Files compressed together are read once.
    indexedAs: `archive:${kept.directory}`,
    logsWith: async function* (_texts, signal, isWanted = () => true) {
      const packs = new Map<string, Archived[]>();
      const wanted = (await allArchived(kept)).filter((one) => isWanted(nameOf(one)));
      for (const one of wanted) {
        const { pack } = fileOf(one);
        packs.set(pack, [...(packs.get(pack) ?? []), one]);
      }
      for (const members of packs.values()) yield* logsIn(kept, members, signal);
    },
    names: async function* () {
      for (const one of await allArchived(kept)) yield nameOf(one);
    },
    create: (name) => Promise.reject(onlyRead(name)),
    remove: (name) => Promise.reject(onlyRead(name)),
  };
}

/** The session's file. Throws for an operation that is not an archive. */
function fileOf({ files: [first] }: Archived): PackedFile {
  if (first !== undefined && "file" in first) return first.file;
  throw new Error("an archived session without a file");
}

/** The files of its log: the earlier ones, oldest first, and its own. */
function partsOf(archived: Archived): readonly PackedFile[] {
  const own = fileOf(archived);
  const files = archived.files.flatMap((one) => ("file" in one ? one.file : []));
  const paths = new Map(files.map((file) => [file.path, file]));
  const earlier = earlierFiles(archived.session.path, [...paths.keys()]);
  return [...earlier.flatMap((path) => paths.get(path) ?? []), own];
}

/** Undefined if one of them could not be read. */
function bytesOf(archived: Archived, found: ReadonlyMap<PackedFile, Buffer>): Buffer | undefined {
  const own = found.get(fileOf(archived));
  const files = partsOf(archived).flatMap((file) => {
    const bytes = found.get(file);
    return bytes === undefined ? [] : [{ path: file.path, bytes }];
  });
  return files.length > 1 ? joinedFiles(files) : own;
}

/** Several sessions can have one id, and several versions one path. */
function nameOf(archived: Archived): string {
  const { pack, offset } = fileOf(archived);
  return `${pack.replaceAll(/[^\w.-]/g, "-")}.${offset}`;
}

/** In a list, from the record: without usage. */
export function listedArchived(archived: ArchivedSession): ListedSession {
  const { path, id, agent, cwd, name, sizeBytes, modifiedMs, ...said } = archived;
  const { messageCount, firstMessage } = said;
  const { transcripts, documents } = agentNamed(agent) ?? {};
  const isForeign = transcripts !== undefined || documents !== undefined;
  const transcript = { of: agent, isSubagent: false };
  return {
    path,
    // Decoding boundary: when it began is not recorded, as in files that lack it.
    header: { type: "session", id, cwd } as SessionHeader,
    name,
    summary: { messageCount, firstMessage, lastActivityMs: modifiedMs },
    dialect: agent === "omp" ? "omp" : "pi",
    ...(isForeign ? { transcript } : {}),
    modifiedMs,
    sizeBytes,
  };
}

/** Nothing is decompressed. */
function factsOf(archived: Archived): ListedFacts {
  const { path, id, cwd, sizeBytes, modifiedMs } = archived.session;
  const session = listedArchived(archived.session);
  const changedAt = new Date(modifiedMs);
  return {
    name: nameOf(archived),
    address: path,
    sessionId: id,
    cwd,
    sizeBytes,
    changedAt,
    session,
  };
}

async function* logsIn(
  kept: Archive,
  members: readonly Archived[],
  signal: AbortSignal | undefined,
): AsyncGenerator<StoredLog, void, undefined> {
  const found = new Map<PackedFile, Buffer>();
  try {
    await readInto(kept, members.flatMap(partsOf), found, signal);
  } catch (error) {
    if (!isBranchlogError(error, "ERR_ARCHIVE_DAMAGED")) throw error;
    kept.onProblem(error);
  }
  for (const one of members) {
    const bytes = bytesOf(one, found);
    if (bytes === undefined) continue;
    for (const file of partsOf(one)) found.delete(file);
    // A document may have been damaged before it was archived.
    const log = await logOf(one, bytes).catch((error: unknown) => damagedLog(kept, error));
    if (log !== undefined) yield log;
  }
}

/** Undefined once the problem was reported. */
function damagedLog(kept: Archive, error: unknown): undefined {
  if (!isBranchlogError(error)) throw error;
  kept.onProblem(error);
}

/** Checked against their hashes. Throws `ERR_ARCHIVE_DAMAGED`, the signal's reason. */
async function readInto(
  kept: Archive,
  files: readonly PackedFile[],
  found: Map<PackedFile, Buffer>,
  signal: AbortSignal | undefined,
): Promise<void> {
  await readPacked(
    kept,
    files,
    (file) => {
      const pieces: Buffer[] = [];
      return {
        add: (bytes) => pieces.push(Buffer.from(bytes)),
        finish: () => {
          found.set(file, Buffer.concat(pieces));
        },
      };
    },
    signal,
  );
}

async function openedLog(
  kept: Archive,
  archived: Archived,
  signal: AbortSignal | undefined,
): Promise<StoredLog> {
  const found = new Map<PackedFile, Buffer>();
  await readInto(kept, partsOf(archived), found, signal);
  return logOf(archived, bytesOf(archived, found) ?? Buffer.alloc(0));
}

/** A log that does not change; of a document the log made of it. */
async function logOf(archived: Archived, stored: Buffer): Promise<StoredLog> {
  const { path, agent, modifiedMs } = archived.session;
  const format = agentNamed(agent)?.documents;
  const documents = format?.mayBe(path) === true ? format : undefined;
  const bytes = (await documents?.toLog(path, { bytes: stored, changedMs: modifiedMs })) ?? stored;
  const name = nameOf(archived);
  const end = { generation: "archived", at: bytes.length };
  return {
    name,
    address: path,
    owner: documents,
    end: async () => end,
    read: ({ at }) => (at < bytes.length ? [bytes.subarray(at)] : []),
    append: () => Promise.reject(onlyRead(path)),
    watch: () => () => undefined,
  };
}

function onlyRead(name: string): BranchlogError {
  const message =
    `${name} is in the archive, which is read-only. Restore a session with branchlog restore, ` +
    "or restoreSession(), and use that.";
  return new BranchlogError("ERR_READ_ONLY", message, { id: name });
}
