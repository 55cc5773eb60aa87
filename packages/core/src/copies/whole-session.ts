/**
 * A copy of a whole session for another working directory: every record with its bytes, under a new
 * header. Lines that are not records are omitted; a child of such a line becomes one of the entry
 * before it.
 */
import { decodeLine, LineFramer, runSync, scan } from "@branchlog/streaming";
import type { SessionHeader } from "../entries/entry-types.ts";
import { rowFlags } from "../index-table/row-table.ts";
import type { Engine } from "../session/engine.ts";
import { entryLines, newline, readableRows, relinkedLine } from "./copied-entries.ts";
import type { EntryLine } from "./copied-entries.ts";
import { headerLines } from "./session-header.ts";

export function* wholeLines(engine: Engine, header: SessionHeader): Generator<Buffer> {
  yield* headerLines(engine, header);
  const { index, log } = engine;
  const isTranscript = log.state.indexer.transcript !== undefined;
  const { offset = 0, length = 0 } = log.state.indexer.header ?? {};
  let at = offset + length;
  for (const entry of copiedLines(engine, isTranscript)) {
    const { row } = entry;
    if (!isTranscript) yield* recordsBetween(engine, at, index.rows.offset(row));
    const parentId = readableParentId(engine, row);
    yield* relinkedLine(engine, entry, parentId === undefined ? {} : { parentId });
    at = index.rows.offset(row) + index.rows.length(row);
  }
  if (!isTranscript) yield* recordsBetween(engine, at, log.size);
}

/** Parts of an answer stay separate in a tree: other branches may begin at each of them. */
function* copiedLines(engine: Engine, isTranscript: boolean): Generator<EntryLine> {
  const rows = readableRows(
    engine,
    Array.from({ length: engine.index.count }, (_, row) => row),
  );
  const takes: Iterable<readonly number[]> = isTranscript ? rows.map((row) => [row]) : [rows];
  for (const taken of takes) yield* entryLines(engine, taken);
}

/** Records outside the tree, which other programs may need. */
function recordsBetween({ log }: Engine, from: number, to: number): readonly Buffer[] {
  // The usual case: one newline, possibly with a carriage return.
  if (to - from <= 2) return [];
  const records: Buffer[] = [];
  const line = (bytes: Buffer, start: number, end: number): void => {
    const decoded = decodeLine(bytes, start, end);
    if (!decoded.ok || decoded.value["type"] === "session") return;
    records.push(Buffer.from(bytes.subarray(start, end)), newline);
  };
  const sink = { line, longLine: () => undefined };
  runSync(scan(log.file, new LineFramer({ offset: from }), sink, { from, to }));
  return records;
}

/** The new parent of a row whose parent is damaged; undefined if it keeps its own. */
function readableParentId({ index }: Engine, row: number): string | null | undefined {
  const { rows } = index;
  let slot = rows.parentHandle(row);
  let parent = index.rowOfHandle(slot);
  if (parent < 0 || !rows.is(parent, rowFlags.damaged)) return undefined;
  for (let steps = 0; parent >= 0 && rows.is(parent, rowFlags.damaged); steps += 1) {
    if (steps > index.count) return null;
    slot = rows.parentHandle(parent);
    parent = index.rowOfHandle(slot);
  }
  return slot < 0 ? null : index.ids.idAt(slot);
}
