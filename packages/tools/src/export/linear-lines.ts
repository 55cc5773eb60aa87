/** One path of a session as a linear log for pi, with the name and labels that apply to it. */
import type { SessionEntry } from "@branchlog/core";
import {
  addedLines,
  headerInCurrentForm,
  firstNaming,
  streamedLines,
  exportedPath,
} from "@branchlog/core/engine";
import { currentVersion, encodeDraft, relinkLine } from "@branchlog/core/rows";
import type { Engine, AddedEntry } from "@branchlog/core/engine";
import type { IndexTable } from "@branchlog/core/rows";
import { convertHeader, withDialect } from "../convert/convert-entry.ts";
import { firstKeptRow, dialectOfRows, isConvertible, nameTime } from "../convert/line-converter.ts";
import type { LineConverter } from "../convert/line-converter.ts";

export interface LinearExport extends ExportedPath {
  readonly engine: Engine;
  readonly signal: AbortSignal | undefined;
  readonly converter: LineConverter;
}

const newline = Buffer.from("\n");

/** Damaged entries are omitted. */
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

/** Yields each entry below the one before; returns the id of the last. */
async function* chained({
  engine,
  rows,
  signal,
  converter,
}: LinearExport): AsyncGenerator<Buffer, string | null, undefined> {
  const { index } = engine;
  let parentId: string | null = null;
  for await (const { row, chunks } of streamedLines(engine, rows, signal)) {
    const { type } = index.kindOf(row);
    const isLinked = index.parentIdOf(row) === parentId;
    const mayConvert = isConvertible(engine, row);
    if (isLinked && !mayConvert) yield* chunks();
    else {
      // A long line is held whole only if it changes.
      const line = await wholeLine(chunks());
      const linked = isLinked ? line : relinkLine(line, { parentId });
      yield mayConvert
        ? converter.convert(linked, (last) => keptFrom(index, rows, row, last))
        : linked;
    }
    yield newline;
    // After a compaction, pi sees the same as omp, after any earlier reset.
    if (type === "compaction") converter.counts.resets = 0;
    if (type === "reset_boundary") converter.counts.resets += 1;
    parentId = index.idOf(row);
  }
  return parentId;
}

/** Entries above the row were read before it, so that their damage is known. */
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

async function wholeLine(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of pieces) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export interface ExportedPath {
  /** The path, root first; then entries off the path that apply to it, in file order. */
  readonly rows: readonly number[];
  /** Entries to add after them, for names and labels that no row says in its place. */
  readonly added: readonly AddedEntry[];
}

/** Throws `ERR_ENTRY_NOT_FOUND`, `ERR_INVALID_ARGUMENT`. */
export async function linearPath(
  engine: Engine,
  at: string | undefined,
  signal: AbortSignal | undefined,
): Promise<ExportedPath> {
  const path = exportedPath(engine, at);
  const places = new Map(Array.from(path, (row, place) => [row, place]));
  const name = nameAtEnd(engine, path, places);
  const labels = await labelsAtEnd(engine, places, signal);
  const carried = [...labels.carried, ...name.carried].toSorted((a, b) => a - b);
  return { rows: [...path, ...carried], added: [...labels.added, ...name.added] };
}

type Places = ReadonlyMap<number, number>;

interface Carried {
  readonly carried: readonly number[];
  readonly added: readonly AddedEntry[];
}

/** On the path another entry may be last than in the file: parents may follow their children. */
function nameAtEnd(engine: Engine, path: Int32Array, places: Places): Carried {
  const { log, header } = engine;
  const name = log.state.name ?? "";
  if ((firstNaming(engine, path.toReversed())?.name ?? "") === name) {
    return { carried: [], added: [] };
  }
  const last = firstNaming(engine);
  const isSaid = last !== undefined && (last.name ?? "") === name;
  if (isSaid && !places.has(last.row)) return { carried: [last.row], added: [] };
  const time: unknown = isSaid ? last.entry.timestamp : undefined;
  const timestamp = typeof time === "string" ? time : nameTime(log.state.titleSlot, header);
  return { carried: [], added: [{ draft: { type: "session_info", name }, timestamp }] };
}

interface SaidLabel {
  readonly targetId: string;
  /** "" removes the label. */
  readonly label: string;
  readonly time: unknown;
  readonly row: number;
  readonly place: number | undefined;
}

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

/** Undefined if readers ignore it. */
function labelOf(entry: SessionEntry): Pick<SaidLabel, "targetId" | "label"> | undefined {
  if (entry.type !== "label" || typeof entry.targetId !== "string") return undefined;
  const label: unknown = entry.label ?? "";
  return typeof label === "string" ? { targetId: entry.targetId, label } : undefined;
}
