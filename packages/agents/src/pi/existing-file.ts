/** Opens a file that should be a session, with the agent's error messages. */
import { runSync } from "@branchlog/streaming";
import type { Steps } from "@branchlog/streaming";
import type { DialectName } from "@branchlog/core/entries";
import { BranchlogError, isBranchlogError } from "@branchlog/core";
import { engineSettings, acquireLock, LogFile } from "@branchlog/core/files";
import type { EngineOptions, Ports } from "@branchlog/core/types";
import { fileLog } from "./session-log.ts";
import type { SessionLog } from "./session-log.ts";
import { storeOf } from "./session-places.ts";

/** The dialect is for new logs. Default: pi's. */
export interface FaceOptions extends EngineOptions {
  readonly newSessionDialect?: DialectName | undefined;
}

/** `missing` and `empty`: a session may be created there. */
export type FoundLog = SessionLog | "missing" | "empty";

/**
 * Never writes.
 *
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
        // A store makes no log without a header; its creator may be about to write it.
        if (storeOf(file) !== undefined) throw error;
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
    // The caller's error describes the path.
    return false;
  }
}

/**
 * Writes the header of an empty file, as pi does: the only write of opening. Under the lock of the
 * log, and only if it is still empty.
 *
 * @throws BranchlogError `ERR_LOCK_TIMEOUT`, `ERR_CREATE_FAILED`.
 */
export function claimEmptyFile(path: string, header: Buffer, options: EngineOptions): void {
  const { ports, lockWaitMs } = engineSettings(options);
  const file = new LogFile(ports.fs, path);
  try {
    runSync(claim(file, header, ports, lockWaitMs));
  } catch (error) {
    throw notClaimed(path, error);
  }
}

function* claim(file: LogFile, header: Buffer, ports: Ports, lockWaitMs: number): Steps<void> {
  const held = yield* acquireLock(file.path, ports, lockWaitMs);
  try {
    const stat = file.statSync();
    if (stat === null || stat.size > 0) return;
    file.adopt(stat);
    writeWhole(file, header);
  } finally {
    held.releaseSync();
  }
}

function writeWhole(file: LogFile, header: Buffer): void {
  for (let done = 0; done < header.length;) {
    const taken = file.appendSync(header.subarray(done));
    if (taken === 0) throw new Error("the file system took none of the bytes");
    done += taken;
  }
}

function notClaimed(path: string, cause: unknown): BranchlogError {
  if (cause instanceof BranchlogError) return cause;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message =
    `The empty file ${path} could not be made a session (${reason}). Remove the cause, empty the ` +
    "file, and open it again.";
  return new BranchlogError("ERR_CREATE_FAILED", message, { path, cause });
}
