/** A log of version 1 or 2 as a file of the current version, for what reads only that one. */
import { isBranchlogError } from "../errors.ts";
import { migratedChunks } from "../log/migration.ts";
import {
  createStreamedLog,
  creationFailed,
  inBatches,
  temporaryPath,
} from "../platform/atomic-file.ts";
import type { Engine } from "../session/engine.ts";
import { requireSameLog } from "../session/same-log.ts";

/**
 * Creates it under a temporary name next to `target`, where the caller removes it.
 *
 * @throws BranchlogError `ERR_CREATE_FAILED`, which names `target`; `ERR_LOG_CHANGED`; the signal's
 * reason.
 */
export async function migratedCopy(
  engine: Engine,
  target: string,
  signal?: AbortSignal,
): Promise<string> {
  const { ports } = engine.settings;
  const path = temporaryPath(ports, target);
  try {
    await createStreamedLog(ports, path, inBatches(migratedWhole(engine), signal));
  } catch (error) {
    // The caller was asked for another file: the error names that one.
    if (!isBranchlogError(error, "ERR_CREATE_FAILED")) throw error;
    throw creationFailed(target, error.cause);
  }
  return path;
}

function* migratedWhole(engine: Engine): Generator<Buffer> {
  const { file, state } = engine.log;
  yield* migratedChunks(file, state, 0, state.end);
  requireSameLog(engine);
}
