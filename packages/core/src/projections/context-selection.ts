/**
 * Which entries of a path a model sees, and in what order: all of them; or the last compaction,
 * what it kept, and what came after; or what came after a later reset of omp. Reads ids and types;
 * of bodies only that of the compaction.
 */
import type { PathView } from "./projection.ts";

/**
 * Indexes into the view in the order in which their messages are emitted. Without a compaction that
 * is the path. Otherwise the last compaction on the path comes first, then the entries before it
 * from its `firstKeptEntryId` on, except system messages (its own `systemMessage` stands for them),
 * then the entries after it. An id that is not on the path before the compaction keeps nothing; if
 * it is empty, what follows `providerReplayThroughEntryId` is kept (omp 18.3).
 * Behind the last compaction a `reset_boundary` leaves only what follows it, without a summary.
 *
 * Linear in what is selected plus the distance back to the first kept entry.
 */
export function selectContext(view: PathView): Int32Array {
  const last = lastCut(view);
  const isReset = last !== -1 && view.type(last) === "reset_boundary";
  const compaction = isReset ? -1 : last;
  const from = isReset ? last + 1 : firstShown(view, compaction);
  const selected = new Int32Array(view.length - from);
  let count = 0;
  if (compaction !== -1) selected[count++] = compaction;
  for (let i = from; i < view.length; i++) {
    if (i === compaction || (i < compaction && isSystemMessage(view, i))) continue;
    selected[count++] = i;
  }
  return selected.subarray(0, count);
}

/** The last compaction or reset, whichever is later; -1 without either. */
function lastCut(view: PathView): number {
  for (let i = view.length - 1; i >= 0; i--) {
    const type = view.type(i);
    if (type === "compaction" || type === "reset_boundary") return i;
  }
  return -1;
}

function firstShown(view: PathView, compaction: number): number {
  return compaction === -1 ? 0 : firstKept(view, compaction);
}

/** The index of the first kept entry; that of the compaction itself if none is kept. */
function firstKept(view: PathView, compaction: number): number {
  const entry = view.entry(compaction);
  if (entry.type !== "compaction") return compaction;
  // What a provider replays ends at an entry: omp then names that one, and no first kept one.
  const replayed: unknown = entry.providerReplayThroughEntryId;
  if (entry.firstKeptEntryId === "" && typeof replayed === "string") {
    const last = indexBefore(view, compaction, replayed);
    return last === -1 ? compaction : last + 1;
  }
  const kept = indexBefore(view, compaction, entry.firstKeptEntryId);
  return kept === -1 ? compaction : kept;
}

/** From `end` backwards: ids are unique on a path, and what is kept is near its end. Else -1. */
function indexBefore(view: PathView, end: number, id: unknown): number {
  if (typeof id !== "string") return -1;
  for (let i = end - 1; i >= 0; i--) {
    if (view.id(i) === id) return i;
  }
  return -1;
}

function isSystemMessage(view: PathView, i: number): boolean {
  return view.type(i) === "message" && view.role(i) === "system";
}
