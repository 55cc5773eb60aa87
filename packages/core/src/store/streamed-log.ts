/**
 * Makes a new log appear under its name in one step, as `createLog` does, from bytes that come one
 * after the other while the event loop goes on.
 */
import { dirname } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  closeQuietly,
  publish,
  removeQuietly,
  syncName,
  temporaryPath,
  writeFully,
} from "./create-log.ts";
import { creationFailed, logExists } from "./creation-errors.ts";
import { makeDurableDirectory } from "./durable-directory.ts";
import { BranchlogError } from "../errors.ts";
import type { Ports } from "./ports.ts";

/**
 * Refuses a name that is taken, before anything is done for it; creating decides.
 * @throws BranchlogError `ERR_LOG_EXISTS`, `ERR_CREATE_FAILED`.
 */
export function requireFree({ fs }: Ports, path: string): void {
  if (creating(path, () => fs.statSync(path)) !== null) throw logExists(path, undefined);
}

/**
 * Creates a log with these bytes, and its directory if that is missing. The bytes and the name are
 * on the device when it resolves.
 * @throws BranchlogError `ERR_LOG_EXISTS`; `ERR_CREATE_FAILED` with the cause, see `createLog`.
 * What the chunks throw, as it is. No part of a log is left behind.
 */
export async function createStreamedLog(
  ports: Ports,
  path: string,
  chunks: AsyncIterable<Buffer>,
): Promise<void> {
  const { fs } = ports;
  const temporary = temporaryPath(ports, path);
  const fd = creating(path, () => {
    makeDurableDirectory(fs, dirname(path));
    return fs.openSync(temporary, "create");
  });
  try {
    await fillAndClose(ports, path, fd, chunks);
    creating(path, () => publish(ports, temporary, path));
  } finally {
    // See `createLog`: where removing fails, there is nothing better to report.
    removeQuietly(fs, temporary);
  }
  syncName(fs, path);
}

/** Bytes that are there, for a large log: others have a turn after each chunk. */
export async function* inTurns(
  chunks: Iterable<Buffer>,
  signal?: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  for (const chunk of chunks) {
    yield chunk;
    await nextTurn();
    signal?.throwIfAborted();
  }
}

async function fillAndClose(
  { fs }: Ports,
  path: string,
  fd: number,
  chunks: AsyncIterable<Buffer>,
): Promise<void> {
  let isOpen = true;
  try {
    for await (const chunk of chunks) creating(path, () => writeFully(fs, fd, chunk));
    await fs.fdatasync(fd).catch((error: unknown) => {
      throw creationFailed(path, error);
    });
    isOpen = false;
    creating(path, () => fs.closeSync(fd));
  } finally {
    if (isOpen) closeQuietly(fs, fd);
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
