/**
 * The list of sessions as lines: projects, latest change first, and below each its sessions, with
 * forks and subagents under their parent.
 */
import type { SessionItem } from "../../api.ts";

export type SessionLine =
  | { readonly kind: "project"; readonly cwd: string; readonly count: number }
  | { readonly kind: "session"; readonly item: SessionItem; readonly depth: number };

export interface SessionFilter {
  /** Words that all must occur in a session's name, first message, project, model or id. */
  readonly text: string;
  /** Agents to show; empty: all. */
  readonly agents: ReadonlySet<SessionItem["agent"]>;
}

/** Every session that passes the filter is in exactly one line. */
export function sessionLines(
  sessions: readonly SessionItem[],
  filter: SessionFilter,
): readonly SessionLine[] {
  const shown = sessions.filter((item) => passesFilter(item, filter));
  const known = new Map(shown.map((item) => [item.key, item]));
  const children = new Map<string, SessionItem[]>();
  const projects = new Map<string, SessionItem[]>();
  for (const item of shown.toSorted((a, b) => b.modifiedMs - a.modifiedMs)) {
    if (isRoot(item, known)) addTo(projects, item.cwd, item);
    else addTo(children, item.parentKey ?? "", item);
  }
  const groups = [...projects].map(([cwd, roots]) => ({
    cwd,
    lines: roots.flatMap((root) => linesBelow(root, children, 0)),
  }));
  return groups
    .toSorted((a, b) => latestOf(b.lines) - latestOf(a.lines))
    .flatMap(({ cwd, lines }) => [{ kind: "project", cwd, count: lines.length }, ...lines]);
}

type OneSessionLine = Extract<SessionLine, { kind: "session" }>;

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
  if (agents.size > 0 && !agents.has(item.agent)) return false;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return true;
  const parts = [item.name, item.firstMessage, item.cwd, item.agent, item.id, ...item.models];
  const all = parts.join("\n").toLowerCase();
  return words.every((word) => all.includes(word));
}

function addTo(map: Map<string, SessionItem[]>, key: string, item: SessionItem): void {
  const items = map.get(key);
  if (items === undefined) map.set(key, [item]);
  else items.push(item);
}
