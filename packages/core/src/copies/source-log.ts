/** Whether the source of a copy stayed the same while it was read. */
import { BranchlogError } from "../errors.ts";
import type { Engine } from "../session/engine.ts";

/**
 * Makes sure that what was read is one session, not the end of another than the beginning.
 * @throws BranchlogError `ERR_LOG_CHANGED`.
 */
export function requireSameLog({ log }: Engine): void {
  const stat = log.statSync();
  if (stat !== null && log.state.confirm(stat)) return;
  throw logChanged(log.path);
}

/** `ERR_LOG_CHANGED`, for a source that was replaced or rewritten while it was copied. */
export function logChanged(path: string): BranchlogError {
  const message =
    `${path} was replaced, rewritten or deleted while it was read, so nothing was written. ` +
    "Try again.";
  return new BranchlogError("ERR_LOG_CHANGED", message, { path });
}
