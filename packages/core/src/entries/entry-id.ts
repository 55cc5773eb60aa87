/**
 * What may be asked for as the id of an entry: any string. Pure. Whether a log has such an entry is
 * another question; an id that is none is a mistake in the calling code, and never just not found.
 */
import { invalidArgument } from "../argument-checks.ts";

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
