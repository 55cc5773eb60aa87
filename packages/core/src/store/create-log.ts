/**
 * Creates logs, from bytes that are there or that come while the event loop runs. An existing
 * file is never touched, and no part of a log is left behind: it is an {@link AtomicFile}.
 */
import { dirname } from "node:path";
import { setImmediate as nextIteration } from "node:timers/promises";
import { BranchlogError } from "../errors.ts";
import { AtomicFile, makeDurableDirectory } from "./atomic-file.ts";
import { creationFailed, logExists, nameNotDurable } from "./creation-errors.ts";
import type { Ports } from "./ports.ts";

/**
 * Creates a log with these bytes, and its directory if that is missing. The bytes and the name are
 * on the device when it returns.
 * @throws BranchlogError `ERR_LOG_EXISTS`; `ERR_CREATE_FAILED` with the cause; what the chunks
 * throw, if it is a BranchlogError. No part of a log is left behind, though directories that were
 * made stay. Only if the name cannot be made durable, the log is there, whole, and the message
 * says so.
 */
export function createLog(ports: Ports, path: string, chunks: Iterable<Buffer>): void {
  const file = creating(path, () => begun(ports, path));
  try {
    creating(path, () => {
      for (const chunk of chunks) file.add(chunk);
      file.syncSync();
      file.close();
      file.publish();
    });
  } finally {
    file.discard();
  }
  syncName(file);
}

/**
 * The same, from bytes that come one after the other.
 * @throws BranchlogError `ERR_LOG_EXISTS`; `ERR_CREATE_FAILED` with the cause, see `createLog`.
 * What the chunks throw, as it is. No part of a log is left behind.
 */
export async function createStreamedLog(
  ports: Ports,
  path: string,
  chunks: AsyncIterable<Buffer>,
): Promise<void> {
  const file = creating(path, () => begun(ports, path));
  try {
    for await (const chunk of chunks) creating(path, () => file.add(chunk));
    await file.sync().catch((error: unknown) => {
      throw creationFailed(path, error);
    });
    creating(path, () => {
      file.close();
      file.publish();
    });
  } finally {
    file.discard();
  }
  syncName(file);
}

/**
 * Refuses a name that is taken, before anything is done for it; creating decides.
 * @throws BranchlogError `ERR_LOG_EXISTS`, `ERR_CREATE_FAILED`.
 */
export function requireFree({ fs }: Ports, path: string): void {
  if (creating(path, () => fs.statSync(path)) !== null) throw logExists(path, undefined);
}

/** Bytes that are there, for a large log: others have a turn after each chunk. */
export async function* inBatches(
  chunks: Iterable<Buffer>,
  signal?: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  for (const chunk of chunks) {
    yield chunk;
    await nextIteration();
    signal?.throwIfAborted();
  }
}

function begun(ports: Ports, path: string): AtomicFile {
  makeDurableDirectory(ports.fs, dirname(path));
  return new AtomicFile(ports, path);
}

function syncName(file: AtomicFile): void {
  try {
    file.syncName();
  } catch (error) {
    // Others may have opened the log since and appended to it: it is not removed.
    throw nameNotDurable(file.path, error);
  }
}

/** Runs a step; what the file system throws comes out as `ERR_CREATE_FAILED`. */
function creating<T>(path: string, step: () => T): T {
  try {
    return step();
  } catch (error) {
    throw error instanceof BranchlogError ? error : creationFailed(path, error);
  }
}
