/**
 * Whether a log stayed the same while a copy of it, or another form, was made. Programs that take
 * no lock rewrite logs in place: what is read then is the beginning of one log and the end of
 * another, or half of one. It is noticed by what fingerprint.ts remembers, and no more than that.
 */
import { BranchlogError, isBranchlogError } from "../errors.ts";
import { fingerprintOf, matchesFingerprint } from "../log/fingerprint.ts";
import type { LogFile } from "../store/log-file.ts";
import type { Engine } from "./engine.ts";

/**
 * Makes sure that what was read is one session, not the end of another than the beginning.
 * @throws BranchlogError `ERR_LOG_CHANGED`.
 */
export function requireSameLog({ log }: Engine): void {
  const stat = log.statSync();
  if (stat !== null && log.state.confirm(stat)) return;
  throw logChanged(log.path);
}

/**
 * What is made of a log, piece by piece, and at its end the certainty that it is of one log.
 * @throws BranchlogError `ERR_LOG_CHANGED` behind the last piece, or as soon as it shows.
 */
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

/**
 * What work reads of a log, if it is of one log.
 * @throws BranchlogError `ERR_LOG_CHANGED`.
 */
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

/**
 * A check, for when all of a file was read that is no open log, that its first `bytes` still are
 * what they are now. Two small reads, now and at each check.
 * @throws BranchlogError `ERR_LOG_CHANGED` about `path`, by the check.
 */
export function unchangedCheck(file: LogFile, bytes: number, path: string): () => void {
  const remembered = fingerprintOf(file, bytes);
  return () => {
    const stat = file.statSync();
    const isSame = stat !== null && file.isAt(stat) && stat.size >= bytes;
    if (!isSame || !matchesFingerprint(file, remembered)) throw logChanged(path);
  };
}

/** `ERR_LOG_CHANGED`, for a source that was replaced or rewritten while it was copied. */
export function logChanged(path: string, cause?: unknown): BranchlogError {
  const message =
    `${path} was replaced, rewritten or deleted while it was read, so nothing was written. ` +
    "Try again.";
  return new BranchlogError("ERR_LOG_CHANGED", message, {
    path,
    ...(cause === undefined ? {} : { cause }),
  });
}

/** A session that follows its log may have gone on to another one meanwhile. */
function requireSameGeneration(engine: Engine, generation: number): void {
  if (engine.log.generation !== generation) throw logChanged(engine.path);
  requireSameLog(engine);
}

/** Bodies that are gone halfway tell of the same: there is nothing to refresh for a copy. */
function orChanged(error: unknown, { path }: Engine): unknown {
  return isBranchlogError(error, "ERR_LOG_GONE") ? logChanged(path, error) : error;
}
