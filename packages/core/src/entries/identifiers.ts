/**
 * Ids and names that callers give: which are accepted, and in what form they are stored.
 */
import { invalidArgument } from "../argument-checks.ts";
import { BranchlogError } from "../errors.ts";

// An entry id is any string. An argument that is not a string is a mistake in the calling code, and
// never just not found.

/**
 * The id, if it is one; types do not hold back callers in JavaScript.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT` for everything that is not a string.
 */
export function requireEntryId(id: string): string {
  const given: unknown = id;
  if (typeof given === "string") return given;
  const kind = given === null ? "null" : typeof given;
  const message = `The id of an entry is a string; this is ${kind}. Pass an entry's own id.`;
  throw invalidArgument(message);
}

// The rule for session ids that callers choose: safe as part of a file name on every system.

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

// The form in which a session name is stored. Pure; names already stored are left as they are.

/** One line without surrounding white space: as pi stores names since 0.80.0. May be empty. */
export function normalizeName(name: string): string {
  return name.replace(/[\r\n]+/g, " ").trim();
}
