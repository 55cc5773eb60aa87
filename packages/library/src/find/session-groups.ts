/**
 * Groups sessions by the working directory in their headers, with forks below their parents. Pure;
 * linear; cycles of parents end.
 */
import { resolve } from "node:path";
import type { SessionHeader } from "@branchlog/core";
import type { ListedSession } from "../catalog/listed-session.ts";

/** The origin of a fork. */
export interface SessionParent {
  /** As the header names it: a path, or an id. */
  readonly reference: string;
  /** Undefined if not among the sessions. */
  readonly session: ListedSession | undefined;
}

/** A session within its group. */
export interface GroupedSession {
  readonly session: ListedSession;
  /** 0, or the number of its ancestors in the group. Forks follow their parents. */
  readonly depth: number;
  /** Undefined if it is not a fork. */
  readonly parent: SessionParent | undefined;
}

/** The sessions of one working directory. */
export interface SessionGroup {
  /** As in the headers; "" if absent. */
  readonly cwd: string;
  /** Parents before their forks, else in the given order. */
  readonly sessions: readonly GroupedSession[];
}

/** The groups of sessions, in the order of the first session of each. */
export function sessionGroups(sessions: readonly ListedSession[]): SessionGroup[] {
  const parents = parentsOf(sessions);
  const groups = new Map<string, ListedSession[]>();
  for (const session of sessions) {
    const cwd = cwdOf(session);
    const group = groups.get(cwd) ?? [];
    groups.set(cwd, group);
    group.push(session);
  }
  return Array.from(groups, ([cwd, group]) => ({ cwd, sessions: inForkOrder(group, parents) }));
}

/** Sessions that are not forks are left out. */
function parentsOf(sessions: readonly ListedSession[]): ReadonlyMap<ListedSession, SessionParent> {
  const byPath = new Map(sessions.map((session) => [session.path, session]));
  // Of a repeated id the first counts: the latest change.
  const byId = new Map(sessions.toReversed().map((session) => [session.header.id, session]));
  const parents = new Map<ListedSession, SessionParent>();
  for (const session of sessions) {
    const origin = originOf(session.header);
    if (origin === undefined) continue;
    const { reference, id } = origin;
    const found = byPath.get(resolve(reference)) ?? byId.get(reference) ?? byId.get(id);
    parents.set(session, { reference, session: found });
  }
  return parents;
}

/** The origin of a fork: a path or an id, as in its header, and its id. */
export function originOf(
  header: SessionHeader,
): { readonly reference: string; readonly id: string } | undefined {
  // Decoding boundary: of the header only the id was checked.
  const references: readonly unknown[] = [header.parentSession, header.branchedFrom];
  const reference = references.find((one): one is string => typeof one === "string" && one !== "");
  if (reference === undefined) return undefined;
  // A moved session keeps its id in its file name.
  return { reference, id: /_([^_/\\]+)\.jsonl$/.exec(reference)?.[1] ?? reference };
}

/** "" if absent. */
export function cwdOf({ header }: ListedSession): string {
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
  // Sessions on or below a cycle: the first of them serves as the top.
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
