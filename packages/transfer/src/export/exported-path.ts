/**
 * Which entries an export is made of: the path from the root to an entry, and what is true of it by
 * entries that stand elsewhere, the name of the session and labels.
 */
import type { SessionEntry } from "@branchlog/core";
import { pathToRow, sessionName, settledRow, tailRow } from "@branchlog/core/internal";
import type { Engine } from "@branchlog/core/internal";
import { nameTime } from "../convert/name-line.ts";

/** Rows of a log, and what no row of them says in its place. */
export interface ExportedPath {
  /** The path, root first. */
  readonly rows: Int32Array;
  /** Entries that are not on it and are in force on it, in the order of the file. */
  readonly carried: readonly number[];
  /** The name of the session, if no entry says it that is not on the path, or the last there. */
  readonly addedName: AddedName | undefined;
  /** Labels that an entry of the path says which is the last in the file, but not on the path. */
  readonly addedLabels: readonly AddedLabel[];
}

/** A name for which an entry is made; "" takes the name away. */
export interface AddedName {
  readonly name: string;
  readonly updatedAt: string;
}

/** A label for which an entry is made; "" clears it. */
export interface AddedLabel {
  readonly targetId: string;
  readonly label: string;
  readonly timestamp: string;
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
  const places = new Map(Array.from(rows, (row, place) => [row, place]));
  const { row, addedName } = nameAtEnd(engine, rows, places);
  const labels = await labelsAtEnd(engine, places, signal);
  const carried = [...labels.carried, ...(row === undefined ? [] : [row])];
  const inFileOrder = carried.toSorted((a, b) => a - b);
  return { rows, carried: inFileOrder, addedName, addedLabels: labels.added };
}

/** Where the rows of a path are on it. */
type Places = ReadonlyMap<number, number>;

/**
 * What gives the copy the name of the session: nothing, where the path does; an entry that stands
 * elsewhere; or a new one. The copy has the order of the path, in which another entry may be last
 * than in the file, as parents may stand behind their children there.
 */
function nameAtEnd(
  engine: Engine,
  rows: Int32Array,
  places: Places,
): { readonly row?: number; readonly addedName: AddedName | undefined } {
  const { log, index, header } = engine;
  const name = log.state.name ?? "";
  if ((lastNamed(engine, backwards(rows.length, rows))?.name ?? "") === name) {
    return { addedName: undefined };
  }
  const named = lastNamed(engine, backwards(index.count));
  const isSaid = named?.name === name;
  if (isSaid && !places.has(named.row)) return { row: named.row, addedName: undefined };
  const time: unknown = isSaid ? named.timestamp : undefined;
  const updatedAt = typeof time === "string" ? time : nameTime(log.state.titleSlot, header);
  return { addedName: { name, updatedAt } };
}

function* backwards(count: number, rows?: Int32Array): Generator<number> {
  for (let i = count - 1; i >= 0; i -= 1) yield rows?.[i] ?? i;
}

/** The first of the rows that names the session, or takes its name away. */
function lastNamed(
  { index, bodies }: Engine,
  rows: Iterable<number>,
): { readonly row: number; readonly name: string; readonly timestamp: unknown } | undefined {
  for (const row of rows) {
    const isName = sessionName.types?.includes(index.kindOf(row).type) === true;
    if (!isName || !index.isNode(row)) continue;
    const entry = bodies.entrySync(row);
    const record = entry && { revision: row + 1, entry };
    const name = record && sessionName.apply(undefined, record);
    if (name !== undefined) return { row, name: name ?? "", timestamp: entry?.timestamp };
  }
  return undefined;
}

/** A label entry, and where it is on the path. */
interface SaidLabel extends AddedLabel {
  readonly row: number;
  readonly place: number | undefined;
}

/** What gives the copy the labels of the path: entries that stand elsewhere, and new ones. */
async function labelsAtEnd(
  { index, bodies, header }: Engine,
  places: Places,
  signal: AbortSignal | undefined,
): Promise<{ readonly carried: readonly number[]; readonly added: readonly AddedLabel[] }> {
  const lastInFile = new Map<string, SaidLabel>();
  const lastOnPath = new Map<string, SaidLabel>();
  for await (const { row, entry } of bodies.entries(rowsOfLabels(index), signal)) {
    const label = labelOf(entry, nameTime(undefined, header));
    if (label === undefined) continue;
    const { targetId } = label;
    const said = { ...label, row, place: places.get(row) };
    lastInFile.set(targetId, said);
    const before = lastOnPath.get(targetId)?.place ?? -1;
    if (said.place !== undefined && said.place > before) lastOnPath.set(targetId, said);
  }
  const wanted = [...lastInFile.values()].filter((said) => {
    const onPath = lastOnPath.get(said.targetId);
    const isSame = onPath?.row === said.row || (onPath?.label ?? "") + said.label === "";
    return !isSame && places.has(index.rowOfId(said.targetId));
  });
  const carried = wanted.filter(({ place }) => place === undefined).map(({ row }) => row);
  return { carried, added: wanted.filter(({ place }) => place !== undefined) };
}

function* rowsOfLabels(index: Engine["index"]): Generator<number> {
  for (let row = 0; row < index.count; row += 1) {
    if (index.kindOf(row).type === "label" && index.isNode(row)) yield row;
  }
}

/** What a label entry does, with another time if it has none; undefined if readers ignore it. */
function labelOf(entry: SessionEntry, otherTime: string): AddedLabel | undefined {
  if (entry.type !== "label" || typeof entry.targetId !== "string") return undefined;
  const label: unknown = entry.label ?? "";
  if (typeof label !== "string") return undefined;
  const time: unknown = entry.timestamp;
  const timestamp = typeof time === "string" ? time : otherTime;
  return { targetId: entry.targetId, label, timestamp };
}
