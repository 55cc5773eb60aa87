/**
 * Removes the sidecar files of deleted sessions: checkpoint, stale lock, empty queue. Every other
 * file stays, even under such a name. Throws nothing.
 */
import { Buffer } from "node:buffer";
import { lstat, open, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import {
  checkpointKind,
  errorCodeOf,
  lockfileLock,
  removeAbandonedTickets,
} from "@branchlog/core/files";

export async function removeOrphans(directory: string): Promise<void> {
  try {
    const names = await readdir(directory);
    await removeOrphansAmong(directory, names);
  } catch {
    // The caller that reads the directory reports the failure.
  }
}

/** {@link removeOrphans} for a caller that has already read the directory. */
export async function removeOrphansAmong(
  directory: string,
  names: readonly string[],
): Promise<void> {
  const there = new Set(names);
  for (const name of names) {
    const log = sidecarForms.exec(name)?.[1];
    if (log === undefined || there.has(log)) continue;
    if (!(await isLogGone(join(directory, log)))) continue;
    if (name.endsWith(".branchlog-queue")) removeAbandonedTickets(join(directory, log));
    else if (name.endsWith(".branchlog-lock")) removeAbandonedLock(join(directory, log));
    else await removeCheckpoint(join(directory, name));
  }
}

const sidecarForms = /^(.+\.jsonl)\.(?:branchlog-(?:lock|queue)|ckpt(?:\.[0-9a-f-]{36}\.tmp)?)$/;
const checkpointMark = Buffer.from(checkpointKind.mark);

/** The names may be stale: the log may have been created since. */
async function isLogGone(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return false;
  } catch (error) {
    return errorCodeOf(error) === "ENOENT";
  }
}

function removeAbandonedLock(log: string): void {
  try {
    lockfileLock.tryAcquireSync(log)?.releaseSync();
  } catch {
    // Not a sidecar file, but something else under that name.
  }
}

async function removeCheckpoint(path: string): Promise<void> {
  try {
    if ((await lstat(path)).isFile() && (await isCheckpoint(path))) await unlink(path);
  } catch {
    // Removed by another process, or not removable.
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
