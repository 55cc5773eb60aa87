/**
 * The lines of rows as stored bytes, without line ending or white space around the record, each
 * checked to hold the entry of its row. Lines of older versions are spliced into the current form,
 * never parsed and serialized. Damaged ones are omitted and reported.
 */
import {
  bodyStream,
  lineEdgeBytes,
  readFully,
  readRangeAsync,
  runAsync,
} from "@branchlog/streaming";
import type { ByteSource } from "@branchlog/streaming";
import { entryForm } from "../dialects/header.ts";
import type { LogIndexer } from "../index-table/log-indexer.ts";
import { rowFlags } from "../index-table/row-table.ts";
import { planReads, rewritten } from "./body-reader.ts";
import type { BodyReader } from "./body-reader.ts";

export interface LineSource {
  readonly path: string;
  readonly bytes: ByteSource;
  readonly indexer: LogIndexer;
  readonly bodies: BodyReader;
  readonly lineBytesMax: number;
}

export interface RowLine {
  readonly row: number;
  /** From the first brace to the last; null if too long to be held: see {@link lineChunks}. */
  readonly bytes: Buffer | null;
}

/** In the given order. `bytes` is a view into a joined read. Throws `ERR_LOG_GONE`. */
export async function* rowLines(
  source: LineSource,
  rows: Iterable<number>,
  signal?: AbortSignal,
): AsyncGenerator<RowLine> {
  const table = source.indexer.index.rows;
  const isLong = (row: number): boolean =>
    table.length(row) > source.lineBytesMax || !source.bodies.isBuildable(row);
  for (const read of planReads(table, rows)) {
    signal?.throwIfAborted();
    const to = read.rows.every(isLong) ? read.offset : read.offset + read.length;
    const bytes = await bytesAt(source.bytes, read.offset, to);
    for (const row of read.rows) {
      if (table.is(row, rowFlags.damaged)) continue;
      if (isLong(row)) {
        if (await isWhole(source, row, signal)) yield { row, bytes: null };
        continue;
      }
      const start = table.offset(row) - read.offset;
      const stored = bytes.subarray(start, start + table.length(row));
      const line = source.bodies.checkedLine(row, stored);
      if (line !== undefined) yield { row, bytes: currentForm(source, row, recordIn(line)) };
    }
  }
}

/**
 * In bounded memory, except for lines of older versions, which are spliced whole. Throws
 * `ERR_LOG_GONE`; `ERR_ENTRY_TOO_LARGE` for a line of an older version.
 */
export async function* lineChunks(
  source: LineSource,
  row: number,
  signal?: AbortSignal,
): AsyncGenerator<Buffer> {
  if (!isCurrent(source)) {
    yield currentForm(source, row, recordIn(source.bodies.lineSync(row)));
    return;
  }
  const { rows } = source.indexer.index;
  const [start, end] = [rows.offset(row), rows.offset(row) + rows.length(row)];
  const from = await firstBrace(source.bytes, start, end);
  const to = await behindLastBrace(source.bytes, from, end);
  let at = from;
  for await (const chunk of readRangeAsync(source.bytes, from, to - from)) {
    signal?.throwIfAborted();
    yield chunk;
    at += chunk.length;
  }
  if (at === from || at < to) throw rewritten(source.path);
}

/** Whether a long line parses; one that was indexed from its two ends is read whole, once. */
async function isWhole(source: LineSource, row: number, signal?: AbortSignal): Promise<boolean> {
  const { rows } = source.indexer.index;
  if (!rows.is(row, rowFlags.provisional)) return true;
  const chunks = readRangeAsync(source.bytes, rows.offset(row), rows.length(row));
  try {
    for await (const _ of bodyStream(chunks, { signal })) continue;
    rows.mark(row, 0, rowFlags.provisional);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // Read again, as short ones are; a line that stays bad is marked and reported.
    source.bodies.confirmSync(row);
  }
  return !rows.is(row, rowFlags.damaged);
}

function isCurrent({ indexer }: LineSource): boolean {
  return indexer.transcript === undefined && entryForm(indexer.header?.version ?? 3) === 3;
}

function currentForm(source: LineSource, row: number, record: Buffer): Buffer {
  if (isCurrent(source)) return record;
  if (source.indexer.transcript !== undefined) return source.bodies.transcriptLine(row, record);
  return source.bodies.migratedLine(row, record);
}

const [openBrace, closeBrace] = [0x7b, 0x7d];

function recordIn(line: Buffer): Buffer {
  return line.subarray(line.indexOf(openBrace), line.lastIndexOf(closeBrace) + 1);
}

/** `end` if the record is missing. */
async function firstBrace(bytes: ByteSource, start: number, end: number): Promise<number> {
  for (let from = start; from < end; from += lineEdgeBytes) {
    const edge = await bytesAt(bytes, from, Math.min(from + lineEdgeBytes, end));
    const found = edge.indexOf(openBrace);
    if (found >= 0) return from + found;
  }
  return end;
}

/** `start` if the line no longer ends in a brace. */
async function behindLastBrace(bytes: ByteSource, start: number, end: number): Promise<number> {
  for (let to = end; to > start; to -= lineEdgeBytes) {
    const from = Math.max(start, to - lineEdgeBytes);
    const edge = await bytesAt(bytes, from, to);
    const last = edge.findLastIndex((byte) => !isSpace(byte));
    if (last >= 0) return edge[last] === closeBrace ? from + last + 1 : start;
  }
  return start;
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d;
}

function bytesAt(source: ByteSource, from: number, to: number): Promise<Buffer> {
  return runAsync(readFully(source, Buffer.allocUnsafe(to - from), from));
}
