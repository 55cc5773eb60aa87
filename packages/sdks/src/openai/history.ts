/**
 * The items that the session of an agent has now: those on the path to an entry, from the last one
 * that replaces what is before. Of a change of several entries all count, or none. Pure.
 */
import type { AgentInputItem } from "@openai/agents-core";
import type { SessionEntry } from "@branchlog/core";
import { changeOf, endsChange, itemOf, replacesItems } from "./item-entry.ts";

export interface HistoryItem {
  readonly item: AgentInputItem;
  /** The entry below which the next one goes; undefined within a change of several entries. */
  readonly endId: string | undefined;
}

export function historyOf(path: readonly SessionEntry[]): readonly HistoryItem[] {
  const whole = new Set(path.filter(endsChange).map(changeOf));
  let history: HistoryItem[] = [];
  for (const entry of path) {
    const item = itemOf(entry);
    const change = changeOf(entry);
    // The rest of a killed write.
    if (item === undefined || (change !== undefined && !whole.has(change))) continue;
    if (replacesItems(entry)) history = [];
    const isEnd = change === undefined || endsChange(entry);
    history.push({ item, endId: isEnd ? entry.id : undefined });
  }
  return history;
}
