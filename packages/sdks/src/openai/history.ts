/**
 * The items that the session of an agent has now: those on the path to an entry, from the last one
 * that replaces what is before. Of a change of several entries all count, or none. Pure.
 */
import type { AgentInputItem } from "@openai/agents-core";
import type { SessionEntry } from "@branchlog/core";
import { changeOf, completedChange, itemOf, replacesItems } from "./item-entry.ts";

export interface HistoryItem {
  readonly item: AgentInputItem;
  /** The entry below which the next one goes; undefined within a change of several entries. */
  readonly endId: string | undefined;
}

export function historyOf(path: readonly SessionEntry[]): readonly HistoryItem[] {
  const complete = new Set(path.flatMap((entry) => completedChange(entry) ?? []));
  let history: HistoryItem[] = [];
  for (const entry of path) {
    const last = history.at(-1);
    if (last !== undefined && completedChange(entry) !== undefined && last.endId === undefined) {
      history[history.length - 1] = { ...last, endId: entry.id };
    }
    const item = itemOf(entry);
    const change = changeOf(entry);
    // What a write that was killed left.
    if (item === undefined || (change !== undefined && !complete.has(change))) continue;
    if (replacesItems(entry)) history = [];
    history.push({ item, endId: change === undefined ? entry.id : undefined });
  }
  return history;
}
