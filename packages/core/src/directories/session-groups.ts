/**
 * Sorts sessions by the working directory that their headers name, never by the directory that they
 * lie in, and puts forks under what they were forked from. Pure; linear; circles of parents end.
 */
import { resolve } from "node:path";
import type { ListedSession } from "../catalog/listed-session.ts";
import type { ListedAgent } from "./agent-file.ts";
import type { FoundSessions } from "./find-sessions.ts";

/** What a session was forked from. */
export interface SessionParent {
  /** As the header names it: a path, or an id. */
  readonly reference: string;
  /** Undefined if it is not among the sessions. */
  readonly session: ListedSession | undefined;
}

/** A session in its place among its kin. */
export interface GroupedSession {
  readonly session: ListedSession;
  /**
   * 0, or how many sessions of its group are listed above it: it follows the one it was forked
   * from.
   */
  readonly depth: number;
  /** Undefined if it is not a fork. */
  readonly parent: SessionParent | undefined;
}

/** The sessions of one working directory. */
export interface SessionGroup {
  /** As the headers have it; "" if they have none. */
  readonly cwd: string;
  /** Parents before their forks; else in the order in which they were given. */
  readonly sessions: readonly GroupedSession[];
  readonly agents: readonly ListedAgent[];
}

/** The groups of sessions, in the order of the first session of each. */
export function sessionGroups({
  sessions,
  agents,
}: Pick<FoundSessions, "sessions" | "agents">): SessionGroup[] {
  const parents = parentsOf(sessions);
  const groups = new Map<string, { sessions: ListedSession[]; agents: ListedAgent[] }>();
  const groupOf = (cwd: string): { sessions: ListedSession[]; agents: ListedAgent[] } => {
    const group = groups.get(cwd) ?? { sessions: [], agents: [] };
    groups.set(cwd, group);
    return group;
  };
  for (const session of sessions) groupOf(cwdOf(session)).sessions.push(session);
  for (const agent of agents) groupOf(agent.cwd).agents.push(agent);
  return Array.from(groups, ([cwd, group]) => ({
    cwd,
    sessions: inForkOrder(group.sessions, parents),
    agents: group.agents,
  }));
}

/** What each of the sessions was forked from; those that are not forks are left out. */
function parentsOf(sessions: readonly ListedSession[]): ReadonlyMap<ListedSession, SessionParent> {
  const byPath = new Map(sessions.map((session) => [session.path, session]));
  // Of several with one id, the first: the one that changed last.
  const byId = new Map(sessions.toReversed().map((session) => [session.header.id, session]));
  const parents = new Map<ListedSession, SessionParent>();
  for (const session of sessions) {
    const reference = referenceIn(session);
    if (reference === undefined) continue;
    // A session that was moved still has its id in the name that the fork knows.
    const id = /_([^_/\\]+)\.jsonl$/.exec(reference)?.[1] ?? reference;
    const found = byPath.get(resolve(reference)) ?? byId.get(reference) ?? byId.get(id);
    parents.set(session, { reference, session: found });
  }
  return parents;
}

function referenceIn({ header }: ListedSession): string | undefined {
  // Decoding boundary: of the header only the id was checked.
  const references: readonly unknown[] = [header.parentSession, header.branchedFrom];
  return references.find((one): one is string => typeof one === "string" && one !== "");
}

function cwdOf({ header }: ListedSession): string {
  // Decoding boundary: of the header only the id was checked.
  const cwd: unknown = header.cwd;
  return typeof cwd === "string" ? cwd : "";
}

function inForkOrder(
  sessions: readonly ListedSession[],
  parents: ReadonlyMap<ListedSession, SessionParent>,
): GroupedSession[] {
  const members = new Set(sessions);
  const forks = new Map<ListedSession, ListedSession[]>();
  const tops: ListedSession[] = [];
  for (const session of sessions) {
    const parent = parents.get(session)?.session;
    if (parent === undefined || !members.has(parent) || parent === session) {
      tops.push(session);
      continue;
    }
    const siblings = forks.get(parent);
    if (siblings === undefined) forks.set(parent, [session]);
    else siblings.push(session);
  }
  const ordered: GroupedSession[] = [];
  const seen = new Set<ListedSession>();
  // What no top leads to is on a circle, or below one: the first of it is taken for a top.
  for (const top of [...tops, ...sessions]) {
    const open = [{ session: top, depth: 0 }];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { session, depth } = next;
      if (seen.has(session)) continue;
      seen.add(session);
      ordered.push({ session, depth, parent: parents.get(session) });
      const below = (forks.get(session) ?? []).map((fork) => ({ session: fork, depth: depth + 1 }));
      open.push(...below.reverse());
    }
  }
  return ordered;
}
