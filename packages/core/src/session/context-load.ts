/** Reads ahead the bodies for a context without blocking; the builder then runs synchronously. */
import type { OptionNames } from "@branchlog/streaming";
import type { SessionEntry } from "../entries/entry-types.ts";
import type { RowPath } from "../index-table/tree-walk.ts";
import type { LogState } from "../log/log-state.ts";
import { contributesToContext, selectContext } from "../projections/context.ts";
import type { BuiltContext } from "../projections/context.ts";
import type { Engine } from "./engine.ts";
import { requireRow } from "./entry-query.ts";

/** Selects a context. */
export interface ContextOptions {
  /** An entry; null: before the first one. Default: the leaf. */
  readonly at?: string | null;
  /** Continue at the entry before, in file order, if a parent is missing. Default false. */
  readonly bridgeGaps?: boolean;
}

export const contextNames: OptionNames<ContextOptions> = { at: true, bridgeGaps: true };

/** Throws `ERR_ENTRY_NOT_FOUND`, `ERR_INVALID_ARGUMENT`. */
export async function loadedContext(
  engine: Engine,
  at: string | null,
  bridgeGaps: boolean,
): Promise<LoadedContext> {
  for (;;) {
    if (at !== null) requireRow(engine, at);
    const { index } = engine;
    const { structureVersion } = index;
    const walked = engine.rowPath(at, bridgeGaps);
    const loaded = new Map<number, SessionEntry>();
    const bodies = engine.bodies.entries(contextRows(engine, walked));
    for await (const { row, entry } of bodies) loaded.set(row, entry);
    // Rows are only valid in their own index, and the log may have been replaced meanwhile.
    if (index !== engine.index) continue;
    const isSamePath = index.structureVersion === structureVersion;
    return builtFrom(engine, at, isSamePath ? walked : engine.rowPath(at, bridgeGaps), loaded);
  }
}

/** Synchronous; empty for an id that the log does not hold. */
export function loadedContextSync(engine: Engine, at: string | null): LoadedContext {
  const { structureVersion } = engine.index;
  const walked = engine.rowPath(at);
  const loaded = loadContextBodiesSync(engine, walked);
  const isSamePath = engine.index.structureVersion === structureVersion;
  return builtFrom(engine, at, isSamePath ? walked : engine.rowPath(at), loaded);
}

export interface LoadedContext extends BuiltContext {
  readonly path: RowPath;
  readonly loaded: ReadonlyMap<number, SessionEntry>;
  readonly state: LogState;
  /** While the index has the same, the path is unchanged. */
  readonly structureVersion: number;
}

function builtFrom(
  engine: Engine,
  at: string | null,
  path: RowPath,
  loaded: ReadonlyMap<number, SessionEntry>,
): LoadedContext {
  const { state } = engine.log;
  const built = engine.builtContext(at, { loaded, path });
  return { ...built, path, loaded, state, structureVersion: state.index.structureVersion };
}

/** By row. Omits entries that contribute nothing to the context, unless `everyType` is set. */
export function loadContextBodiesSync(
  engine: Engine,
  path: RowPath,
  everyType = false,
): ReadonlyMap<number, SessionEntry> {
  const loaded = new Map<number, SessionEntry>();
  const wanted = contextRows(engine, path, everyType);
  for (const { row, entry } of engine.bodies.entriesSync(wanted)) loaded.set(row, entry);
  return loaded;
}

export function contextRows(engine: Engine, path: RowPath, everyType = false): number[] {
  const wanted: number[] = [];
  for (const [position, i] of selectContext(engine.pathView(null, { path })).entries()) {
    const row = path.rows[i];
    if (row === undefined) continue;
    if (everyType || contributesToContext(engine.index.kindOf(row).type, position))
      wanted.push(row);
  }
  return wanted;
}
