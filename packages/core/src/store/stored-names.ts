/** What all stores say of names of logs. */
import { invalidArgument, shown } from "../argument-checks.ts";
import { BranchlogError } from "../errors.ts";

const form = /^[A-Za-z0-9][\w.-]{0,199}$/;

/** Throws `ERR_INVALID_ARGUMENT`. */
export function requireStoredName(name: unknown): string {
  if (typeof name === "string" && form.test(name)) return name;
  throw invalidArgument(
    `The name of a log in a store has up to 200 letters, digits, ".", "_" and "-", and begins ` +
      `with a letter or digit; it cannot be ${shown(name)}`,
  );
}

export function storedLogMissing(name: string): BranchlogError {
  const message = `There is no log ${name} in the store. Check the name, or create one.`;
  return new BranchlogError("ERR_LOG_MISSING", message, { id: name });
}

export function storedLogExists(name: string, cause?: unknown): BranchlogError {
  const message = `There is a log ${name} in the store already; it was left as it is.`;
  return new BranchlogError("ERR_LOG_EXISTS", message, { id: name, cause });
}

export function storedLogGone(name: string): BranchlogError {
  const message =
    `The log ${name} that was read is gone from the store: it was removed, replaced or set ` +
    "back. Open it again.";
  return new BranchlogError("ERR_LOG_GONE", message, { id: name });
}
