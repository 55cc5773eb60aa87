/** Reads ahead the bodies for a context without blocking; the builder then runs synchronously. */
import type { OptionNames } from "@branchlog/streaming";
import type { SessionEntry } from "../entries/entry-types.ts";
import type { IndexTable } from "../index-table/index-table.ts";
import type { RowPath } from "../index-table/tree-walk.ts";
import type { LogState } from "../log/log-state.ts";
import { contributesToContext, selectContext } from "../projections/context.ts";
import type { BuiltContext } from "../projections/context.ts";
import { settingsEntries } from "../projections/settings.ts";
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
    const bodies = new PathBodies(engine, engine.rowPath(at, bridgeGaps));
    const { unread } = bodies;
    if (unread.length > 0) {
      for await (const { row, entry } of engine.bodies.entries(unread)) bodies.add(row, entry);
    }
    await fetchSettings(engine, bodies.path);
    // Rows are only valid in their own index, and the log may have been replaced meanwhile.
    if (bodies.index === engine.index) return builtFrom(engine, at, bridgeGaps, bodies);
  }
}

/** What a store still has of them: to read it while the context is built would block. */
async function fetchSettings(engine: Engine, path: RowPath): Promise<void> {
  if (engine.log.stored?.index === undefined) return;
  const rows = settingsEntries(engine.pathView(null, { path })).map((i) => path.rows[i] ?? -1);
  for await (const _ of engine.bodies.entries(rows.filter((row) => row >= 0))) continue;
}

/** Synchronous; empty for an id that the log does not hold. */
export function loadedContextSync(engine: Engine, at: string | null): LoadedContext {
  const bodies = new PathBodies(engine, engine.rowPath(at));
  const { unread } = bodies;
  if (unread.length > 0) {
    for (const { row, entry } of engine.bodies.entriesSync(unread)) bodies.add(row, entry);
  }
  return builtFrom(engine, at, false, bodies);
}

export interface LoadedContext extends BuiltContext {
  readonly path: RowPath;
  /** Of the lines of its bodies. */
  readonly bytes: number;
  readonly state: LogState;
  /** While the index has the same, the path is unchanged. */
  readonly structureVersion: number;
}

/** The entries of a path that contribute to its context, as they are read. */
class PathBodies {
  readonly index: IndexTable;
  readonly path: RowPath;
  readonly structureVersion: number;
  /** Those that are not in memory, in order. */
  readonly unread: readonly number[];
  readonly #rows: readonly number[];
  readonly #entries: (SessionEntry | undefined)[] = [];
  #next = 0;

  constructor(engine: Engine, path: RowPath) {
    this.index = engine.index;
    this.path = path;
    this.structureVersion = engine.index.structureVersion;
    this.#rows = contextRows(engine, path);
    const unread: number[] = [];
    for (const row of this.#rows) {
      const entry = engine.bodies.known(row);
      this.#entries.push(entry);
      if (entry === undefined) unread.push(row);
    }
    this.unread = unread;
  }

  /** In the order of `unread`; damaged ones are left out. */
  add(row: number, entry: SessionEntry): void {
    while (this.#rows[this.#next] !== row) this.#next += 1;
    this.#entries[this.#next] = entry;
  }

  /** Searched from the end: settings need the last ones. */
  get(row: number): SessionEntry | undefined {
    return this.#entries[this.#rows.lastIndexOf(row)];
  }

  get byRow(): ReadonlyMap<number, SessionEntry> {
    const found = new Map<number, SessionEntry>();
    for (const [at, row] of this.#rows.entries()) {
      const entry = this.#entries[at];
      if (entry !== undefined) found.set(row, entry);
    }
    return found;
  }

  /** Undefined if some could not be read. */
  get all(): readonly SessionEntry[] | undefined {
    const entries = this.#entries;
    return entries.includes(undefined)
      ? undefined
      : // Checked in the line above, without a copy.
        (entries as readonly SessionEntry[]);
  }

  get bytes(): number {
    let bytes = 0;
    for (const [at, row] of this.#rows.entries()) {
      if (this.#entries[at] !== undefined) bytes += this.index.rows.length(row);
    }
    return bytes;
  }
}

function builtFrom(
  engine: Engine,
  at: string | null,
  bridgeGaps: boolean,
  bodies: PathBodies,
): LoadedContext {
  const { state } = engine.log;
  const { structureVersion } = state.index;
  const speaking = structureVersion === bodies.structureVersion ? bodies.all : undefined;
  const { bytes } = bodies;
  if (speaking !== undefined) {
    const { path } = bodies;
    const built = engine.builtContext(at, { loaded: bodies, path, speaking });
    return { ...built, path, bytes, state, structureVersion };
  }
  // An entry that a damaged one had hidden may have moved the path.
  const path = engine.rowPath(at, bridgeGaps);
  const built = engine.builtContext(at, { loaded: bodies.byRow, path });
  return { ...built, path, bytes, state, structureVersion: state.index.structureVersion };
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
  const selected = selectContext(engine.pathView(null, { path }));
  for (let position = 0; position < selected.length; position += 1) {
    const row = path.rows[selected[position] ?? -1];
    if (row === undefined) continue;
    if (everyType || contributesToContext(engine.index.kindOf(row).type, position))
      wanted.push(row);
  }
  return wanted;
}
