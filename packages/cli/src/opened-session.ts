/**
 * Opens the session that a word of the command line stands for: a path, a name or an id. To look
 * into it, which measures what that cost and never writes; or to append to it.
 */
import { openSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import { decodeCounter, readCounter } from "@branchlog/streaming";
import type { CommandIo } from "./command-io.ts";
import { sessionPath } from "./session-path.ts";

/** What opening cost. */
export interface OpeningCost {
  readonly ms: number;
  readonly bytesRead: number;
  /** Lines that were parsed as JSON; the others were indexed from their envelopes. */
  readonly linesParsed: number;
}

/** A session and what opening it cost. */
export interface OpenedSession {
  readonly session: Session;
  readonly opening: OpeningCost;
}

/**
 * Opens the session of a file, for reading only. Where there is no file of that path, it may be the
 * name or id of a session that an agent keeps.
 * @throws BranchlogError as `openSession` does; `ERR_SESSION_NOT_FOUND`, `ERR_SESSION_AMBIGUOUS`.
 */
export async function openForReading(
  file: string,
  { monotonicMs, signal }: Pick<CommandIo, "monotonicMs" | "signal">,
): Promise<OpenedSession> {
  const path = await sessionPath(file, signal);
  const [startMs, bytes, parses] = [monotonicMs(), readCounter.bytes, decodeCounter.parses];
  const session = await openSession(path, { access: "read", signal });
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
