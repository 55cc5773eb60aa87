/**
 * Which entries an export is made of: the path from the root to an entry, and what is true of it by
 * entries that stand elsewhere, the name of the session and labels.
 */
import type { SessionEntry } from "../entries/entry-types.ts";
import { pathToRow } from "../index-table/tree-walk.ts";
import { nameInForce, sessionName } from "../projections/name.ts";
import type { Engine } from "../session/engine.ts";
import { requireNode } from "../session/named-entry.ts";

/** Rows of a log. */
export interface ExportedPath {
  /** The path, root first. */
  readonly rows: Int32Array;
  /** Entries that are not on it and are in force on it, in the order of the file. */
  readonly carried: readonly number[];
}

/**
 * The path to an entry; without one, to the last entry of the log.
 * @throws BranchlogError `ERR_ENTRY_NOT_FOUND`, `ERR_INVALID_ARGUMENT`.
 */
export function pathRows(engine: Engine, at: string | undefined): Int32Array {
  if (at !== undefined) requireNode(engine, at);
  const id = at ?? engine.tailId;
  return pathToRow(engine.index, id === null ? -1 : engine.index.rowOfId(id)).rows;
}

/** The path to an entry with what is in force on it. Reads the bodies of names and labels. */
export async function exportedPath(
  engine: Engine,
  at: string | undefined,
  signal: AbortSignal | undefined,
): Promise<ExportedPath> {
  const rows = pathRows(engine, at);
  const onPath = new Set(rows);
  const carried = [...(await labelRows(engine, onPath, signal)), ...nameRows(engine, onPath)];
  return { rows, carried: carried.toSorted((a, b) => a - b) };
}

/** The entry that names the session, unless the path alone gives the same name. */
function nameRows(engine: Engine, onPath: ReadonlySet<number>): number[] {
  const named = lastNamed(engine, () => true);
  const given = lastNamed(engine, (row) => onPath.has(row))?.name;
  if (named === undefined) return [];
  // As the copy would be called without it, but for a slot, which it has, too.
  const { header } = engine;
  const own = nameInForce({ slot: undefined, given: given === "" ? null : given, header });
  return named.name === (own ?? "") ? [] : [named.row];
}

/** The last entry that names the session, or takes its name away; only of some rows. */
function lastNamed(
  { index, bodies }: Engine,
  isLookedAt: (row: number) => boolean,
): { readonly row: number; readonly name: string } | undefined {
  for (let row = index.count - 1; row >= 0; row -= 1) {
    const isName = sessionName.types?.includes(index.kindOf(row).type) === true;
    if (!isName || !index.isNode(row) || !isLookedAt(row)) continue;
    const entry = bodies.entrySync(row);
    const record = entry && { revision: row + 1, entry };
    const name = record && sessionName.apply(undefined, record);
    if (name !== undefined) return { row, name: name ?? "" };
  }
  return undefined;
}

/** Entries that label, or clear a label, on the path, and are not on it. */
async function labelRows(
  { index, bodies }: Engine,
  onPath: ReadonlySet<number>,
  signal: AbortSignal | undefined,
): Promise<number[]> {
  const latest = new Map<string, { readonly row: number; readonly isSet: boolean }>();
  const labelledOnPath = new Set<string>();
  for await (const { row, entry } of bodies.entries(rowsOfLabels(index), signal)) {
    const label = labelOf(entry);
    if (label === undefined) continue;
    latest.set(label.targetId, { row, isSet: label.text !== "" });
    if (onPath.has(row)) labelledOnPath.add(label.targetId);
  }
  const carried: number[] = [];
  for (const [targetId, { row, isSet }] of latest) {
    if (onPath.has(row) || !onPath.has(index.rowOfId(targetId))) continue;
    if (isSet || labelledOnPath.has(targetId)) carried.push(row);
  }
  return carried;
}

function* rowsOfLabels(index: Engine["index"]): Generator<number> {
  for (let row = 0; row < index.count; row += 1) {
    if (index.kindOf(row).type === "label" && index.isNode(row)) yield row;
  }
}

/** What a label entry does; undefined if readers ignore it. */
function labelOf(
  entry: SessionEntry,
): { readonly targetId: string; readonly text: string } | undefined {
  if (entry.type !== "label" || typeof entry.targetId !== "string") return undefined;
  const text: unknown = entry.label ?? "";
  return typeof text === "string" ? { targetId: entry.targetId, text } : undefined;
}
