/**
 * The list of sessions as lines: groups, and below each its sessions, latest change first, with
 * forks and subagents under their parent. Pure.
 */
import type { SessionItem } from "../../api.ts";
import { titleOf } from "./session-title.ts";

export type SessionLine = GroupLine | OneSessionLine;

export interface GroupLine {
  readonly kind: "group";
  /** The working directory, or the part of time. */
  readonly name: string;
  readonly count: number;
  /** US dollars, as far as they are known. */
  readonly cost: number;
}

export interface OneSessionLine {
  readonly kind: "session";
  readonly item: SessionItem;
  readonly depth: number;
}

export type Grouping = "time" | "project";

export interface SessionFilter {
  /** Words that all must occur in a session's title, first message, project, model or id. */
  readonly text: string;
  /** Agents to show; empty: all. */
  readonly agents: readonly SessionItem["agent"][];
  readonly by: Grouping;
}

export const noFilter: SessionFilter = { text: "", agents: [], by: "time" };

/** Every session that passes the filter is in exactly one line. */
export function sessionLines(
  sessions: readonly SessionItem[],
  filter: SessionFilter,
  nowMs: number,
): readonly SessionLine[] {
  const shown = sessions.filter((item) => passesFilter(item, filter));
  const known = new Map(shown.map((item) => [item.key, item]));
  const children = new Map<string, SessionItem[]>();
  const roots: SessionItem[] = [];
  for (const item of shown.toSorted((a, b) => b.modifiedMs - a.modifiedMs)) {
    if (isRoot(item, known)) roots.push(item);
    else addTo(children, item.parentKey ?? "", item);
  }
  const families = roots
    .map((root) => linesBelow(root, children, 0))
    .toSorted((a, b) => latestOf(b) - latestOf(a));
  const groups = new Map<string, OneSessionLine[]>();
  for (const lines of families) {
    const cwd = lines[0]?.item.cwd ?? "";
    const name = filter.by === "project" ? cwd : partOfTime(latestOf(lines), nowMs);
    for (const line of lines) addTo(groups, name, line);
  }
  return [...groups].flatMap(([name, lines]) => {
    const cost = lines.reduce((sum, { item }) => sum + (item.cost ?? 0), 0);
    return [{ kind: "group", name, count: lines.length, cost } as const, ...lines];
  });
}

const dayMs = 86_400_000;

/** Of local days: today, yesterday, the last seven days, else the month, as `November 2026`. */
function partOfTime(timeMs: number, nowMs: number): string {
  const midnight = new Date(nowMs);
  midnight.setHours(0, 0, 0, 0);
  const todayMs = midnight.getTime();
  if (timeMs >= todayMs) return "Today";
  if (timeMs >= todayMs - dayMs) return "Yesterday";
  if (timeMs >= todayMs - 6 * dayMs) return "This week";
  const time = new Date(timeMs);
  return `${months[time.getMonth()] ?? ""} ${time.getFullYear()}`;
}

const months = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
] as const;

function linesBelow(
  item: SessionItem,
  children: ReadonlyMap<string, readonly SessionItem[]>,
  depth: number,
): OneSessionLine[] {
  const below = children.get(item.key) ?? [];
  return [
    { kind: "session", item, depth },
    ...below.flatMap((child) => linesBelow(child, children, depth + 1)),
  ];
}

function latestOf(lines: readonly OneSessionLine[]): number {
  return lines.reduce((latest, { item }) => Math.max(latest, item.modifiedMs), 0);
}

/** Without a parent in the list; a ring of parents, which damaged files can have, has no root. */
function isRoot(item: SessionItem, known: ReadonlyMap<string, SessionItem>): boolean {
  const seen = new Set([item.key]);
  let parent = parentOf(item, known);
  if (parent === undefined) return true;
  while (parent !== undefined) {
    if (seen.has(parent.key)) return true;
    seen.add(parent.key);
    parent = parentOf(parent, known);
  }
  return false;
}

function parentOf(
  item: SessionItem,
  known: ReadonlyMap<string, SessionItem>,
): SessionItem | undefined {
  return item.parentKey === null ? undefined : known.get(item.parentKey);
}

/** Whether a session is among those that the reader asked for. */
function passesFilter(item: SessionItem, { text, agents }: SessionFilter): boolean {
  if (agents.length > 0 && !agents.includes(item.agent)) return false;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return true;
  const { firstPrompt, firstMessage, cwd, agent, id, models } = item;
  const all = [titleOf(item), firstPrompt ?? firstMessage, cwd, agent, id, ...models]
    .join("\n")
    .toLowerCase();
  return words.every((word) => all.includes(word));
}

function addTo<T>(map: Map<string, T[]>, key: string, item: T): void {
  const items = map.get(key);
  if (items === undefined) map.set(key, [item]);
  else items.push(item);
}
