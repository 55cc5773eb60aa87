/**
 * Removes what Branchlog keeps beside a session once the session is gone: its checkpoint, a lock
 * that nobody holds, a queue that nobody waits in. Nobody has a use for them then. Every other file
 * stays, also one that only has such a name. Throws nothing.
 */
import { lstat, open, readdir, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { indexFrame } from "../checkpoint/checkpoint-format.ts";
import { lockStaleMs } from "../limits.ts";
import { removeAbandonedTickets } from "../store/lock-queue.ts";

/** Removes what is left in a directory of the sessions that are not there any more. */
export async function removeOrphans(directory: string): Promise<void> {
  try {
    const names = await readdir(directory);
    await removeOrphansAmong(directory, names);
  } catch {
    // Whoever reads the directory says what is wrong with it.
  }
}

/** As {@link removeOrphans}, for whoever knows the names in the directory already. */
export async function removeOrphansAmong(
  directory: string,
  names: readonly string[],
): Promise<void> {
  const there = new Set(names);
  for (const name of names) {
    const log = sidecarForms.exec(name)?.[1];
    if (log === undefined || there.has(log)) continue;
    if (!(await isGone(join(directory, log)))) continue;
    if (name.endsWith(".branchlog-queue")) removeAbandonedTickets(join(directory, log));
    else await removeSidecar(join(directory, name));
  }
}

const sidecarForms = /^(.+\.jsonl)\.(?:branchlog-(?:lock|queue)|ckpt(?:\.[0-9a-f-]{36}\.tmp)?)$/;
const checkpointMark = Buffer.from(indexFrame.mark);

/** The names are some moments old: the log may have come since. */
async function isGone(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ENOENT";
  }
}

async function removeSidecar(path: string): Promise<void> {
  try {
    const stats = await lstat(path);
    if (stats.isDirectory()) {
      if (Date.now() - stats.mtimeMs > lockStaleMs) await rmdir(path);
    } else if (stats.isFile() && (await isCheckpoint(path))) await unlink(path);
  } catch {
    // Somebody else removed it, or it may not be removed.
  }
}

async function isCheckpoint(path: string): Promise<boolean> {
  const file = await open(path, "r");
  try {
    const start = Buffer.alloc(checkpointMark.length);
    await file.read(start, 0, start.length, 0);
    return start.equals(checkpointMark);
  } finally {
    await file.close();
  }
}
