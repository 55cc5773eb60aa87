/**
 * A deleted log is written back from the file that is still open here, including entries of others;
 * entries that a failed sync left unsynced, or that a store lost, are appended again, with the same
 * ids.
 */
import { decodeLine, runAsync } from "@branchlog/streaming";
import { idsOf, notAppended } from "../append/append-result.ts";
import { BranchlogError, isBranchlogError } from "../errors.ts";
import type { CommitWork } from "../log/commit.ts";
import type { LinePlan, PlannedLine } from "../log/line-plan.ts";
import { createLog } from "../platform/atomic-file.ts";
import type { LostLine } from "../store/log-store.ts";
import type { Engine } from "./engine.ts";

/** The result of a recovery. */
export interface Recovery {
  /** The log was deleted, and was written back. */
  readonly isRestored: boolean;
  /** Ids of entries that were appended again: each is in the log twice now, and counts once. */
  readonly appendedAgain: readonly string[];
}

/**
 * Throws `ERR_LOG_GONE` if the file is no longer open here; `ERR_DURABILITY_UNKNOWN` if the disk
 * fails again.
 */
export async function recoverLog(engine: Engine): Promise<Recovery> {
  engine.appender.requireWritable();
  const isRestored = restore(engine);
  await engine.refresh();
  const { stored } = engine.log;
  if (stored !== undefined) {
    const lost = (await stored.lostLines?.()) ?? [];
    const appendedAgain =
      lost.length === 0 ? [] : await appendAgain(engine, () => gone(engine, lost));
    return { isRestored, appendedAgain };
  }
  if (!engine.durability.isInDoubt) return { isRestored, appendedAgain: [] };
  const appendedAgain = await appendAgain(engine, () => linesInDoubt(engine));
  try {
    await engine.durability.settleDoubt();
  } catch (error) {
    throw engine.durability.unknown(appendedAgain, error);
  }
  return { isRestored, appendedAgain };
}

/** The reported lines that the log does not have again. */
function gone({ index }: Engine, lost: readonly LostLine[]): readonly PlannedLine[] {
  return lost
    .filter(({ id }) => index.rowOfId(id) < 0)
    .map(({ id, line }) => ({ id, line: Buffer.from(`${line}\n`) }));
}

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

async function appendAgain(
  engine: Engine,
  linesNow: () => readonly PlannedLine[],
): Promise<readonly string[]> {
  const { log, settings } = engine;
  const { ports, lockWaitMs } = settings;
  const work: CommitWork<LinePlan> = {
    ports,
    lockWaitMs,
    releasePolicy: "immediate",
    take: () => ({
      requiresCatchUp: true,
      plan: () => ({ lines: linesNow(), needsSeparator: true }),
    }),
  };
  const steps = log.commit(work);
  const { verification, plan: done } = await runAsync(steps).catch((error: unknown) => {
    if (!isBranchlogError(error, "ERR_APPEND_UNCERTAIN")) throw notAppended(engine.path, error);
    throw disturbed(engine.path, idsOf(linesNow()), error);
  });
  const ids = done.lines.map(({ id }) => id);
  if (!verification.isAsPlanned) throw disturbed(engine.path, ids, verification.failure?.cause);
  engine.appender.marks.setOwn();
  return ids;
}

/** An entry that may have been written but is not in the log cannot be written again. */
function linesInDoubt(engine: Engine): readonly PlannedLine[] {
  const ids = [...new Set(engine.durability.unsyncedIds)];
  const found = ids.filter((id) => engine.index.rowOfId(id) >= 0);
  return found.map((id) => ({ id, line: lineOf(engine, id) }));
}

function lineOf({ bodies, index, path }: Engine, id: string): Buffer {
  const bytes = bodies.lineSync(index.rowOfId(id));
  const decoded = decodeLine(bytes);
  if (decoded.ok && decoded.value["id"] === id) return Buffer.concat([bytes, Buffer.from("\n")]);
  const message = `Entry ${id} of ${path} cannot be read back; nothing was appended again.`;
  throw new BranchlogError("ERR_LOG_GONE", message, { path, id });
}

function disturbed(path: string, uncertain: readonly string[], cause: unknown): BranchlogError {
  const message =
    `Other programs wrote to ${path}, or the disk or the store failed, while entries were ` +
    "appended again. Call recover() again.";
  return new BranchlogError("ERR_APPEND_UNCERTAIN", message, { path, uncertain, cause });
}
