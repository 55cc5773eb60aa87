/** `branchlog list --archived`: the sessions in the archive. */
import { archivedSessions, sessionGroups } from "@branchlog/library";
import type { ArchivedSession, ListedSession } from "@branchlog/library";
import { listedArchived } from "@branchlog/library/catalogs";
import { writeJsonLine } from "../command-io.ts";
import type { CommandIo, CommandResult } from "../command-io.ts";
import { problemsTo } from "../archive-problems.ts";
import { listedJson } from "../listed-json.ts";
import { sortedSessions } from "../session-filter.ts";
import type { SortName } from "../session-filter.ts";
import { isoTime } from "../text/quantities.ts";
import { listRecords, listText } from "../text/session-list.ts";
import { timeRange } from "../time-words.ts";
import type { GivenRange } from "../time-words.ts";
import { shortIds } from "../unique-prefixes.ts";

interface ArchivedListOptions {
  readonly json: boolean;
  readonly agents: readonly string[] | undefined;
  readonly changed: GivenRange;
  readonly sort: SortName;
  readonly limit: number | undefined;
}

export async function archivedList(
  options: ArchivedListOptions,
  io: CommandIo,
): Promise<CommandResult> {
  const { out, err } = io;
  const archived = await shownArchived(options, io);
  const groups = sessionGroups([...archived.keys()]);
  if (options.json) {
    for (const grouped of groups.flatMap(({ sessions }) => sessions)) {
      const { archivedMs = Number.NaN, sha256 } = archived.get(grouped.session) ?? {};
      const own = { archived: isoTime(archivedMs), sha256 };
      await writeJsonLine(out, { ...listedJson(grouped), ...own });
    }
  } else if (!out.isTerminal) await out.write(listRecords(groups));
  else {
    const { columns, style } = out;
    const ids = shortIds([...archived.values()].map(({ id }) => id));
    const shown = { nowMs: io.now(), columns, style, ids, estimateOf: undefined };
    await out.write(listText(groups, shown));
  }
  if (archived.size === 0 && !options.json)
    await err.write("no archived sessions match; branchlog ops lists what was removed\n");
  return 0;
}

/** Several can have one id, or one path. */
async function shownArchived(
  { agents, changed, sort, limit }: ArchivedListOptions,
  io: CommandIo,
): Promise<ReadonlyMap<ListedSession, ArchivedSession>> {
  const { sinceMs = -Infinity, untilMs = Infinity } = timeRange(changed, io.now());
  const found = (await archivedSessions({ onProblem: problemsTo(io) }))
    .filter(({ modifiedMs }) => modifiedMs >= sinceMs && modifiedMs < untilMs)
    .filter(({ agent }) => agents === undefined || agents.some((one) => one === agent));
  const listed = new Map(found.map((session) => [listedArchived(session), session]));
  const ordered = sortedSessions([...listed.keys()], sort).slice(0, limit);
  return new Map(
    ordered.flatMap((session) => {
      const archived = listed.get(session);
      return archived === undefined ? [] : [[session, archived] as const];
    }),
  );
}
