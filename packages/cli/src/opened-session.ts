/**
 * Opens the session that an argument names: by path, name or id. For reading, which measures the
 * cost and writes nothing but a checkpoint; or for appending.
 */
import { realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { openSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import { decodeCounter, readCounter } from "@branchlog/streaming";
import type { CommandIo } from "./command-io.ts";
import { sessionPath } from "./session-path.ts";

/** The cost of opening. */
export interface OpeningCost {
  readonly ms: number;
  readonly bytesRead: number;
  /** Lines that were parsed as JSON; the others were indexed from their envelopes. */
  readonly linesParsed: number;
}

/** A session and the cost of opening it. */
export interface OpenedSession {
  readonly session: Session;
  readonly opening: OpeningCost;
}

/** How a session is read. */
export interface ReadingOptions {
  /** Whether to write nothing at all. */
  readonly noSave: boolean;
}

/**
 * Opens the session of a file, for reading only. Without a file of that path, it may be the name or
 * id of a session in the agents' directories. The checkpoint of a large session is saved when the
 * process ends, so the next process need not read it again.
 * @throws BranchlogError as `openSession` does; `ERR_SESSION_NOT_FOUND`, `ERR_SESSION_AMBIGUOUS`.
 */
export async function openForReading(
  file: string,
  { monotonicMs, signal }: Pick<CommandIo, "monotonicMs" | "signal">,
  { noSave = true }: Partial<ReadingOptions> = {},
): Promise<OpenedSession> {
  const path = await sessionPath(file, signal);
  const saves = !noSave && (await isOwn(path));
  const [startMs, bytes, parses] = [monotonicMs(), readCounter.bytes, decodeCounter.parses];
  const session = await openSession(path, {
    ...(saves ? { checkpoint: "index" } : { access: "read" }),
    signal,
  });
  const ms = Math.round((monotonicMs() - startMs) * 1000) / 1000;
  const bytesRead = readCounter.bytes - bytes;
  return { session, opening: { ms, bytesRead, linesParsed: decodeCounter.parses - parses } };
}

/**
 * Opens the session of a file, or the one of that name or id, to append to it.
 * @throws BranchlogError as `openSession` does; `ERR_SESSION_NOT_FOUND`, `ERR_SESSION_AMBIGUOUS`.
 */
export async function openForAppending(
  file: string,
  { signal }: Pick<CommandIo, "signal">,
): Promise<Session> {
  return openSession(await sessionPath(file, signal), { signal });
}

/**
 * Whether a log and its directory are this user's. Beside another user's log, a checkpoint would be
 * a file that its owner does not expect, and does not trust.
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
