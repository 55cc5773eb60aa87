/** The context at the leaf of a session manager, by the one context builder; bodies read ahead. */
import type { SessionEntry } from "../../entries/entry-types.ts";
import { projectContext } from "../../projections/context.ts";
import type { SessionContext, SessionProjection } from "../../projections/context.ts";
import { contextRows, loadContextBodiesSync } from "../../session/context-load.ts";
import { handOut } from "./handed-out.ts";
import type { SessionLog } from "./session-log.ts";

/** What the model gets at the leaf, with pi's fields only. */
export function contextOf({ engine, leaf, memo }: SessionLog): SessionContext {
  return memo.contextAt(engine, leaf.id);
}

/** The same with its entries beside their messages. */
export function projectionOf({ engine, leaf }: SessionLog): SessionProjection {
  const loaded = loadContextBodiesSync(engine, engine.rowPath(leaf.id), true);
  const { findings } = engine;
  return projectContext(engine.pathView(leaf.id, { loaded }), (problem) =>
    findings.addMalformed(problem),
  );
}

/** The entries that the context at the leaf is made of, in its order. */
export function contextEntriesOf({ engine, leaf }: SessionLog): SessionEntry[] {
  return handOut(engine, () => contextRows(engine, engine.rowPath(leaf.id), true));
}
