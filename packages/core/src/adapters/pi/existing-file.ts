/** Opens a file that should be a session, or says what it is as the agent does. Never writes. */
import type { DialectName } from "../../dialects/dialect.ts";
import { BranchlogError, isBranchlogError } from "../../errors.ts";
import { engineSettings } from "../../log/engine-options.ts";
import type { EngineOptions } from "../../log/engine-options.ts";
import { fileLog } from "./session-log.ts";
import type { SessionLog } from "./session-log.ts";

/** How logs are opened, and whose dialect new ones are written in. Default: pi's. */
export interface FaceOptions extends EngineOptions {
  readonly newSessionDialect?: DialectName | undefined;
}

/** What a path leads to: a log, or a place where a session may begin. */
export type FoundLog = SessionLog | "missing" | "empty";

/**
 * The log in a file; `missing` or `empty` if a session may begin there.
 * @throws BranchlogError `ERR_NOT_A_SESSION`, `ERR_HEADER_DAMAGED`, `ERR_LOG_UNREADABLE`.
 */
export function openExisting(file: string, options: FaceOptions): FoundLog {
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
        throw inItsWords(error, file, notASession(file, options));
      case "ERR_LOG_UNREADABLE":
        if (!isDirectory(file, options)) throw error;
        throw inItsWords(error, file, "EISDIR: illegal operation on a directory, read");
      default:
        throw error;
    }
  }
}

function notASession(file: string, { newSessionDialect = "pi" }: FaceOptions): string {
  return `Session file is not a valid ${newSessionDialect} session: ${file}`;
}

function inItsWords(error: BranchlogError, path: string, message: string): BranchlogError {
  return new BranchlogError(error.code, message, { path, cause: error });
}

function isDirectory(file: string, options: EngineOptions): boolean {
  try {
    return engineSettings(options).ports.fs.statSync(file)?.isDirectory === true;
  } catch {
    // The error at hand says what is wrong with the path.
    return false;
  }
}
