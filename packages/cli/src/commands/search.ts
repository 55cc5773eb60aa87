/**
 * `branchlog search`: searches the sessions of every agent, and prints the best hit of each, or
 * each hit as it is found.
 */
import { statSync } from "node:fs";
import { archiveStore, knownPlaces, rankedSessions, searchSessions } from "@branchlog/library";
import type { BranchlogError } from "@branchlog/core";
import type { RankedSession, SearchHit, SearchedKind } from "@branchlog/library";
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
import { countText } from "../text/quantities.ts";
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
  readonly exact: boolean;
  readonly regex: boolean;
  /** Undefined: all hits of a session that is named, else the best of each session. */
  readonly sort: "rank" | "time" | undefined;
  /** A working directory. */
  readonly project: string | undefined;
  /** Of a file or directory, as calls name it. */
  readonly path: string | undefined;
  /** An entry, or `leaf`. */
  readonly branch: string | undefined;
  readonly noIndex: boolean;
  readonly agents: readonly string[] | undefined;
  readonly changed: GivenRange;
  /** Lines around a match; undefined: one line for each hit. */
  readonly context: number | undefined;
  /** Most hits, or sessions of a ranked search; undefined: all. */
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
  let unindexedBytes = 0;
  const filters = {
    kinds: options.kinds,
    role: options.role,
    tool: options.tool,
    exact: options.exact,
    regex: options.regex,
    project: options.project,
    path: options.path,
    branch: options.branch,
    index: options.noIndex ? ("off" as const) : ("auto" as const),
    ...timeRange(options.changed, io.now()),
    agents: options.agents,
    contextLines: context,
    signal,
  };
  const places = options.archived
    ? { store: archiveStore({ onProblem: problemsTo(io) }) }
    : await searchedPlace(place, signal);
  const indexProblems: unknown[] = [];
  const hits = searchSessions(places, query, {
    ...filters,
    onUnread: (reason) => unread.push(reason),
    onUnlisted: (path) => unlisted.push(path),
    onIndexUnread: (reason) => indexProblems.push(reason),
    onUnindexed: (bytes) => (unindexedBytes = bytes),
    onProgress: ({ searched, total }) => progress.show(searched, total),
  });
  const isRanked = options.sort === undefined ? !isOneSession(places) : options.sort === "rank";
  let count = 0;
  const writer = new HitWriter(options, io);
  if (isRanked) {
    const ranked = await progress.during(() => rankedSessions(hits, query));
    count = ranked.length;
    for (const session of ranked.slice(0, limit)) await writer.write(session.best, session);
    await writer.writeLeft(count - limit);
  } else {
    for await (const hit of hits) {
      if (count >= limit) break;
      count += 1;
      await progress.hide();
      await writer.write(hit);
      // Each hit is shown at once.
      await out.flush();
    }
    await progress.hide();
  }
  await writeUnlisted(unlisted, json, io);
  for (const { message } of unread) await err.write(`not searched: ${oneLine(message, 800)}\n`);
  for (const reason of indexProblems.slice(0, 1)) {
    const message = reason instanceof Error ? reason.message : String(reason);
    await err.write(`without the index: ${oneLine(message, 800)}\n`);
  }
  if (unindexedBytes > indexedAloneBytes) {
    io.runInBackground?.(["index", "update", "--", ...(place === undefined ? [] : [place])]);
  }
  if (count > 0) return 0;
  const agents = options.archived ? "the archive" : "the places where agents keep sessions";
  const where = shownWord(place ?? agents);
  if (!json) await err.write(`nothing found in ${oneLine(where, 400)}\n`);
  return 1;
}

/** More than a user would want to search again without an index. */
const indexedAloneBytes = 64 * 1024 * 1024;

/** Whether a session was named: then all of its hits are shown. */
function isOneSession(places: SearchedPlaces): boolean {
  if (!("length" in places)) return "id" in places;
  const [first, ...others] = places;
  if (first === undefined || others.length > 0) return false;
  return statSync(first, { throwIfNoEntry: false })?.isFile() === true;
}

type SearchedPlaces = Exclude<Parameters<typeof searchSessions>[0], string>;

/** Hits for people and for programs. */
class HitWriter {
  readonly #options: SearchCommandOptions;
  readonly #io: CommandIo;
  #path = "";

  constructor(options: SearchCommandOptions, io: CommandIo) {
    this.#options = options;
    this.#io = io;
  }

  /** @param session Given with its best hit. */
  async write(hit: SearchHit, session?: RankedSession): Promise<void> {
    const { json, context } = this.#options;
    const { out } = this.#io;
    if (json) await writeJsonLine(out, { ...hitJson(hit), hitCount: session?.hitCount });
    else if (!out.isTerminal) await out.write(hitRecord(hit));
    else {
      const { columns, style } = out;
      const shown = { columns, style, nowMs: shownNowMs(this.#io) };
      if (hit.path !== this.#path) await out.write(this.#heading(hit.path));
      await out.write(context === undefined ? hitLine(hit, shown) : hitText(hit, shown));
      const further = (session?.hitCount ?? 1) - 1;
      const text = `  and ${countText(further, "further hit")} (all with --sort time)\n`;
      if (further > 0) await out.write(style.faint(text));
    }
    this.#path = hit.path;
  }

  /** How many sessions a limit excludes. */
  async writeLeft(count: number): Promise<void> {
    const { json } = this.#options;
    const { out } = this.#io;
    if (json || !out.isTerminal || count <= 0) return;
    await out.write(out.style.faint(`\n${countText(count, "further session")}: --limit\n`));
  }

  #heading(path: string): string {
    const { style } = this.#io.out;
    return `${this.#path === "" ? "" : "\n"}${style.heading(oneLine(path, 400))}\n`;
  }
}

async function searchedPlace(
  place: string | undefined,
  signal: AbortSignal,
): Promise<SearchedPlaces> {
  if (place === undefined) return knownPlaces();
  return isAddress(place) ? addressedPlace(place) : [await sessionPath(place, signal)];
}

/** A hit in `--json`. */
function hitJson(hit: SearchHit): object {
  const { path, header, transcriptOf, kind, entryId, role, tool, timestamp, snippet } = hit;
  const session = { path, sessionId: header.id, cwd: header.cwd, agent: transcriptOf };
  return { ...session, kind, entryId, role, tool, timestamp, snippet };
}
