/** The source of a fork, in pi's words if it is none. */
import { BranchlogError, isBranchlogError } from "../../errors.ts";
import type { ErrorCode } from "../../errors.ts";
import { Engine } from "../../session/engine.ts";
import type { EngineOptions } from "../../log/engine-options.ts";

const notForkable: ReadonlySet<ErrorCode> = new Set([
  "ERR_LOG_MISSING",
  "ERR_LOG_EMPTY",
  "ERR_NOT_A_SESSION",
  "ERR_HEADER_DAMAGED",
]);

/**
 * Opens the session that is to be copied.
 * @throws BranchlogError in pi's words if it is none.
 */
export function openForkSource(path: string, options: EngineOptions): Engine {
  try {
    return Engine.openSync(path, { ...options, access: "read" });
  } catch (error) {
    if (!isBranchlogError(error) || !notForkable.has(error.code)) throw error;
    const message = `Cannot fork: source session file is empty or invalid: ${path}`;
    throw new BranchlogError(error.code, message, { path, cause: error });
  }
}
