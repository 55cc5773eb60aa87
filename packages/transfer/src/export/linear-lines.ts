/**
 * One path of a session as the lines of a log of its own, in pi's words: the header and every entry
 * of the path once, with their bytes. Links change where an entry was left out between two, and
 * what omp says in its own way becomes what a conversion makes of it; the context at the end is
 * that of the source. Read and handed on in bounded memory.
 */
import { decodeLine } from "@branchlog/streaming";
import type { JsonObject } from "@branchlog/streaming";
import type { DialectName } from "@branchlog/core/entries";
import {
  LargeChunks,
  bodyBytesMax,
  convertHeader,
  convertLine,
  convertibleTypes,
  currentVersion,
  dialectOfConverted,
  encodeDraft,
  freshIds,
  headerInCurrentForm,
  lineChunks,
  nameIn,
  relinkLine,
  replayedThrough,
  rowLines,
  spliceDraft,
  tellingTypes,
  withDialect,
} from "@branchlog/core/internal";
import type { Engine, LineSource, RowLine } from "@branchlog/core/internal";
import { countConverted } from "../convert/converted-bytes.ts";
import type { ConversionCounts } from "../convert/converted-bytes.ts";
import { firstKeptRow } from "../convert/kept-entries.ts";
import { nameLine } from "../convert/name-line.ts";
import type { ExportedPath } from "./exported-path.ts";

const newline = Buffer.from("\n");

/** A path that is exported. */
export interface LinearExport extends ExportedPath {
  readonly engine: Engine;
  readonly signal: AbortSignal | undefined;
  /** What the export changes is counted here as it goes. */
  readonly counts: ConversionCounts;
}

/** The bytes of the log. Damaged entries are left out. */
export async function* linearLines(work: LinearExport): AsyncGenerator<Buffer, void, undefined> {
  const { engine, rows, carried } = work;
  const { state } = engine.log;
  const stored = headerInCurrentForm(state.file, state);
  const header = convertHeader(stored, { version: currentVersion, to: "pi", name: undefined });
  const ofEntries = await dialectOfPath(work);
  yield withDialect(header, "pi", { hasTitleSlot: false, ofEntries });
  yield newline;
  yield* addedLines(work, yield* chained(work, [rows, carried]));
}

/** New entries behind the others, for what none of them says in its place. */
function* addedLines(
  { engine, addedName, addedLabels, counts }: LinearExport,
  lastId: string | null,
): Generator<Buffer> {
  const { settings, index } = engine;
  const ids = { settings, mintEntryId: () => settings.ports.ids.entryId() };
  const mint = freshIds(ids, (taken) => index.rowOfId(taken) >= 0);
  let parentId = lastId;
  for (const { targetId, label, timestamp } of addedLabels) {
    const id = mint();
    const text = label === "" ? {} : { label };
    yield spliceDraft(encodeDraft({ type: "label", targetId, ...text }, timestamp), id, parentId);
    parentId = id;
  }
  if (addedName === undefined) return;
  yield nameLine(addedName, { id: mint(), parentId });
  counts.addedName = true;
}

/** The dialect of the first entry that only one of the agents writes, once it is converted. */
async function dialectOfPath({
  engine,
  rows,
  carried,
}: LinearExport): Promise<DialectName | undefined> {
  const { index, bodies } = engine;
  for (const part of [rows, carried]) {
    for (const row of part) {
      if (!telling.has(index.kindOf(row).type) || !bodies.isBuildable(row)) continue;
      const entry = await bodies.entry(row);
      if (entry === undefined) continue;
      // Decoding boundary: an entry is a JSON object.
      const told = dialectOfConverted(entry as unknown as JsonObject, "pi");
      if (told !== undefined) return told;
    }
  }
  return undefined;
}

const telling: ReadonlySet<string> = new Set(tellingTypes);

/** Entries, each below the one before; returns the id of the last. */
async function* chained(
  work: LinearExport,
  parts: readonly Iterable<number>[],
): AsyncGenerator<Buffer, string | null, undefined> {
  const { engine, signal, counts } = work;
  const { index } = engine;
  const source = lineSource(engine);
  const names: NameBefore = { name: undefined };
  let parentId: string | null = null;
  for (const part of parts) {
    for await (const line of rowLines(source, part, signal)) {
      const { row } = line;
      const isLinked = index.parentIdOf(row) === parentId;
      const isWordy = isConvertible(engine, row);
      if (isLinked && !isWordy) yield* asItIs(source, line, signal);
      else {
        const whole = await wholeLine(source, line, signal);
        const linked = isLinked ? whole : relinkLine(whole, { parentId });
        yield isWordy ? converted(work, row, linked, names) : linked;
      }
      yield newline;
      noteReset(counts, index.kindOf(row).type);
      parentId = index.idOf(row);
    }
  }
  return parentId;
}

/** Behind a compaction, pi sees what omp does, whatever was reset before it. */
function noteReset(counts: ConversionCounts, type: string): void {
  if (type === "compaction") counts.resets = 0;
  if (type === "reset_boundary") counts.resets += 1;
}

function lineSource({ path, settings, log }: Engine): LineSource {
  const { file, indexer, bodies } = log.state;
  return { path, bytes: file, indexer, bodies, lineBytesMax: settings.lineBytesMax };
}

/** Whether the line of a row may have another form in pi, and can be held to get it. */
function isConvertible({ index }: Engine, row: number): boolean {
  return convertibleTypes.has(index.kindOf(row).type) && index.rows.length(row) <= bodyBytesMax;
}

/** What the copy is called so far. */
interface NameBefore {
  name: string | undefined;
}

/** The line of a row in pi's words. */
function converted(work: LinearExport, row: number, line: Buffer, names: NameBefore): Buffer {
  const decoded = decodeLine(line);
  if (!decoded.ok) return line;
  const { value } = decoded;
  const around = { nameBefore: names.name, keptFrom: keptFrom(work, row, value) };
  const own = convertLine(line, value, "pi", around);
  names.name = nameIn(value) ?? names.name;
  if (own !== line) countConverted(work.counts, value["type"]);
  return own;
}

/** Entries above the row were read before it: those that are damaged are known. */
function keptFrom(
  { engine: { index }, rows }: LinearExport,
  row: number,
  value: JsonObject,
): string | undefined {
  const replayed = replayedThrough(value);
  if (replayed === undefined) return undefined;
  let at = rows.indexOf(row);
  const kept = firstKeptRow(index, () => rows[(at -= 1)] ?? -1, replayed);
  return kept < 0 ? undefined : index.idOf(kept);
}

async function* asItIs(
  source: LineSource,
  { row, bytes }: RowLine,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  if (bytes === null) yield* lineChunks(source, row, signal);
  else yield bytes;
}

/** A long line is held whole only if it changes: if it is converted, or its path breaks off. */
async function wholeLine(
  source: LineSource,
  line: RowLine,
  signal: AbortSignal | undefined,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of asItIs(source, line, signal)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The same bytes in few large pieces. */
export async function* inLargePieces(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const chunks = new LargeChunks();
  for await (const piece of pieces) yield* chunks.add(piece);
  yield* chunks.rest();
}
