/**
 * Which entries an export is made of: the path from the root to an entry, and what is true of it by
 * entries that stand elsewhere, the name of the session and labels.
 */
import type { SessionEntry } from "../entries/entry-types.ts";
import { pathToRow, tailRow } from "../index-table/tree-walk.ts";
import { sessionName } from "../projections/name.ts";
import type { Engine } from "../session/engine.ts";
import { settledRow } from "../session/named-entry.ts";

/** Rows of a log. */
export interface ExportedPath {
  /** The path, root first. */
  readonly rows: Int32Array;
  /** Entries that are not on it and are in force on it, in the order of the file. */
  readonly carried: readonly number[];
  /** The name of the session, if no entry says it: a title slot does, or the header. */
  readonly addedName: string | undefined;
}

/**
 * The path to an entry; without one, to the last entry of the log. One that is damaged is left out,
 * as everywhere on a path.
 * @throws BranchlogError `ERR_ENTRY_NOT_FOUND`, `ERR_INVALID_ARGUMENT`.
 */
export function pathRows(engine: Engine, at: string | undefined): Int32Array {
  const { index } = engine;
  return pathToRow(index, at === undefined ? tailRow(index) : settledRow(engine, at)).rows;
}

/** The path to an entry with what is in force on it. Reads the bodies of names and labels. */
export async function exportedPath(
  engine: Engine,
  at: string | undefined,
  signal: AbortSignal | undefined,
): Promise<ExportedPath> {
  const rows = pathRows(engine, at);
  const onPath = new Set(rows);
  const { row, addedName } = nameOffPath(engine, onPath);
  const carried = [
    ...(await labelRows(engine, onPath, signal)),
    ...(row === undefined ? [] : [row]),
  ];
  return { rows, carried: carried.toSorted((a, b) => a - b), addedName };
}

/** What gives the copy the name of the session: nothing, where the path does; an entry; or none. */
function nameOffPath(
  engine: Engine,
  onPath: ReadonlySet<number>,
): { readonly row?: number; readonly addedName: string | undefined } {
  const name = engine.log.state.name ?? "";
  if ((lastNamed(engine, (row) => onPath.has(row))?.name ?? "") === name) {
    return { addedName: undefined };
  }
  const named = lastNamed(engine, () => true);
  if (named?.name === name) return { row: named.row, addedName: undefined };
  return { addedName: name };
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
