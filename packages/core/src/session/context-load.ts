/**
 * Reads ahead the bodies that the context at an entry needs, in few large reads and without
 * blocking, so that the one context builder can then run on them synchronously.
 */
import type { SessionEntry } from "../entries/entry-types.ts";
import { pathToRow } from "../index-table/tree-walk.ts";
import { canSpeak } from "../projections/context.ts";
import type { PathContext } from "../projections/context.ts";
import { selectContext } from "../projections/context-selection.ts";
import type { Engine } from "./engine.ts";
import { requireRow } from "./named-entry.ts";

/** Which context is meant. */
export interface ContextOptions {
  /** An entry; null: before the first one. Default: the leaf. */
  readonly at?: string | null;
  /** Go on at the entry before, in file order, where a parent is missing. Default false. */
  readonly bridgeGaps?: boolean;
}

/**
 * The context at an entry, without blocking.
 * @throws BranchlogError `ERR_ENTRY_NOT_FOUND`, `ERR_INVALID_ARGUMENT`.
 */
export async function contextAt(
  engine: Engine,
  at: string | null,
  bridgeGaps: boolean,
): Promise<PathContext> {
  for (;;) {
    if (at !== null) requireRow(engine, at);
    const { index } = engine;
    const loaded = await loadContextBodies(engine, at, bridgeGaps);
    // Rows mean something in their own index only; the log may have become another meanwhile.
    if (index === engine.index) return engine.context(at, { loaded, bridgeGaps });
  }
}

/**
 * Bodies by row for the context at `at`; entry types that say nothing to the model are left out.
 */
async function loadContextBodies(
  engine: Engine,
  at: string | null,
  bridgeGaps = false,
): Promise<ReadonlyMap<number, SessionEntry>> {
  const loaded = new Map<number, SessionEntry>();
  const wanted = contextRows(engine, at, { bridgeGaps });
  for await (const { row, entry } of engine.bodies.entries(wanted)) loaded.set(row, entry);
  return loaded;
}

/** As {@link loadContextBodies}, blocking; `everyType` reads those that say nothing as well. */
export function loadContextBodiesSync(
  engine: Engine,
  at: string | null,
  everyType = false,
): ReadonlyMap<number, SessionEntry> {
  const loaded = new Map<number, SessionEntry>();
  const wanted = contextRows(engine, at, { everyType });
  for (const { row, entry } of engine.bodies.entriesSync(wanted)) loaded.set(row, entry);
  return loaded;
}

/** The rows that a context is made of, in its order. */
export function contextRows(
  engine: Engine,
  at: string | null,
  { bridgeGaps = false, everyType = false }: { bridgeGaps?: boolean; everyType?: boolean } = {},
): number[] {
  const { index } = engine;
  const { rows } = pathToRow(index, at === null ? -1 : index.rowOfId(at), bridgeGaps);
  const wanted: number[] = [];
  for (const [position, i] of selectContext(engine.pathView(at, { bridgeGaps })).entries()) {
    const row = rows[i];
    if (row === undefined) continue;
    if (everyType || canSpeak(index.kindOf(row).type, position)) wanted.push(row);
  }
  return wanted;
}
