/**
 * omp's context of entries in an array: the same builder as everywhere else, on the path to a leaf.
 * Of a repeated id the last entry counts; a cycle ends the path.
 */
import type { SessionEntry } from "../../entries/entry-types.ts";
import type { OmpSessionEntry } from "../../entries/omp-entry-types.ts";
import { pathViewOf } from "../pi/entry-arrays.ts";
import { ompContextOfPath } from "./log-context.ts";
import type { SessionContext } from "./log-context.ts";

/**
 * The context at a leaf. Null is before the first entry: an empty context. Undefined, empty and
 * unknown ids mean the last entry of the array.
 * @param byId The entries by id, if the caller has them.
 */
export function buildSessionContext(
  entries: readonly OmpSessionEntry[],
  leafId?: string | null,
  byId?: ReadonlyMap<string, OmpSessionEntry>,
): SessionContext {
  // Cast: to the builder, omp's own entries are of types that it does not know.
  const known = entries as unknown as readonly SessionEntry[];
  // Cast: the same entries.
  const knownById = byId as unknown as ReadonlyMap<string, SessionEntry> | undefined;
  return ompContextOfPath(pathViewOf(known, leafId, knownById));
}
