/** Opens the session that an argument names. */
import { readdirSync } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { openSession } from "@branchlog/core";
import type { Session } from "@branchlog/core";
import { decodeCounter, readCounter } from "@branchlog/streaming";
import { writeJsonLine } from "./command-io.ts";
import type { CommandIo } from "./command-io.ts";
import { sizeOf, withProgress } from "./progress.ts";
import type { ProgressIo } from "./progress.ts";
import { readablePlace, sessionPath } from "./session-path.ts";
import { addressedSession } from "./stored-session.ts";
import { oneLine } from "./text/clean-text.ts";

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
  const place = (await addressedSession(file)) ?? (await readablePlace(file, io));
  if (typeof place !== "string") {
    const startMs = monotonicMs();
    const session = await openSession({ ...place, access: "read", signal });
    const ms = Math.round((monotonicMs() - startMs) * 1000) / 1000;
    return { session, opening: { ms, bytesRead: session.sizeBytes, linesParsed: 0 } };
  }
  const path = place;
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

/**
 * Appends to a session, and says where the original is if that migrated it.
 * @throws BranchlogError as `openSession` and `sessionPath` do.
 */
export async function appending(
  file: string,
  { signal, err, isJson = false }: Pick<CommandIo, "signal" | "err" | "isJson">,
  append: (session: Session) => Promise<void>,
): Promise<void> {
  const stored = await addressedSession(file);
  if (stored !== undefined) return append(await openSession({ ...stored, signal }));
  const session = await openSession(await sessionPath(file, signal), { signal });
  // Version 1 has no number.
  const { version = 1 } = session.header;
  await append(session);
  if ((session.header.version ?? 1) === version) return;
  const original = originalOf(session.path, version);
  if (isJson) await writeJsonLine(err, { migrated: { version, original } });
  else {
    const shown = oneLine(original, 400);
    await err.write(`migrated from version ${version}; the original is ${shown}\n`);
  }
}

/** The last one: earlier ones are of files that had this name before. */
function originalOf(path: string, version: number): string {
  const name = `${basename(path)}.v${version}-original`;
  const found = readdirSync(dirname(path)).filter((one) => one.startsWith(name));
  const last = found.toSorted((one, other) => one.length - other.length).at(-1) ?? name;
  return join(dirname(path), last);
}

/**
 * Next to another user's log, a checkpoint would be a file that its owner does not expect, and does
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
