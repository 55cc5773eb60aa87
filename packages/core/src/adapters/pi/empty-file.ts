/**
 * Makes an empty file a session: the one case in which opening writes, as pi does it. The header is
 * written under the lock of the log, and only if the file is still empty then.
 */
import { BranchlogError } from "../../errors.ts";
import { acquireLock } from "../../store/lock.ts";
import { engineSettings } from "../../log/engine-options.ts";
import type { EngineOptions } from "../../log/engine-options.ts";
import { runSync } from "../../store/steps.ts";
import type { Steps } from "../../store/steps.ts";
import { LogFile } from "../../store/log-file.ts";
import type { Ports } from "../../store/ports.ts";

/**
 * Writes the header line unless somebody else was faster.
 * @throws BranchlogError `ERR_LOCK_TIMEOUT`, `ERR_CREATE_FAILED`.
 */
export function claimEmptyFile(path: string, header: Buffer, options: EngineOptions): void {
  const { ports, lockWaitMs } = engineSettings(options);
  const file = new LogFile(ports.fs, path);
  try {
    runSync(claim(file, header, ports, lockWaitMs), ports.clock);
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
