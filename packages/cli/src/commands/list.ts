/** `branchlog list`: sessions of every agent by working directory, forks under parents. */
import { findSessions, knownPlaces, sessionGroups } from "@branchlog/library";
import type { ListedSession, SessionGroup } from "@branchlog/library";
import type { ListingStore } from "@branchlog/core/types";
import { registeredAgents } from "@branchlog/core/rows";
import { latestStored } from "@branchlog/library/catalogs";
import { writeUnlisted } from "../command-io.ts";
import type { CommandIo, CommandResult } from "../command-io.ts";
import { listedJson } from "../listed-json.ts";
import { ProgressLine } from "../progress.ts";
import { shownWord } from "../path-form.ts";
import { placeOfPath } from "../place-of-path.ts";
import { sessionPath } from "../session-path.ts";
import { addressedStore } from "../stored-session.ts";
import { sortedSessions } from "../session-filter.ts";
import type { SortName } from "../session-filter.ts";
import { timeRange } from "../time-words.ts";
import type { GivenRange } from "../time-words.ts";
import { oneLine } from "../text/clean-text.ts";
import type { Estimator } from "../cost-estimate.ts";
import { listRecords, listText } from "../text/session-list.ts";
import { shortIds } from "../unique-prefixes.ts";

export interface ListCommandOptions {
  /**
   * Undefined: the directories of the agents on this machine. A word that is not a path can be the
   * name or id of a session there.
   */
  readonly directory: string | undefined;
  readonly json: boolean;
  readonly all: boolean;
  readonly archived: boolean;
  readonly noSave: boolean;
  /** Undefined: all. */
  readonly agents: readonly string[] | undefined;
  readonly changed: GivenRange;
  readonly sort: SortName;
  /** Whether costs that agents do not store are estimated. */
  readonly estimate: boolean;
  /** Most sessions; undefined: all. */
  readonly limit: number | undefined;
}

export async function listCommand(
  options: ListCommandOptions,
  io: CommandIo,
): Promise<CommandResult> {
  if (options.archived) return (await import("./archived-list.ts")).archivedList(options, io);
  const { directory, json, all, noSave } = options;
  const { signal } = io;
  const stored = directory === undefined ? undefined : await addressedStore(directory);
  if (stored !== undefined && options.sort === "modified") {
    return listStored(stored.store, options, io);
  }
  const path =
    directory === undefined || stored !== undefined
      ? directory
      : await sessionPath(directory, signal);
  const isNamed = path !== directory;
  const named = isNamed || path === undefined ? undefined : await placeOfPath(path);
  // A session, by its path or as one in the agents' directories, is shown alone.
  const only = isNamed ? path : named?.only;
  const places = stored ?? (named === undefined ? knownPlaces() : [named.place]);
  // In another order, and for one session, the limit applies after all are known.
  const isLatest = options.sort === "modified" && only === undefined;
  const progress = new ProgressLine(io, "reading", "sessions");
  const found = await progress.during(() =>
    findSessions(places, {
      artifacts: all,
      agents: options.agents,
      ...timeRange(options.changed, io.now()),
      limit: isLatest ? options.limit : undefined,
      unread: isLatest,
      catalog: noSave ? "read" : "auto",
      onProgress: ({ searched, total }) => progress.show(searched, total),
      signal,
    }),
  );
  const groups = sessionGroups(shownOf(found.sessions, options))
    .map((group) => (only === undefined ? group : onlySession(group, only)))
    .filter(({ sessions }) => sessions.length > 0);
  await writeGroups(groups, found.knownIds, options, io);
  if (only === undefined) await writeUnlisted(found.unlisted, json, io);
  if (groups.length === 0) await writeNone(options, io);
  return 0;
}

/** Shown together, since they depend on each other. */
const pageSessions = 50;

/** Page by page, as the store has them: it may hold more than memory does. */
async function listStored(
  store: ListingStore,
  options: ListCommandOptions,
  io: CommandIo,
): Promise<CommandResult> {
  const { agents, changed, all: artifacts, limit = Infinity } = options;
  const { out, signal } = io;
  const progress = new ProgressLine(io, "reading", "sessions");
  const found = latestStored(store, {
    artifacts,
    agents,
    ...timeRange(changed, io.now()),
    onProgress: ({ searched, total }) => progress.show(searched, total),
    signal,
  });
  let [page, count]: [ListedSession[], number] = [[], 0];
  const show = async (): Promise<void> => {
    await progress.hide();
    const groups = sessionGroups(page);
    const isNext = count > page.length && out.isTerminal && !options.json;
    if (isNext) await out.write("\n");
    await writeGroups(
      groups,
      page.map(({ header }) => header.id),
      options,
      io,
    );
    await out.flush();
    page = [];
  };
  if (limit > 0) {
    for await (const session of found) {
      page.push(session);
      count += 1;
      if (page.length === pageSessions || count === limit) await show();
      if (count === limit) break;
    }
  }
  if (page.length > 0) await show();
  await progress.hide();
  if (count === 0) await writeNone(options, io);
  return 0;
}

async function writeGroups(
  groups: readonly SessionGroup[],
  knownIds: readonly string[],
  { json, estimate }: ListCommandOptions,
  io: CommandIo,
): Promise<void> {
  const { out } = io;
  // Loaded on demand: a list does not need the rest of it.
  const estimateOf = estimate ? (await import("@branchlog/tools")).estimateOf : undefined;
  if (json) await writeJson(groups, estimateOf, io);
  else if (!out.isTerminal) await out.write(listRecords(groups));
  else {
    const { columns, style } = out;
    const ids = shortIds(knownIds);
    await out.write(listText(groups, { nowMs: io.now(), columns, style, ids, estimateOf }));
  }
}

async function writeNone(options: ListCommandOptions, { err }: CommandIo): Promise<void> {
  const { directory, agents, changed, json } = options;
  if (json) return;
  const place = shownWord(directory ?? "the places where agents keep them");
  const isFiltered = [agents, changed.since, changed.until].some((one) => one !== undefined);
  const which = isFiltered ? "matching sessions" : "sessions";
  await err.write(`no ${which} in ${oneLine(place, 400)}\n`);
  if (directory !== undefined || isFiltered) return;
  const products = registeredAgents().map(({ product }) => product);
  // Made here alone: the first one takes 10 ms.
  const all = new Intl.ListFormat("en").format(products);
  await err.write(`${all}; branchlog doctor shows the places\n`);
}

async function writeJson(
  groups: readonly SessionGroup[],
  estimateOf: Estimator | undefined,
  io: CommandIo,
): Promise<void> {
  for (const { sessions } of groups) {
    io.signal.throwIfAborted();
    const lines = sessions.map((one) => `${JSON.stringify(listedJson(one, estimateOf))}\n`);
    await io.out.writeData(lines.join(""), "json");
  }
}

function shownOf(
  sessions: readonly ListedSession[],
  { sort, limit }: ListCommandOptions,
): readonly ListedSession[] {
  return sortedSessions(sessions, sort).slice(0, limit);
}

function onlySession({ cwd, sessions }: SessionGroup, path: string): SessionGroup {
  const found = sessions.filter(({ session }) => session.path === path);
  return { cwd, sessions: found.map((one) => ({ ...one, depth: 0 })) };
}
