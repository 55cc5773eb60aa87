/** Folds projections over entries as a log would, for tests. */
import type { Projection, SessionEntry } from "@branchlog/core";

/** The state after all entries; those of types that the projection does not name are omitted. */
export function foldAll<S>(projection: Projection<S>, entries: readonly SessionEntry[]): S {
  return resumeFold(projection, projection.initial(), entries, 1);
}

/** The state after more entries, the first of which has the given revision. */
export function resumeFold<S>(
  projection: Projection<S>,
  from: S,
  entries: readonly SessionEntry[],
  firstRevision: number,
): S {
  let state = from;
  for (const [index, entry] of entries.entries()) {
    if (projection.types !== null && !projection.types.includes(entry.type)) continue;
    state = projection.apply(state, { revision: firstRevision + index, entry });
  }
  return state;
}
