/** Opens the session that an argument names. */
import { realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { openSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import { decodeCounter, readCounter } from "@branchlog/streaming";
import type { CommandIo } from "./command-io.ts";
import { sizeOf, withProgress } from "./progress.ts";
import type { ProgressIo } from "./progress.ts";
import { sessionPath } from "./session-path.ts";
import { addressedSession } from "./stored-session.ts";

export interface OpeningCost {
  readonly ms: number;
  readonly bytesRead: number;
  /** The other lines were indexed from their envelopes. */
  readonly linesParsed: number;
}

export interface OpenedSession {
  readonly session: Session;
  readonly opening: OpeningCost;
}

/**
 * Measures the cost, and writes nothing but the checkpoint of a large session, when the process
 * ends.
 * @throws BranchlogError as `openSession` and `sessionPath` do.
 */
export async function openForReading(
  file: string,
  io: ProgressIo & Pick<CommandIo, "signal">,
  { noSave = true }: { readonly noSave?: boolean } = {},
): Promise<OpenedSession> {
  const { monotonicMs, signal } = io;
  const stored = await addressedSession(file);
  if (stored !== undefined) {
    const startMs = monotonicMs();
    const session = await openSession({ ...stored, access: "read", signal });
    const ms = Math.round((monotonicMs() - startMs) * 1000) / 1000;
    return { session, opening: { ms, bytesRead: session.sizeBytes, linesParsed: 0 } };
  }
  const path = await sessionPath(file, signal);
  const saves = !noSave && (await isOwn(path));
  const [startMs, bytes, parses] = [monotonicMs(), readCounter.bytes, decodeCounter.parses];
  const task = { what: "reading", path, bytes: sizeOf(path) };
  const session = await withProgress(io, task, () =>
    openSession(path, { ...(saves ? { checkpoint: "index" } : { access: "read" }), signal }),
  );
  const ms = Math.round((monotonicMs() - startMs) * 1000) / 1000;
  const bytesRead = readCounter.bytes - bytes;
  return { session, opening: { ms, bytesRead, linesParsed: decodeCounter.parses - parses } };
}

/** @throws BranchlogError as `openSession` and `sessionPath` do. */
export async function openForAppending(
  file: string,
  { signal }: Pick<CommandIo, "signal">,
): Promise<Session> {
  const stored = await addressedSession(file);
  if (stored !== undefined) return openSession({ ...stored, signal });
  return openSession(await sessionPath(file, signal), { signal });
}

/**
 * Beside another user's log, a checkpoint would be a file that its owner does not expect, and does
 * not trust.
 */
async function isOwn(path: string): Promise<boolean> {
  const userId = process.geteuid?.();
  try {
    const log = await realpath(path);
    const owners = await Promise.all([stat(log), stat(dirname(log))]);
    return userId === undefined || owners.every(({ uid }) => uid === userId);
  } catch {
    // Opening reports the error.
    return false;
  }
}
