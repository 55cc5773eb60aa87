/** Opens a file that should be a session, and says what else it is in pi's words. Never writes. */
import { BranchlogError, isBranchlogError } from "../../errors.ts";
import { engineSettings } from "../../session/engine-options.ts";
import type { EngineOptions } from "../../session/engine-options.ts";
import { fileLog } from "./session-log.ts";
import type { SessionLog } from "./session-log.ts";

/** What a path leads to: a log, or a place where a session may begin. */
export type FoundLog = SessionLog | "missing" | "empty";

/**
 * The log in a file; `missing` or `empty` if a session may begin there.
 * @throws BranchlogError `ERR_NOT_A_SESSION`, `ERR_HEADER_DAMAGED`, `ERR_LOG_UNREADABLE`.
 */
export function openExisting(file: string, options: EngineOptions): FoundLog {
  try {
    return fileLog(file, options);
  } catch (error) {
    if (!isBranchlogError(error)) throw error;
    switch (error.code) {
      case "ERR_LOG_MISSING":
        return "missing";
      case "ERR_LOG_EMPTY":
        return "empty";
      case "ERR_NOT_A_SESSION":
      case "ERR_HEADER_DAMAGED":
        throw inPiWords(error, file, `Session file is not a valid pi session: ${file}`);
      case "ERR_LOG_UNREADABLE":
        if (!isDirectory(file, options)) throw error;
        throw inPiWords(error, file, "EISDIR: illegal operation on a directory, read");
      default:
        throw error;
    }
  }
}

function inPiWords(error: BranchlogError, path: string, message: string): BranchlogError {
  return new BranchlogError(error.code, message, { path, cause: error });
}

function isDirectory(file: string, options: EngineOptions): boolean {
  return engineSettings(options).ports.fs.statSync(file)?.isDirectory === true;
}
