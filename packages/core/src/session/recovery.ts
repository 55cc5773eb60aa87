/**
 * Makes a log hold again what a session knows it should: a log that was deleted is written back
 * from the file that is still open here, whole, also what others appended; entries of which a
 * failed sync left unknown whether the disk has them are appended again, with the same ids. What
 * neither way brings back is said, not invented.
 */
import { decodeLine } from "@branchlog/streaming";
import { BranchlogError, isBranchlogError } from "../errors.ts";
import { createLog } from "../store/atomic-file.ts";
import { commit, notAppended } from "../append/commit.ts";
import type { CommitWork, LinePlan, PlannedLine } from "../append/commit.ts";
import type { Engine } from "./engine.ts";
import { runAsync } from "../store/steps.ts";

/** The result of a recovery. */
export interface Recovery {
  /** The log was gone, and was written back. */
  readonly isRestored: boolean;
  /** Ids of entries that were appended again: each is in the log twice now, and counts once. */
  readonly appendedAgain: readonly string[];
}

/**
 * Recovers the log of an engine and reads it. Does nothing to a log that lacks nothing.
 * @throws BranchlogError `ERR_LOG_GONE` if the file is not open here any more either, or entries
 * cannot be read back; `ERR_DURABILITY_UNKNOWN` if the disk fails again; `ERR_READ_ONLY`,
 * `ERR_VERSION_NEWER`, `ERR_LOCK_TIMEOUT`, `ERR_APPEND_FAILED`, `ERR_APPEND_UNCERTAIN`; what
 * creating a file throws.
 */
export async function recoverLog(engine: Engine): Promise<Recovery> {
  engine.appender.requireWritable();
  const isRestored = restore(engine);
  engine.refreshSync();
  const appendedAgain = engine.durability.isInDoubt ? await appendAgain(engine) : [];
  return { isRestored, appendedAgain };
}

/** Gives the log its name and its bytes back; false if something has the name. */
function restore({ log, path, settings }: Engine): boolean {
  if (log.file.statSync() !== null) return false;
  try {
    createLog(settings.ports, path, log.file.openBytes());
    return true;
  } catch (error) {
    // Another session was faster.
    if (isBranchlogError(error, "ERR_LOG_EXISTS")) return false;
    throw error;
  }
}

async function appendAgain(engine: Engine): Promise<readonly string[]> {
  const { log, durability, settings } = engine;
  const { ports, lockWaitMs } = settings;
  const work: CommitWork<LinePlan> = {
    ports,
    lockWaitMs,
    releasePolicy: "immediate",
    requiresCatchUp: () => true,
    plan: () => ({ lines: linesInDoubt(engine), needsSeparator: true }),
  };
  const steps = commit(log, work);
  const { verification, plan: done } = await runAsync(steps, ports.clock).catch(
    (error: unknown) => {
      throw notAppended(engine.path, error);
    },
  );
  const ids = done.lines.map(({ id }) => id);
  if (!verification.isAsPlanned) throw disturbed(engine.path, verification.failure?.cause);
  engine.appender.markOwn();
  try {
    await durability.settleDoubt();
  } catch (error) {
    throw durability.unknown(ids, error);
  }
  return ids;
}

/**
 * An entry that is not found in the log, though it may have been written, cannot be written again.
 */
function linesInDoubt(engine: Engine): readonly PlannedLine[] {
  const ids = [...new Set(engine.durability.unsyncedIds)];
  const found = ids.filter((id) => engine.index.rowOfId(id) >= 0);
  return found.map((id) => ({ id, line: lineOf(engine, id) }));
}

/** The line of an entry as it is stored, with its newline. */
function lineOf({ bodies, index, path }: Engine, id: string): Buffer {
  const bytes = bodies.lineSync(index.rowOfId(id));
  const decoded = decodeLine(bytes);
  if (decoded.ok && decoded.value["id"] === id) return Buffer.concat([bytes, Buffer.from("\n")]);
  const message = `Entry ${id} of ${path} cannot be read back; nothing was appended again.`;
  throw new BranchlogError("ERR_LOG_GONE", message, { path, id });
}

function disturbed(path: string, cause: unknown): BranchlogError {
  const message =
    `Other programs wrote to ${path}, or the disk failed, while entries were appended again. ` +
    "Call recover() again.";
  return new BranchlogError("ERR_APPEND_UNCERTAIN", message, { path, cause });
}
