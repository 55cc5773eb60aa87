/** `branchlog stats`: turns, tokens and costs of all sessions, by project, day, model or agent. */
import { knownPlaces } from "@branchlog/library";
import { usageStatistics } from "@branchlog/tools";
import type { SpentGrouping, UsageStatistics } from "@branchlog/tools";
import { writeJsonLine, writeUnlisted } from "../command-io.ts";
import type { CommandIo, CommandResult } from "../command-io.ts";
import { ProgressLine } from "../progress.ts";
import { timeRange } from "../time-words.ts";
import type { GivenRange } from "../time-words.ts";
import { placeOfPath } from "../place-of-path.ts";
import { requireNoAddress, sessionPath } from "../session-path.ts";
import { oneLine } from "../text/clean-text.ts";
import { groupRecord, shownGroups, statsCsv, statsText, sumsJson } from "../text/stats-text.ts";

export interface StatsOptions {
  /** A directory, or the file, name or id of a session; undefined: the places of the agents. */
  readonly place: string | undefined;
  /** Undefined: a summary. */
  readonly by: SpentGrouping | undefined;
  readonly agents: readonly string[] | undefined;
  readonly changed: GivenRange;
  /** Most groups; undefined: all, in a summary a few. */
  readonly limit: number | undefined;
  readonly json: boolean;
  readonly csv: boolean;
  /** Whether the worktrees of a repository count as the repository. */
  readonly foldWorktrees: boolean;
  /** Whether costs that agents do not store are estimated. */
  readonly estimate: boolean;
  readonly noSave: boolean;
}

export async function statsCommand(options: StatsOptions, io: CommandIo): Promise<CommandResult> {
  const { place, by, limit, json, csv, estimate } = options;
  const { out, err } = io;
  const { places, only } = await placesOf(place, io);
  const progress = new ProgressLine(io, "counting", "sessions");
  const found = await progress.during(() =>
    usageStatistics(places, {
      only,
      agents: options.agents,
      foldWorktrees: options.foldWorktrees,
      ...timeRange(options.changed, io.now()),
      catalog: options.noSave ? "read" : "auto",
      onProgress: ({ searched, total }) => progress.show(searched, total),
      signal: io.signal,
    }),
  );
  const grouping = by ?? "project";
  const groups = shownGroups(found, grouping, limit);
  if (json) await writeJson(found, { by: grouping, limit, estimate }, io);
  else if (csv) await out.writeData(statsCsv(groups, grouping), "text");
  else if (!out.isTerminal) for (const group of groups) await out.write(groupRecord(group));
  else {
    const { columns, style } = out;
    await out.write(statsText(found, { by, limit, estimate, columns, style }));
  }
  await writeUnlisted(found.unlisted, json, io);
  for (const { message } of found.unread)
    await err.write(`not counted: ${oneLine(message, 800)}\n`);
  return 0;
}

async function placesOf(
  place: string | undefined,
  { signal }: CommandIo,
): Promise<{ readonly places: readonly string[]; readonly only?: string }> {
  if (place === undefined) return { places: knownPlaces() };
  requireNoAddress(place);
  const { place: found, only } = await placeOfPath(await sessionPath(place, signal));
  return { places: [found], ...(only === undefined ? {} : { only }) };
}

interface ShownStatistics extends Pick<StatsOptions, "limit" | "estimate"> {
  readonly by: SpentGrouping;
}

async function writeJson(
  found: UsageStatistics,
  { by, limit, estimate }: ShownStatistics,
  { out, signal }: CommandIo,
): Promise<void> {
  const { sessions, total } = found;
  await writeJsonLine(out, { kind: "total", sessions, ...sumsJson(total, estimate) });
  for (const [name, sums] of shownGroups(found, by, limit)) {
    signal.throwIfAborted();
    await writeJsonLine(out, { kind: "group", by, name, ...sumsJson(sums, estimate) });
  }
}
