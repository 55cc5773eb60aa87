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

const problems = {
  missing: {
    code: "ERR_LOG_MISSING",
    text: (name: string) => `There is no log ${name} in the store. Check the name, or create one.`,
  },
  exists: {
    code: "ERR_LOG_EXISTS",
    text: (name: string) => `There is a log ${name} in the store already; it was not changed.`,
  },
  gone: {
    code: "ERR_LOG_GONE",
    text: (name: string) =>
      `The log ${name} is no longer in the store as it was read: it was removed, replaced or set ` +
      "back. Open it again.",
  },
} as const;

/** @param what Whether there is no such log, one that should not be, or another one since. */
export function storedLogError(
  what: "missing" | "exists" | "gone",
  name: string,
  cause?: unknown,
): BranchlogError {
  const { code, text } = problems[what];
  return new BranchlogError(code, text(name), { id: name, cause });
}
