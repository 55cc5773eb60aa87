/**
 * One path of a session as the lines of a log of its own, in pi's dialect: the header and every
 * entry of the path once, with their bytes. Links change where an entry was left out between two,
 * and what omp writes differently is converted; the context at the end is that of the source. Read
 * and handed on in bounded memory.
 */
import {
  addedLines,
  currentVersion,
  encodeDraft,
  headerInCurrentForm,
  lineChunks,
  newline,
  relinkLine,
  rowLines,
} from "@branchlog/core/internal";
import type { Engine, IndexTable, LineSource, RowLine } from "@branchlog/core/internal";
import { convertHeader, withDialect } from "../convert/convert-entry.ts";
import { firstKeptRow } from "../convert/kept-entries.ts";
import { dialectOfRows, isConvertible } from "../convert/line-converter.ts";
import type { LineConverter } from "../convert/line-converter.ts";
import type { ExportedPath } from "./exported-path.ts";

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
