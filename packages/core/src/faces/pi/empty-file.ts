/**
 * Makes an empty file a session: the one case in which opening writes, as pi does it. The header is
 * written under the lock of the log, and only if the file is still empty then.
 */
import { acquireLock } from "../../session/lock-wait.ts";
import { engineSettings } from "../../session/engine-options.ts";
import type { EngineOptions } from "../../session/engine-options.ts";
import { runSync } from "../../session/steps.ts";
import type { Steps } from "../../session/steps.ts";
import { LogFile } from "../../store/log-file.ts";
import type { Ports } from "../../store/ports.ts";

/**
 * Writes the header line unless somebody else was faster.
 * @throws BranchlogError `ERR_LOCK_TIMEOUT`; what the file system throws.
 */
export function claimEmptyFile(path: string, header: Buffer, options: EngineOptions): void {
  const { ports, lockWaitMs } = engineSettings(options);
  const file = new LogFile(ports.fs, path);
  runSync(claim(file, header, ports, lockWaitMs), ports.clock);
}

function* claim(file: LogFile, header: Buffer, ports: Ports, lockWaitMs: number): Steps<void> {
  const held = yield* acquireLock(file.path, ports, lockWaitMs);
  try {
    const stat = file.statSync();
    if (stat === null || stat.size > 0) return;
    file.adopt(stat);
    for (let done = 0; done < header.length;) done += file.appendSync(header.subarray(done));
  } finally {
    held.releaseSync();
  }
}
