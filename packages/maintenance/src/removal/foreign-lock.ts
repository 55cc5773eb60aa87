/**
 * The locks of omp, which are files: `.<file>.lock` while it appends, `<file>.lock` while it checks
 * after drafts. They hold the id of their process and a time. Only read, never taken.
 */
import { readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isLiveProcess, lockStaleMs } from "@branchlog/core/internal";

/**
 * The lock that omp holds on a session file, or undefined. One of a process that is gone does not
 * count, unless it was written a moment ago: the process may run in another container.
 */
export function heldByOmp(path: string, nowMs: number): string | undefined {
  const [directory, name] = [dirname(path), basename(path)];
  const locks = [join(directory, `.${name}.lock`), `${path}.lock`];
  return locks.find((lock) => isHeld(lock, nowMs));
}

function isHeld(lock: string, nowMs: number): boolean {
  try {
    const stats = statSync(lock);
    if (!stats.isFile()) return false;
    if (nowMs - stats.mtimeMs < lockStaleMs) return true;
    const pid = /^\d+/.exec(readFileSync(lock, "latin1"))?.[0];
    return pid !== undefined && isLiveProcess(Number(pid));
  } catch {
    // It is gone, or says nothing.
    return false;
  }
}
