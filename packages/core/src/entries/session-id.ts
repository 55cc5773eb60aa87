/** The rule for session ids that callers choose: safe as part of a file name on every system. */
import { BranchlogError } from "../errors.ts";

const validId = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;

/** Whether an id may become that of a new session. */
export function isValidSessionId(id: string): boolean {
  return validId.test(id);
}

/**
 * Checks an id that is to become that of a new session. Ids already stored are never refused.
 * @throws BranchlogError `ERR_INVALID_SESSION_ID`, with pi's message.
 */
export function assertValidSessionId(id: string): void {
  if (isValidSessionId(id)) return;
  throw new BranchlogError(
    "ERR_INVALID_SESSION_ID",
    "Session id must be non-empty, contain only alphanumeric characters, '-', '_', and '.', " +
      "and start and end with an alphanumeric character",
    { id },
  );
}
