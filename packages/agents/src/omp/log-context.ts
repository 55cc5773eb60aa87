/** The context at the leaf of a session manager as omp has it. */
import type { SessionEntry, AgentMessage } from "@branchlog/core";
import type { OmpSessionEntry } from "./entry-types.ts";
import { buildContext } from "@branchlog/core/rows";
import { ompStateOfPath } from "./omp-state.ts";
import type { OmpState } from "./omp-state.ts";
import { pathViewOf } from "../pi/entry-arrays.ts";
import { contextOf } from "../pi/log-queries.ts";
import type { SessionLog } from "../pi/session-log.ts";

/** The context of the model, under omp's names. */
export interface SessionContext extends OmpState {
  readonly messages: AgentMessage[];
}

export function ompContextOf(log: SessionLog): SessionContext {
  const { messages } = contextOf(log);
  return { messages, ...ompStateAt(log) };
}

export function ompStateAt({ engine, leaf }: SessionLog): OmpState {
  return ompStateOfPath(engine.pathView(leaf.id));
}

/**
 * omp's context at a leaf. Of a repeated id the last entry counts; a cycle ends the path. Null: an
 * empty context. Undefined, empty and unknown ids: the last entry.
 *
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
  const view = pathViewOf(known, leafId, knownById);
  return { messages: buildContext(view).messages, ...ompStateOfPath(view) };
}
