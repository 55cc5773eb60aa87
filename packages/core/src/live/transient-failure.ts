/** Which failures to read a log may pass: those of its file, not those of anybody's code. */
import { isBranchlogError } from "../errors.ts";

/** Whether it makes sense to try again what failed so, when the file was looked at again. */
export function isTransient(error: unknown): boolean {
  return isBranchlogError(error, "ERR_LOG_GONE") || isBranchlogError(error, "ERR_LOG_UNREADABLE");
}
