/**
 * One path of a session as the lines of a log of its own, in pi's dialect: the header and every
 * entry of the path once, with their bytes. Links change where an entry was left out between two,
 * and what omp writes differently is converted; the context at the end is that of the source. Read
 * and handed on in bounded memory.
 */
import type { SessionEntry } from "@branchlog/core";
import {
  addedLines,
  currentVersion,
  encodeDraft,
  headerInCurrentForm,
  lineChunks,
  newline,
  relinkLine,
  rowLines,
  firstNaming,
  pathEndRow,
  pathToRow,
  rowsBackwards,
} from "@branchlog/core/internal";
import type { Engine, IndexTable, LineSource, RowLine, AddedEntry } from "@branchlog/core/internal";
import { convertHeader, withDialect } from "../convert/convert-entry.ts";
import { firstKeptRow, dialectOfRows, isConvertible, nameTime } from "../convert/line-converter.ts";
import type { LineConverter } from "../convert/line-converter.ts";

/** A path that is exported. */
export interface LinearExport extends ExportedPath {
  readonly engine: Engine;
  readonly signal: AbortSignal | undefined;
  /** Counts what the export changes as it goes. */
  readonly converter: LineConverter;
}

/** The bytes of the log. Damaged entries are left out. */
export async function* linearLines(work: LinearExport): AsyncGenerator<Buffer, void, undefined> {
  const { engine, rows, added, converter } = work;
  const { settings, log } = engine;
  const stored = headerInCurrentForm(log.state.file, log.state);
  const header = convertHeader(stored, { version: currentVersion, to: "pi", name: undefined });
  const ofEntries = await dialectOfRows(engine, rows, "pi");
  yield withDialect(header, "pi", { hasTitleSlot: false, ofEntries });
  yield newline;
  const parentId = yield* chained(work);
  const mintId = (): string => settings.ports.ids.entryId();
  yield* addedLines(engine, added, parentId, { encode: encodeDraft, mintId });
  converter.counts.addedName = added.some(({ draft }) => draft.type === "session_info");
}

/** The entries, each below the one before; returns the id of the last. */
async function* chained({
  engine,
  rows,
  signal,
  converter,
}: LinearExport): AsyncGenerator<Buffer, string | null, undefined> {
  const { index, path, settings } = engine;
  const { file, indexer, bodies } = engine.log.state;
  const { lineBytesMax } = settings;
  const source = { path, bytes: file, indexer, bodies, lineBytesMax };
  let parentId: string | null = null;
  for await (const stored of rowLines(source, rows, signal)) {
    const { row } = stored;
    const { type } = index.kindOf(row);
    const isLinked = index.parentIdOf(row) === parentId;
    const mayConvert = isConvertible(engine, row);
    if (isLinked && !mayConvert) yield* storedBytes(source, stored, signal);
    else {
      // A long line is held whole only if it changes.
      const line = await wholeLine(storedBytes(source, stored, signal));
      const linked = isLinked ? line : relinkLine(line, { parentId });
      yield mayConvert
        ? converter.convert(linked, (last) => keptFrom(index, rows, row, last))
        : linked;
    }
    yield newline;
    // After a compaction, pi sees what omp does, whatever was reset before it.
    if (type === "compaction") converter.counts.resets = 0;
    if (type === "reset_boundary") converter.counts.resets += 1;
    parentId = index.idOf(row);
  }
  return parentId;
}

/** Entries above the row were read before it: those that are damaged are known. */
function keptFrom(
  index: IndexTable,
  rows: readonly number[],
  row: number,
  replayed: string,
): string | undefined {
  let at = rows.indexOf(row);
  const kept = firstKeptRow(index, () => rows[(at -= 1)] ?? -1, replayed);
  return kept < 0 ? undefined : index.idOf(kept);
}

async function* storedBytes(
  source: LineSource,
  { row, bytes }: RowLine,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  if (bytes === null) yield* lineChunks(source, row, signal);
  else yield bytes;
}

async function wholeLine(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of pieces) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Rows of a log, and what no row of them says in its place. */
export interface ExportedPath {
  /** The path, root first; then entries that are in force on it and not on it, in file order. */
  readonly rows: readonly number[];
  /**
   * Entries that are made after them: for labels and a name that the file says last on the path,
   * but the path does not, or that no entry says. An absent label or an empty name takes it away.
   */
  readonly added: readonly AddedEntry[];
}

/**
 * The path to an entry; without one, to the last entry of the log. One that is damaged is left out,
 * as everywhere on a path.
 * @throws BranchlogError `ERR_ENTRY_NOT_FOUND`, `ERR_INVALID_ARGUMENT`.
 */
export function pathRows(engine: Engine, at: string | undefined): Int32Array {
  return pathToRow(engine.index, pathEndRow(engine, at)).rows;
}

/** The path to an entry with what is in force on it. Reads the bodies of names and labels. */
export async function exportedPath(
  engine: Engine,
  at: string | undefined,
  signal: AbortSignal | undefined,
): Promise<ExportedPath> {
  const path = pathRows(engine, at);
  const places = new Map(Array.from(path, (row, place) => [row, place]));
  const name = nameAtEnd(engine, path, places);
  const labels = await labelsAtEnd(engine, places, signal);
  const carried = [...labels.carried, ...name.carried].toSorted((a, b) => a - b);
  return { rows: [...path, ...carried], added: [...labels.added, ...name.added] };
}

/** Where the rows of a path are on it. */
type Places = ReadonlyMap<number, number>;

/** What gives a copy what the path does not: entries that are elsewhere, and new ones. */
interface Carried {
  readonly carried: readonly number[];
  readonly added: readonly AddedEntry[];
}

/**
 * What gives the copy the name of the session. The copy has the order of the path, in which another
 * entry may be last than in the file, as parents may follow their children there.
 */
function nameAtEnd(engine: Engine, path: Int32Array, places: Places): Carried {
  const { log, header } = engine;
  const name = log.state.name ?? "";
  if ((firstNaming(engine, path.toReversed())?.name ?? "") === name) {
    return { carried: [], added: [] };
  }
  const last = firstNaming(engine, rowsBackwards(engine));
  const isSaid = last !== undefined && (last.name ?? "") === name;
  if (isSaid && !places.has(last.row)) return { carried: [last.row], added: [] };
  const time: unknown = isSaid ? last.entry.timestamp : undefined;
  const timestamp = typeof time === "string" ? time : nameTime(log.state.titleSlot, header);
  return { carried: [], added: [{ draft: { type: "session_info", name }, timestamp }] };
}

/** A label entry, and where it is on the path. */
interface SaidLabel {
  readonly targetId: string;
  /** "" takes the label away. */
  readonly label: string;
  readonly time: unknown;
  readonly row: number;
  readonly place: number | undefined;
}

/** What gives the copy the labels of the path. */
async function labelsAtEnd(
  { index, bodies, header }: Engine,
  places: Places,
  signal: AbortSignal | undefined,
): Promise<Carried> {
  const lastInFile = new Map<string, SaidLabel>();
  const lastOnPath = new Map<string, SaidLabel>();
  for await (const { row, entry } of bodies.entries(rowsOfLabels(index), signal)) {
    const label = labelOf(entry);
    if (label === undefined) continue;
    const { targetId } = label;
    const said = { ...label, time: entry.timestamp, row, place: places.get(row) };
    lastInFile.set(targetId, said);
    const before = lastOnPath.get(targetId)?.place ?? -1;
    if (said.place !== undefined && said.place > before) lastOnPath.set(targetId, said);
  }
  const carried: number[] = [];
  const added: AddedEntry[] = [];
  for (const { targetId, label, time, row, place } of lastInFile.values()) {
    const onPath = lastOnPath.get(targetId);
    const isSame = onPath?.row === row || (onPath?.label ?? "") + label === "";
    if (isSame || !places.has(index.rowOfId(targetId))) continue;
    if (place === undefined) carried.push(row);
    else {
      const text = label === "" ? {} : { label };
      const timestamp = typeof time === "string" ? time : nameTime(undefined, header);
      added.push({ draft: { type: "label", targetId, ...text }, timestamp });
    }
  }
  return { carried, added };
}

function* rowsOfLabels(index: Engine["index"]): Generator<number> {
  for (let row = 0; row < index.count; row += 1) {
    if (index.kindOf(row).type === "label" && index.isNode(row)) yield row;
  }
}

/** What a label entry does; undefined if readers ignore it. */
function labelOf(entry: SessionEntry): Pick<SaidLabel, "targetId" | "label"> | undefined {
  if (entry.type !== "label" || typeof entry.targetId !== "string") return undefined;
  const label: unknown = entry.label ?? "";
  return typeof label === "string" ? { targetId: entry.targetId, label } : undefined;
}
