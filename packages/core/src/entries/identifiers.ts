/** Validation and normal forms of ids and names given by callers. */
import { invalidArgument } from "../argument-checks.ts";
import { BranchlogError } from "../errors.ts";

/**
 * An entry id is any string; anything else is a mistake of the caller, not a missing entry.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT` for anything but a string.
 */
export function requireEntryId(id: string): string {
  const given: unknown = id;
  if (typeof given === "string") return given;
  const kind = given === null ? "null" : typeof given;
  const message = `The id of an entry is a string; this is ${kind}. Pass an entry's own id.`;
  throw invalidArgument(message);
}

// Safe as part of a file name on every system.

const validId = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;

export function isValidSessionId(id: string): boolean {
  return validId.test(id);
}

/**
 * For new sessions; stored ids are never refused.
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

/** A name on one line and trimmed, as pi stores it since 0.80.0. May be empty. Pure. */
export function normalizeName(name: string): string {
  return name.replace(/[\r\n]+/g, " ").trim();
}
