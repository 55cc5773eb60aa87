/** The plainest way through a tree of entries: the oracle of the tests of projections. */
import type { SessionEntry } from "@branchlog/core";
import { arrayPathView, type PathView } from "../../../packages/core/src/projections/projection.ts";

/** The path to a leaf, root-most first; an id names the last entry that has it. Ends on cycles. */
export function pathTo(entries: readonly SessionEntry[], leafId: string): PathView {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const path: SessionEntry[] = [];
  const seen = new Set<SessionEntry>();
  let entry = byId.get(leafId);
  while (entry !== undefined && !seen.has(entry)) {
    seen.add(entry);
    path.unshift(entry);
    entry = entry.parentId === null ? undefined : byId.get(entry.parentId);
  }
  const parentId = path[0]?.parentId;
  const isMissing = typeof parentId === "string" && parentId !== "" && !byId.has(parentId);
  return arrayPathView(path, isMissing ? parentId : undefined);
}

/** The path to the last entry. */
export function pathToLast(entries: readonly SessionEntry[]): PathView {
  return pathTo(entries, entries.at(-1)?.id ?? "");
}

/** A view that counts the bodies that are loaded through it. */
export function countingView(view: PathView): { view: PathView; loaded: number[] } {
  const loaded: number[] = [];
  const entry = (i: number): SessionEntry => {
    loaded.push(i);
    return view.entry(i);
  };
  return { view: { ...view, entry }, loaded };
}
