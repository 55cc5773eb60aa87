/** Opens the session that an argument names: by path, name or id. */
import { lstatSync } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { BranchlogError, isBranchlogError, openSession, resolveSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import { decodeCounter, readCounter } from "@branchlog/streaming";
import type { CommandIo } from "./command-io.ts";

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
 * The word itself if it has the form of a path, or if that path exists; else the path of the
 * session with that name or id in the agents' directories.
 * @throws BranchlogError `ERR_SESSION_NOT_FOUND`, `ERR_SESSION_AMBIGUOUS`.
 */
export async function sessionPath(word: string, signal: AbortSignal): Promise<string> {
  if (/[/\\]|\.(?:jsonl|ya?ml)$/.test(word) || isThere(word)) return word;
  try {
    return (await resolveSession(word, undefined, { signal })).path;
  } catch (error) {
    if (!isBranchlogError(error, "ERR_SESSION_NOT_FOUND")) throw error;
    const message =
      `There is no file ${word} here, and no session that agents keep has this name, or an id ` +
      "that begins so. branchlog list shows them.";
    throw new BranchlogError(error.code, message, { id: word, cause: error });
  }
}

function isThere(path: string): boolean {
  try {
    // A dangling symbolic link counts as existing.
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/**
 * Measures the cost, and writes nothing but the checkpoint of a large session, when the process
 * ends.
 * @throws BranchlogError as `openSession` and `sessionPath` do.
 */
export async function openForReading(
  file: string,
  { monotonicMs, signal }: Pick<CommandIo, "monotonicMs" | "signal">,
  { noSave = true }: { readonly noSave?: boolean } = {},
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

/** @throws BranchlogError as `openSession` and `sessionPath` do. */
export async function openForAppending(
  file: string,
  { signal }: Pick<CommandIo, "signal">,
): Promise<Session> {
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
