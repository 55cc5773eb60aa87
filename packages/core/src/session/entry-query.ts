/**
 * Answers which entries a query means from the index alone, so that bodies are read only for what
 * is asked for: the latest state of an extension among any number of entries costs one parse.
 */
import { invalidArgument, requireOneOf, requireOptions } from "../argument-checks.ts";
import { pathToRow } from "../index-table/tree-walk.ts";
import type { Engine } from "./engine.ts";

/** Which entries to read, and in which order. */
export interface EntryQuery {
  /** Only entries of this revision and later; revisions count from 1. */
  readonly from?: number;
  /** Only entries of this type. */
  readonly type?: string;
  /** Only entries of this extension. */
  readonly customType?: string;
  /**
   * `log`: all, in file order. `branch`: those on the path to the leaf, root first. Default `log`.
   */
  readonly on?: "log" | "branch";
  /** Last first. Default false. */
  readonly reverse?: boolean;
  /** Ends the reading with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** The rows that a query means, in its order, lazily. */
export function* rowsOf(
  engine: Engine,
  query: EntryQuery,
  leafId: string | null,
): Generator<number> {
  const { index } = engine;
  const { on = "log", from = 1 } = requireOptions(query);
  requireOneOf("on", on, ["log", "branch"]);
  if (!Number.isInteger(from) || from < 1) {
    throw invalidArgument(`from must be a revision ≥ 1, not ${from}`);
  }
  const kinds = matchingKinds(engine, query);
  for (const row of candidates(engine, query, leafId, from - 1)) {
    if (kinds !== null && kinds[index.rows.kind(row)] !== true) continue;
    yield row;
  }
}

/** Per kind number whether it matches; null if every kind does. */
function matchingKinds({ index }: Engine, query: EntryQuery): boolean[] | null {
  const { type, customType } = query;
  if (type === undefined && customType === undefined) return null;
  return index.kinds.kinds.map(
    (kind) =>
      (type === undefined || kind.type === type) &&
      (customType === undefined || kind.customType === customType),
  );
}

function* candidates(
  engine: Engine,
  query: EntryQuery,
  leafId: string | null,
  fromRow: number,
): Generator<number> {
  const path = query.on === "branch" ? branchRows(engine, leafId) : undefined;
  const count = path?.length ?? engine.log.state.revision;
  for (let i = 0; i < count; i += 1) {
    const at = query.reverse === true ? count - 1 - i : i;
    const row = path === undefined ? at : (path[at] ?? -1);
    if (row >= fromRow) yield row;
  }
}

function branchRows({ index }: Engine, leafId: string | null): Int32Array {
  return pathToRow(index, leafId === null ? -1 : index.rowOfId(leafId)).rows;
}
