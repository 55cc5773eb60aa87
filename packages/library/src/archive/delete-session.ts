/**
 * Deletes a session file with its sidecars, unless a writer may have it open: it is kept for 30
 * days, or removed permanently.
 */
import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { OptionNames } from "@branchlog/streaming";
import { BranchlogError } from "@branchlog/core";
import type { SessionHeader } from "@branchlog/core";
import type { EngineOptions } from "@branchlog/core/types";
import { errorCodeOf, requireOptions, requireText } from "@branchlog/core/files";
import { documentFormatOf, transcriptErrorAt } from "@branchlog/core/rows";
import { mayBeDocument } from "../catalog/agent-files.ts";
import { readSessionHeaderSync } from "../catalog/session-header.ts";
import { expireTrash } from "./archive-sessions.ts";
import { statOf } from "./file-state.ts";
import { Archive, dataDirectoryNames } from "./archive-directory.ts";
import type { DataDirectoryOptions } from "./archive-directory.ts";
import { recoverAside } from "./recover-aside.ts";
import { removalFailed, requireOwnFiles } from "./removal-errors.ts";
import { keptThere, removeSessions, removeTogether } from "./remove-sessions.ts";
import { hashOfFile } from "./restore-file.ts";
import { trashMs } from "./limits.ts";
import { sidecarsOf } from "./sidecars.ts";

export interface DeleteOptions extends DataDirectoryOptions, Pick<EngineOptions, "checkpointDir"> {
  /** Also while another process holds its lock, or omp its own. Default false. */
  readonly force?: boolean;
  /** Removes it permanently, instead of keeping it for 30 days. Default false. */
  readonly permanent?: boolean;
}

const deleteNames: OptionNames<DeleteOptions> = {
  checkpointDir: true,
  ...dataDirectoryNames,
  force: true,
  permanent: true,
};

export interface DeleteResult {
  /** Canonical path of the session file that was there. */
  readonly path: string;
  readonly id: string;
  /** `trash`: it can be restored for 30 days. `unlinked`: it is permanently removed. */
  readonly how: "trash" | "unlinked";
  /** To undo it; null if it is permanently removed. */
  readonly operation: string | null;
  /** Derived files that were removed with it. */
  readonly removed: readonly string[];
  /** Files that stay; also the path itself, if another program created a new file there. */
  readonly kept: readonly string[];
}

/**
 * Deletes a session file. It is kept for 30 days, for `undoOperation`, unless `permanent`.
 * Checkpoints and temporary files go as well; originals, salvage files and artifacts stay. Symbolic
 * links are rejected. Open sessions see `ERR_LOG_GONE`.
 * @throws BranchlogError `ERR_SESSION_BUSY`, `ERR_LOG_MISSING`, `ERR_LOG_UNREADABLE`,
 * `ERR_NOT_A_SESSION`, `ERR_LOG_CHANGED`, `ERR_DELETE_FAILED`, `ERR_ARCHIVE_FAILED`,
 * `ERR_INVALID_ARGUMENT`; the session was kept.
 * @example
 * const { how, kept } = await deleteSession("old.jsonl");
 */
export async function deleteSession(
  path: string,
  options: DeleteOptions = {},
): Promise<DeleteResult> {
  const {
    permanent = false,
    force = false,
    checkpointDir,
    ...place
  } = requireOptions(options, deleteNames);
  const files = new Archive(place);
  await recoverAside(files, [resolve(requireText("The path", path))]);
  const file = deletableFile(path);
  const { removed, kept } = sidecarsOf(file.path, checkpointDir);
  if (files.holds(file.path)) {
    throw removalFailed(file.path, keptThere);
  }
  const { path: canonical, header } = file;
  const shared = (): Pick<DeleteResult, "path" | "id" | "kept"> => ({
    path: canonical,
    id: header.id,
    kept: statOf(canonical) === undefined ? kept : [canonical, ...kept],
  });
  if (permanent) {
    await removeForGood(file.path, removed, force, files);
    return { ...shared(), how: "unlinked", operation: null, removed };
  }
  await expireTrash(files);
  const session = { path: file.path, isOwn: true, attachments: [], derived: removed };
  const { operation, failures } = await removeSessions(files, [session], {
    kind: "delete",
    force,
    requiresIdle: false,
    keptUntilMs: files.ports.clock.now() + trashMs,
  });
  const [failure] = failures;
  if (failure !== undefined) throw failure;
  return { ...shared(), how: "trash", operation, removed };
}

async function removeForGood(
  path: string,
  derived: readonly string[],
  force: boolean,
  { ports }: Archive,
): Promise<void> {
  const sha256 = (await hashOfFile(path)) ?? "";
  const leaving = { path, files: [{ path, sha256 }], isOwn: true, derived };
  const left = (await removeTogether([leaving], { force }, ports)).get(path);
  if (left?.error !== undefined) throw left.error;
}

const archiveAdvice =
  "branchlog archive removes it with its other files, and branchlog restore restores it.";

interface DeletableFile {
  readonly path: string;
  /** As stored: foreign files may lack any field but the id. */
  readonly header: SessionHeader;
}

/** Rejects a symbolic link: it is unclear what to delete. */
function deletableFile(path: string): DeletableFile {
  const named = resolve(path);
  requireOwnFiles(named, mayBeDocument(named) ? documentFormatOf(named)?.agent : undefined);
  const stats = readable(named, () => lstatSync(named));
  if (stats.isSymbolicLink()) {
    const target = readlinkSync(named);
    const message = `${named} is a symbolic link to ${target}.`;
    const advice = `branchlog delete ${target} deletes that; or remove the link yourself.`;
    throw refused("ERR_NOT_A_SESSION", named, `${message} ${advice}`);
  }
  if (!stats.isFile()) {
    const what = stats.isDirectory() ? "a directory" : "not a regular file";
    const advice = "branchlog archive takes directories, branchlog list shows the sessions.";
    throw refused(
      "ERR_LOG_UNREADABLE",
      named,
      `${named} is ${what}, not a session file. ${advice}`,
    );
  }
  const canonical = join(realpathSync(dirname(named)), basename(named));
  const header = readable(canonical, () => readSessionHeaderSync(canonical));
  if (header !== undefined) return { path: canonical, header };
  const foreign = transcriptErrorAt(canonical, archiveAdvice);
  if (foreign !== undefined) throw foreign;
  const message =
    `${named} has no readable session header, so it may not be a session. branchlog repair shows ` +
    "whether it can be repaired.";
  throw refused("ERR_NOT_A_SESSION", named, message);
}

function readable<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (errorCodeOf(cause) === "ENOENT") {
      const message =
        `There is no session file at ${path}. branchlog list shows the existing ones, ` +
        "branchlog ops what was deleted.";
      throw new BranchlogError("ERR_LOG_MISSING", message, { path, cause });
    }
    const message =
      `${path} cannot be read (${String(cause)}). Check its permissions, and ` +
      "repeat branchlog delete.";
    throw new BranchlogError("ERR_LOG_UNREADABLE", message, { path, cause });
  }
}

function refused(
  code: "ERR_LOG_UNREADABLE" | "ERR_NOT_A_SESSION",
  path: string,
  message: string,
): BranchlogError {
  return new BranchlogError(code, `${message} It was not changed.`, { path });
}
