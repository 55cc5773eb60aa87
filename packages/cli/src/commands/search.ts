/** `branchlog search`: searches the sessions of every agent and prints each hit as it is found. */
import { archiveStore, knownPlaces, searchSessions } from "@branchlog/library";
import type { BranchlogError } from "@branchlog/core";
import type { SearchHit, SearchedKind } from "@branchlog/library";
import { shownNowMs, writeJsonLine, writeUnlisted } from "../command-io.ts";
import type { CommandIo, CommandResult } from "../command-io.ts";
import { problemsTo } from "../archive-problems.ts";
import { sessionPath } from "../session-path.ts";
import { isAddress, shownWord } from "../path-form.ts";
import { addressedPlace } from "../stored-session.ts";
import { ProgressLine } from "../progress.ts";
import { timeRange } from "../time-words.ts";
import type { GivenRange } from "../time-words.ts";
import { oneLine } from "../text/clean-text.ts";
import { hitLine, hitText } from "../text/entry-lines.ts";
import { hitRecord } from "../text/records.ts";

export interface SearchCommandOptions {
  readonly query: string;
  /** A directory, or the file, name or id of a session; undefined: the places of the agents. */
  readonly place: string | undefined;
  readonly json: boolean;
  /** Instead of those that are there. */
  readonly archived: boolean;
  readonly kinds: readonly SearchedKind[] | undefined;
  readonly role: string | undefined;
  readonly tool: string | undefined;
  readonly regex: boolean;
  readonly agents: readonly string[] | undefined;
  readonly changed: GivenRange;
  /** Lines around a match; undefined: one line for each hit. */
  readonly context: number | undefined;
  /** Most hits; undefined: all. */
  readonly limit: number | undefined;
}

/** Runs the command. As grep does, it ends with 1 if nothing was found. */
export async function searchCommand(
  options: SearchCommandOptions,
  io: CommandIo,
): Promise<CommandResult> {
  const { query, place, json, context, limit = Infinity } = options;
  const { out, err, signal } = io;
  const progress = new ProgressLine(io, "searching", "sessions");
  const unlisted: string[] = [];
  const unread: BranchlogError[] = [];
  const filters = {
    kinds: options.kinds,
    role: options.role,
    tool: options.tool,
    regex: options.regex,
    ...timeRange(options.changed, io.now()),
    agents: options.agents,
    contextLines: context,
    signal,
  };
  const places = options.archived
    ? { store: archiveStore({ onProblem: problemsTo(io) }) }
    : await searchedPlace(place, signal);
  const hits = searchSessions(places, query, {
    ...filters,
    onUnread: (reason) => unread.push(reason),
    onUnlisted: (path) => unlisted.push(path),
    onProgress: ({ searched, total }) => progress.show(searched, total),
  });
  const { columns, style } = out;
  const shown = { columns, style, nowMs: shownNowMs(io) };
  let [count, path] = [0, ""];
  for await (const hit of hits) {
    if (count >= limit) break;
    count += 1;
    await progress.hide();
    if (json) await writeJsonLine(out, hitJson(hit));
    else if (!out.isTerminal) await out.write(hitRecord(hit));
    else {
      if (hit.path !== path) await out.write(headingOf(hit.path, path === "", io));
      await out.write(context === undefined ? hitLine(hit, shown) : hitText(hit, shown));
    }
    path = hit.path;
    // Each hit is shown at once.
    await out.flush();
  }
  await progress.hide();
  await writeUnlisted(unlisted, json, io);
  for (const { message } of unread) await err.write(`not searched: ${oneLine(message, 800)}\n`);
  if (count > 0) return 0;
  const agents = options.archived ? "the archive" : "the places where agents keep sessions";
  const where = shownWord(place ?? agents);
  if (!json) await err.write(`nothing found in ${oneLine(where, 400)}\n`);
  return 1;
}

async function searchedPlace(
  place: string | undefined,
  signal: AbortSignal,
): Promise<Parameters<typeof searchSessions>[0]> {
  if (place === undefined) return knownPlaces();
  return isAddress(place) ? addressedPlace(place) : [await sessionPath(place, signal)];
}

function headingOf(path: string, isFirst: boolean, { out }: CommandIo): string {
  return `${isFirst ? "" : "\n"}${out.style.heading(oneLine(path, 400))}\n`;
}

/** A hit in `--json`. */
function hitJson(hit: SearchHit): object {
  const { path, header, transcriptOf, kind, entryId, role, tool, timestamp, snippet } = hit;
  const session = { path, sessionId: header.id, cwd: header.cwd, agent: transcriptOf };
  return { ...session, kind, entryId, role, tool, timestamp, snippet };
}
