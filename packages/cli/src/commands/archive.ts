/** `branchlog archive`, `restore` and `prune`: archives and restores sessions. */
import { resolve } from "node:path";
import {
  findSessions,
  knownPlaces,
  archiveSessions,
  searchIndexState,
  planPrune,
  restoreSession,
} from "@branchlog/library";
import type { ListedSession, Removal } from "@branchlog/library";
import { shownNowMs, writeJsonLine } from "../command-io.ts";
import type { CommandIo, CommandResult } from "../command-io.ts";
import { describeFailure } from "../failure.ts";
import { problemsTo } from "../archive-problems.ts";
import { ProgressLine } from "../progress.ts";
import { agentOf } from "../session-filter.ts";
import { timeBefore } from "../time-words.ts";
import { sessionPath } from "../session-path.ts";
import { oneLine, wholeLine } from "../text/clean-text.ts";
import { countText, isoTime, sizeText, whenText } from "../text/quantities.ts";
import { sessionRecord } from "../text/records.ts";
import { titleOf } from "../text/session-text.ts";
import { undoText } from "../text/undo-text.ts";

export interface ArchiveOptions {
  readonly sessions: readonly string[];
  readonly force: boolean;
  readonly json: boolean;
}

/** 1 if a session was left in place. */
export async function archiveCommand(
  { sessions, force, json }: ArchiveOptions,
  io: CommandIo,
): Promise<CommandResult> {
  const paths: string[] = [];
  for (const word of sessions) paths.push(resolve(await sessionPath(word, io.signal)));
  const progress = new ProgressLine(io, "archiving", "sessions");
  const removal = await progress.during(() =>
    archiveSessions(paths, {
      force,
      onProgress: (done, total) => progress.show(done, total),
      signal: io.signal,
    }),
  );
  return writeRemoval(removal, "archived", json, io);
}

async function writeRemoval(
  removal: Removal,
  what: string,
  json: boolean,
  io: CommandIo,
): Promise<CommandResult> {
  const { out, err } = io;
  const { operation, removed, recreated, failures, sizeBytes, packedBytes } = removal;
  if (json) {
    const failed = failures.map((failure) => describeFailure(failure));
    await writeJsonLine(out, { ...removal, failures: failed });
  } else {
    for (const { message } of failures) await err.write(`${wholeLine(message)}\n`);
    for (const path of recreated) await err.write(recreatedLine(path));
    const sizes = `${sizeText(sizeBytes)} in ${sizeText(packedBytes)}`;
    if (removed.length > 0) {
      await out.write(`${what} ${countText(removed.length, "session")}, ${sizes}\n`);
    }
    await out.write(undoText(operation));
    if (removed.length === 0 && failures.length === 0)
      await err.write("no sessions there; branchlog list shows all sessions\n");
  }
  // So that a search unpacks only those with hits.
  const search = await searchIndexState().catch(() => undefined);
  if (removed.length > 0 && search?.index !== undefined) {
    io.runInBackground?.(["index", "update"]);
  }
  return failures.length === 0 ? 0 : 1;
}

/** It is kept, so the archived one can only be restored as a copy. */
function recreatedLine(path: string): string {
  const shown = oneLine(path, 400);
  const copy = `branchlog restore ${shown} -o FILE`;
  return `${shown}: another program created a file there; ${copy} writes a copy\n`;
}

export interface RestoreOptions {
  readonly session: string;
  readonly output: string | undefined;
  readonly json: boolean;
}

export async function restoreCommand(
  { session, output, json }: RestoreOptions,
  io: CommandIo,
): Promise<CommandResult> {
  const { out } = io;
  const target = output === undefined ? undefined : resolve(output);
  const options = { output: target, onProblem: problemsTo(io), signal: io.signal };
  const result = await restoreSession(session, options);
  if (json) await writeJsonLine(out, result);
  else await out.write(`restored  ${oneLine(result.path, 400)}\n`);
  return 0;
}

export interface PruneOptions {
  readonly directory: string | undefined;
  /** See `timeBefore`. */
  readonly olderThan: string | undefined;
  readonly keep: number | undefined;
  readonly keepBytes: number | undefined;
  readonly agents: readonly string[] | undefined;
  readonly trash: boolean;
  readonly force: boolean;
  readonly yes: boolean;
  readonly json: boolean;
}

export async function pruneCommand(options: PruneOptions, io: CommandIo): Promise<CommandResult> {
  const { directory, agents, keep, keepBytes, trash, force, yes, json } = options;
  const { signal } = io;
  const beforeMs = timeBefore(options.olderThan, io.now());
  const places = directory === undefined ? knownPlaces() : [directory];
  const reading = new ProgressLine(io, "reading", "sessions");
  const { sessions } = await reading.during(() =>
    findSessions(places, {
      agents,
      onProgress: ({ searched, total }) => reading.show(searched, total),
      signal,
    }),
  );
  const pruned = planPrune(sessions, { beforeMs, keep, keepBytes });
  if (!yes) return writePlan(pruned, json, io);
  if (pruned.length === 0) {
    return writeRemoval(nothingRemoved, "", json, io);
  }
  const progress = new ProgressLine(io, "archiving", "sessions");
  const removal = await progress.during(() =>
    archiveSessions(pruned, {
      kind: "prune",
      trash,
      force,
      onProgress: (done, total) => progress.show(done, total),
      signal,
    }),
  );
  return writeRemoval(removal, trash ? "moved to the trash:" : "archived", json, io);
}

const nothingRemoved: Removal = {
  operation: null,
  removed: [],
  recreated: [],
  failures: [],
  sizeBytes: 0,
  packedBytes: 0,
};

async function writePlan(
  pruned: readonly ListedSession[],
  json: boolean,
  io: CommandIo,
): Promise<CommandResult> {
  const { out, err } = io;
  let bytes = 0;
  for (const session of pruned) {
    const { path, header, modifiedMs, sizeBytes = 0 } = session;
    bytes += sizeBytes;
    if (json) {
      const modified = isoTime(modifiedMs);
      const facts = { path, id: header.id, agent: agentOf(session), modified, sizeBytes };
      await writeJsonLine(out, { kind: "session", ...facts });
    } else if (!out.isTerminal) await out.write(sessionRecord(session, header.cwd));
    else await out.write(planLine(session, shownNowMs(io)));
  }
  if (json) return 0;
  const what = `${countText(pruned.length, "session")}, ${sizeText(bytes)}`;
  const next =
    pruned.length === 0
      ? "nothing to prune; branchlog list shows all sessions"
      : `${what}; --yes archives them`;
  await err.write(`${next}\n`);
  return 0;
}

function planLine(session: ListedSession, nowMs: number | undefined): string {
  const { modifiedMs, sizeBytes = 0, path } = session;
  const facts = [whenText(modifiedMs, nowMs), sizeText(sizeBytes).padStart(8), agentOf(session)];
  const title = oneLine(titleOf(session), 60);
  return `${facts.join("  ")}  ${title}\n    ${oneLine(path, 400)}\n`;
}
