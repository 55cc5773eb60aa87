/**
 * pi's functions over arrays of entries. Of a repeated id the last entry counts; a cycle ends the
 * path.
 */
import type { CompactionEntry } from "@branchlog/core/entries";
import type { SessionEntry, SessionContext } from "@branchlog/core";
import { buildContext, projectContext, selectContext, arrayPathView } from "@branchlog/core/rows";
import type { SessionProjection, PathView } from "@branchlog/core/rows";

export type EntriesById = ReadonlyMap<string, SessionEntry>;

/**
 * The context at a leaf. Null: an empty context. Undefined, empty and unknown ids: the last entry.
 *
 * @param byId The entries by id, if the caller has them.
 */
export function buildSessionContext(
  entries: readonly SessionEntry[],
  leafId?: string | null,
  byId?: EntriesById,
): SessionContext {
  const { messages, thinkingLevel, model } = buildContext(pathViewOf(entries, leafId, byId));
  return { messages, thinkingLevel, model };
}

/** In order; leaves as in {@link buildSessionContext}. */
export function buildContextEntries(
  entries: readonly SessionEntry[],
  leafId?: string | null,
  byId?: EntriesById,
): SessionEntry[] {
  const view = pathViewOf(entries, leafId, byId);
  return Array.from(selectContext(view), (i) => view.entry(i));
}

/** The context with its entries; see {@link buildSessionContext}. */
export function buildSessionProjection(
  entries: readonly SessionEntry[],
  leafId?: string | null,
  byId?: EntriesById,
): SessionProjection {
  return projectContext(pathViewOf(entries, leafId, byId));
}

/** The last one in the array, on any branch, or null. */
export function getLatestCompactionEntry(entries: readonly SessionEntry[]): CompactionEntry | null {
  for (let i = entries.length - 1; i >= 0; i -= 1) {
    const entry = entries[i];
    if (entry?.type === "compaction") return entry;
  }
  return null;
}

export function pathViewOf(
  entries: readonly SessionEntry[],
  leafId: string | null | undefined,
  byId: EntriesById | undefined,
): PathView {
  if (leafId === null) return arrayPathView([]);
  const known = byId ?? new Map(entries.map((entry) => [entry.id, entry]));
  const path = new Set<SessionEntry>();
  let at = (leafId ? known.get(leafId) : undefined) ?? entries.at(-1);
  while (at !== undefined && !path.has(at)) {
    path.add(at);
    at = at.parentId ? known.get(at.parentId) : undefined;
  }
  return arrayPathView([...path].reverse());
}
