/**
 * The usage of the sessions in some directories. Each entry counts once, with any number of copies,
 * and subagents count for the project of the session that started them.
 */
import { findSessions } from "@branchlog/library";
import { isBranchlogError } from "@branchlog/core";
import type { BranchlogError } from "@branchlog/core";
import type { FindOptions, FoundSessions, ListedSession, SearchProgress } from "@branchlog/library";
import { cwdOf } from "@branchlog/library/catalogs";
import { Engine } from "@branchlog/core/engine";
import { requireOptions } from "@branchlog/core/files";
import type { OptionNames } from "@branchlog/streaming";
import { CountedOnce } from "./counted-once.ts";
import { ownersAmong } from "./session-owners.ts";
import { projectsOf } from "./worktrees.ts";
import { countedRecord, spendingEntries } from "./spent-records.ts";
import type { RecordsOf } from "./spent-records.ts";
import { noGroups, plusRecord } from "./spent-sums.ts";
import type { SpentGroups } from "./spent-sums.ts";

type Filters = Pick<FindOptions, "agents" | "sinceMs" | "catalog" | "signal">;

export interface StatisticsOptions extends Filters {
  /** Only usage before then, in epoch ms. */
  readonly untilMs?: number | undefined;
  /** Whether the worktrees of a repository count as the repository. Default true. */
  readonly foldWorktrees?: boolean | undefined;
  /** Only the session with this path, and its subagents, of any agent. */
  readonly only?: string | undefined;
  /** Called while sessions are listed, and from the start again while they are read. */
  readonly onProgress?: ((progress: SearchProgress) => void) | undefined;
}

const optionNames: OptionNames<StatisticsOptions> = {
  agents: true,
  sinceMs: true,
  untilMs: true,
  foldWorktrees: true,
  catalog: true,
  signal: true,
  only: true,
  onProgress: true,
};

export interface UsageStatistics extends SpentGroups {
  /** A subagent is a part of its session. */
  readonly sessions: number;
  /** Of sessions that could not be read, or not to their end. */
  readonly unread: readonly BranchlogError[];
  /** Paths left out, as `findSessions` names them. */
  readonly unlisted: readonly string[];
}

/**
 * Adds up turns, tokens and costs of the sessions below directories; with `sinceMs` and `untilMs`,
 * of entries within. Reads them one after the other; memory: a digest for each entry that counts.
 * @throws BranchlogError `ERR_LOG_MISSING`, `ERR_LOG_UNREADABLE` for a place; as `openSession` for
 * `only`; the signal's reason.
 * @example
 * const { total } = await usageStatistics(knownPlaces());
 * if (total.unpriced === 0) console.log(total.cost);
 */
export async function usageStatistics(
  places: readonly string[],
  options: StatisticsOptions = {},
): Promise<UsageStatistics> {
  const {
    only,
    untilMs,
    foldWorktrees = true,
    onProgress,
    ...filters
  } = requireOptions(options, optionNames);
  const { signal, sinceMs } = filters;
  const isNamed = only !== undefined;
  const wanted = isNamed ? { ...filters, agents: undefined, sinceMs: undefined } : filters;
  const listed = await findSessions(places, { ...wanted, onProgress, artifacts: true });
  const ownerOf = ownersAmong(listed.sessions);
  const found = only === undefined ? listed : await chosen(listed, only, ownerOf);
  const projects = projectsOf(foldWorktrees ? listed.sessions.map(cwdOf) : []);
  const projectOf = (cwd: string): string => projects.get(cwd) ?? cwd;
  const once = new CountedOnce();
  const owners = new Set<string>();
  const unread: BranchlogError[] = [];
  let [groups, searched] = [noGroups(), 0];
  const count = async (path: string, of: RecordsOf): Promise<void> => {
    onProgress?.({ searched, total: found.sessions.length });
    searched += 1;
    once.begin();
    try {
      for await (const entry of spendingEntries(path, of.agent, signal)) {
        const record = countedRecord(entry, of);
        if (record !== undefined) groups = plusRecord(groups, record);
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (isNamed || !isBranchlogError(error)) throw error;
      unread.push(error);
    }
  };
  for (const session of found.sessions.toSorted(inOrderOfStart)) {
    const owner = ownerOf(session);
    owners.add(owner.path);
    const agent = session.transcript?.of ?? session.dialect;
    const isSubagent = owner !== session || session.transcript?.isSubagent === true;
    const project = projectOf(cwdOf(owner));
    await count(session.path, { project, agent, isSubagent, sinceMs, untilMs, once });
  }
  return { ...groups, sessions: owners.size, unread, unlisted: found.unlisted };
}

async function chosen(
  found: FoundSessions,
  only: string,
  ownerOf: (session: ListedSession) => ListedSession,
): Promise<FoundSessions> {
  const sessions = found.sessions.filter((one) => one.path === only || ownerOf(one).path === only);
  if (sessions.length > 0) return { ...found, sessions, unlisted: [] };
  // Opening it reports why it is not listed.
  (await Engine.open(only, { access: "read" })).release();
  return { ...found, sessions, unlisted: [] };
}

/** Of two sessions that have an entry, the first is the one that it was copied from. */
export function inOrderOfStart(one: ListedSession, other: ListedSession): number {
  const [start, otherStart] = [one.header.timestamp, other.header.timestamp];
  if (start !== otherStart) return start < otherStart ? -1 : 1;
  return one.modifiedMs - other.modifiedMs;
}
