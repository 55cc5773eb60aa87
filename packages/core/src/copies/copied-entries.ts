/**
 * Lines of copied entries: byte for byte, except for changes required by an older version or the
 * copy, and new entries after them. Long lines that stay as they are pass through in chunks.
 */
import { lineChunks, rowLines } from "../bodies/row-lines.ts";
import { copiedPath, pathEndRow } from "../session/entry-query.ts";
import { readFullySync, readRange } from "@branchlog/streaming";
import { planReads } from "../bodies/body-reader.ts";
import { currentVersion, entryForm } from "../dialects/header.ts";
import { isEmptyLinks, relinkLine } from "../dialects/object-members.ts";
import type { NewLinks } from "../dialects/object-members.ts";
import { AnswerJoiner } from "../entries/answers.ts";
import { spliceDraft } from "../entries/encode-entry.ts";
import type { EncodedDraft } from "../entries/entry-draft.ts";
import type { KnownDraft } from "../entries/entry-draft.ts";
import type { SessionEntry } from "../entries/entry-types.ts";
import { rowFlags } from "../index-table/row-table.ts";
import { bodyBytesMax } from "../limits.ts";
import { namingTypes, sessionName } from "../projections/name.ts";
import type { GivenName } from "../projections/name.ts";
import type { Engine } from "../session/engine.ts";

export interface EntryLine {
  readonly row: number;
  /** Without newline; null if it is over `lineBytesMax` and needs no change for its version. */
  readonly line: Buffer | null;
}

/** In the given order. Damaged rows must be filtered out before. */
export function* entryLines(engine: Engine, rows: Iterable<number>): Generator<EntryLine> {
  if (engine.log.state.indexer.transcript === undefined) yield* sessionLines(engine, rows);
  else yield* transcriptLines(engine, rows);
}

function* sessionLines(engine: Engine, rows: Iterable<number>): Generator<EntryLine> {
  const { index, bodies, log, settings } = engine;
  const isCurrent = entryForm(log.state.indexer.header?.version ?? currentVersion) === 3;
  for (const read of planReads(index.rows, rows)) {
    const [first] = read.rows;
    // A long line is always read alone.
    if (isCurrent && first !== undefined && index.rows.length(first) > settings.lineBytesMax) {
      for (const row of read.rows) yield { row, line: null };
      continue;
    }
    const bytes = readFullySync(log.file, Buffer.allocUnsafe(read.length), read.offset);
    for (const row of read.rows) {
      const start = index.rows.offset(row) - read.offset;
      const stored = bytes.subarray(start, start + index.rows.length(row));
      yield { row, line: isCurrent ? stored : bodies.migratedLine(row, stored) };
    }
  }
}

/**
 * The rows of a path that is exported, to an entry or the tail. Throws `ERR_ENTRY_NOT_FOUND`,
 * `ERR_INVALID_ARGUMENT`.
 */
export function exportedPath(engine: Engine, at: string | undefined): Int32Array {
  return copiedPath(engine, pathEndRow(engine, at));
}

interface StreamedLine {
  readonly row: number;
  readonly chunks: () => AsyncIterable<Buffer>;
}

/**
 * As {@link entryLines}, without blocking and in bounded memory: each line in chunks. Damaged rows
 * are omitted. Throws `ERR_LOG_GONE`, also while chunks are read.
 */
export async function* streamedLines(
  engine: Engine,
  rows: Iterable<number>,
  signal?: AbortSignal,
): AsyncGenerator<StreamedLine> {
  const { path, settings } = engine;
  const { file, indexer, bodies } = engine.log.state;
  if (indexer.transcript !== undefined) {
    for (const { row, line } of transcriptLines(engine, rows)) {
      yield { row, chunks: () => once(line) };
    }
    return;
  }
  const { lineBytesMax } = settings;
  const source = { path, bytes: file, indexer, bodies, lineBytesMax };
  for await (const { row, bytes } of rowLines(source, rows, signal)) {
    const chunks = bytes === null ? () => lineChunks(source, row, signal) : () => once(bytes);
    yield { row, chunks };
  }
}

async function* once(line: Buffer): AsyncGenerator<Buffer> {
  yield line;
}

function* transcriptLines(
  { index, bodies }: Engine,
  rows: Iterable<number>,
): Generator<EntryLine & { readonly line: Buffer }> {
  const joiner = new AnswerJoiner();
  const lineOf = (entry: SessionEntry): { readonly row: number; readonly line: Buffer } => {
    const row = index.rowOfId(entry.id);
    if (entry.type !== "compaction") return { row, line: Buffer.from(JSON.stringify(entry)) };
    // What is kept may begin at a part, which is not an entry here.
    const firstKeptEntryId = joiner.idOf(entry.firstKeptEntryId);
    return { row, line: Buffer.from(JSON.stringify({ ...entry, firstKeptEntryId })) };
  };
  for (const { entry } of bodies.entriesSync(rows)) {
    for (const whole of joiner.take(entry)) yield lineOf(whole);
  }
  for (const whole of joiner.end()) yield lineOf(whole);
}

/** Throws `ERR_ENTRY_TOO_LARGE` if new links do not fit into memory with the line. */
export function* relinkedLine(
  { bodies, index, log }: Engine,
  { row, line }: EntryLine,
  links: NewLinks,
): Generator<Buffer> {
  if (line !== null) yield relinkLine(line, links);
  else if (isEmptyLinks(links)) {
    yield* readRange(log.file, index.rows.offset(row), index.rows.length(row));
  } else yield relinkLine(bodies.lineSync(row), links);
  yield newline;
}

/** No copy may hold a line that only resembled an entry. */
export function readableRows(engine: Engine, rows: Iterable<number>): number[] {
  const { index, bodies } = engine;
  const all = [...rows];
  const unsure = all.filter(
    (row) => index.rows.is(row, rowFlags.provisional) && index.rows.length(row) <= bodyBytesMax,
  );
  bodies.confirmAllSync(unsure);
  return all.filter((row) => !index.rows.is(row, rowFlags.damaged));
}

export const newline: Buffer = Buffer.from("\n");

export interface AddedEntry {
  readonly draft: KnownDraft;
  readonly timestamp: string;
}

export interface AddedForm {
  readonly encode: (draft: KnownDraft, timestamp: string) => EncodedDraft;
  readonly mintId: () => string;
}

const mintsMax = 100;

/** The lines of new entries in a chain below an entry, with ids that the source does not have. */
export function* addedLines(
  { index, settings }: Engine,
  added: Iterable<AddedEntry>,
  parentId: string | null,
  { encode, mintId }: AddedForm,
): Generator<Buffer> {
  const minted = new Set<string>();
  const isTaken = (id: string): boolean => index.ids.find(id) >= 0 || minted.has(id);
  let above = parentId;
  for (const { draft, timestamp } of added) {
    let id = mintId();
    for (let i = 0; i < mintsMax && isTaken(id); i += 1) id = mintId();
    if (isTaken(id)) id = settings.ports.ids.sessionId();
    minted.add(id);
    yield spliceDraft(encode(draft, timestamp), id, above);
    above = id;
  }
}

export interface Naming {
  readonly row: number;
  readonly entry: SessionEntry;
  readonly name: GivenName;
}

function* namingsIn({ index, bodies }: Engine, rows: Iterable<number>): Generator<Naming> {
  for (const row of rows) {
    if (!namingTypes.includes(index.kindOf(row).type) || !index.isNode(row)) continue;
    const entry = bodies.entrySync(row);
    if (entry === undefined) continue;
    const name = sessionName.apply(undefined, { revision: row + 1, entry });
    yield { row, entry, name };
  }
}

/** The first of these rows that gives or takes a name. Default: the last of the log. */
export function firstNaming(
  engine: Engine,
  rows: Iterable<number> = rowsBackwards(engine),
): Naming | undefined {
  for (const naming of namingsIn(engine, rows)) if (naming.name !== undefined) return naming;
  return undefined;
}

/** The last entry of a naming type, whether or not it says anything. */
export function lastNaming(engine: Engine): Naming | undefined {
  const [last] = namingsIn(engine, rowsBackwards(engine));
  return last;
}

function* rowsBackwards({ index }: Engine): Generator<number> {
  for (let row = index.count - 1; row >= 0; row -= 1) yield row;
}
