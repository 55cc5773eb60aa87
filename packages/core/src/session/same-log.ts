/**
 * Whether a log stayed unchanged while it was read. Programs that take no lock rewrite logs in
 * place, so that a read may mix two logs; the fingerprint shows it.
 */
import { BranchlogError, isBranchlogError } from "../errors.ts";
import type { Engine } from "./engine.ts";

/** Throws `ERR_LOG_CHANGED`. */
export function requireSameLog({ log }: Engine): void {
  const stat = log.statSync();
  if (stat !== null && log.state.confirm(stat)) return;
  throw logChanged(log.path);
}

/** Passes the pieces on; throws `ERR_LOG_CHANGED` after the last one, or as soon as it shows. */
export async function* piecesOfOneLog<T>(
  engine: Engine,
  pieces: AsyncIterable<T>,
): AsyncGenerator<T, void, undefined> {
  const { generation } = engine.log;
  try {
    yield* pieces;
    requireSameGeneration(engine, generation);
  } catch (error) {
    throw orChanged(error, engine);
  }
}

/** Throws `ERR_LOG_CHANGED` unless all reads were of one log. */
export async function readOfOneLog<T>(engine: Engine, work: () => Promise<T>): Promise<T> {
  const { generation } = engine.log;
  try {
    const made = await work();
    requireSameGeneration(engine, generation);
    return made;
  } catch (error) {
    throw orChanged(error, engine);
  }
}

function logChanged(path: string, cause?: unknown): BranchlogError {
  const message =
    `${path} was replaced, rewritten or deleted while it was read, so nothing was written. ` +
    "Try again.";
  return new BranchlogError("ERR_LOG_CHANGED", message, {
    path,
    ...(cause === undefined ? {} : { cause }),
  });
}

/** A session that follows its log may have moved to another generation. */
function requireSameGeneration(engine: Engine, generation: number): void {
  if (engine.log.generation !== generation) throw logChanged(engine.path);
  requireSameLog(engine);
}

/** Bodies that are gone halfway mean the same: a copy has nothing to refresh. */
function orChanged(error: unknown, { path }: Engine): unknown {
  return isBranchlogError(error, "ERR_LOG_GONE") ? logChanged(path, error) : error;
}
