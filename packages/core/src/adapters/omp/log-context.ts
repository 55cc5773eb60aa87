/**
 * The context at the leaf of a session manager as omp has it: by the one builder, with its state.
 */
import type { AgentMessage } from "../../entries/message-types.ts";
import { buildContext } from "../../projections/context.ts";
import { ompStateOfPath } from "../../projections/omp-state.ts";
import type { OmpState } from "../../projections/omp-state.ts";
import type { PathView } from "../../projections/projection.ts";
import { contextOf } from "../pi/log-context.ts";
import type { SessionLog } from "../pi/session-log.ts";

/** What the model gets, under omp's names. */
export interface SessionContext extends OmpState {
  readonly messages: AgentMessage[];
}

/** The context at the leaf. */
export function ompContextOf(log: SessionLog): SessionContext {
  const { messages } = contextOf(log);
  return { messages, ...ompStateAt(log) };
}

/** What the path to the leaf says besides its messages. */
export function ompStateAt({ engine, leaf }: SessionLog): OmpState {
  return ompStateOfPath(engine.pathView(leaf.id));
}

/** The context at the end of a path. */
export function ompContextOfPath(view: PathView): SessionContext {
  return { messages: buildContext(view).messages, ...ompStateOfPath(view) };
}
