/**
 * The columns of an index in a checkpoint. One pass over each checks every number against the
 * others and the covered bytes of the log, so that no table built from them refers outside of
 * itself or contains a cycle.
 */
import { malformed } from "../entries/saved-fields.ts";
import type { SavedFields } from "../entries/saved-fields.ts";
import type { SavedIds } from "../index-table/id-table.ts";
import { arenaLengthBytes, bucketsMin, tableLoadMax } from "../index-table/id-table.ts";
import { rootHandle, rowFlags } from "../index-table/row-table.ts";
import type { SavedLog } from "../index-table/log-indexer.ts";
import type { SavedLines, SavedRows } from "../index-table/row-table.ts";
import { bytesOf } from "./checkpoint-format.ts";
import type { Column, ColumnRoom } from "./checkpoint-format.ts";

export interface CoveredLog {
  /** Bytes, up to a newline. */
  readonly end: number;
  /** Where the line behind the header begins. */
  readonly entriesFrom: number;
  readonly lineNumber: number;
  /** Then a record may give several entries, and a damaged line hold several records. */
  readonly isTranscript: boolean;
}

/** The shortest entry, `{"type":""}`, and record, `{}`, with newlines. */
const entryBytesMin = 12;
const recordBytesMin = 3;
/** The largest time of a `Date`, in epoch ms; the smallest is its negation. */
const timeMsMax = 8.64e15;

export type ColumnCheck = () => void;

export interface SavedCounts {
  readonly rows: number;
  readonly ids: number;
  readonly arenaEnd: number;
  readonly seed: number;
  readonly buckets: number;
  readonly lineChanges: number;
  readonly otherRecords: number;
  /** The JSON of the state of a transcript. */
  readonly transcriptBytes: number;
}

export function countsOf({ index, lines }: SavedLog, transcript: Buffer): SavedCounts {
  const { rows, ids } = index;
  return {
    rows: rows.count,
    ids: ids.count,
    arenaEnd: ids.arenaEnd,
    seed: ids.seed,
    buckets: ids.bucketCount,
    lineChanges: lines.changeCount,
    otherRecords: lines.otherCount,
    transcriptBytes: transcript.length,
  };
}

export function columnsOf({ index, lines }: SavedLog, transcript: Buffer): readonly Column[] {
  const { rows, ids } = index;
  const { offset, length, handle, parentHandle, kind, time, flags } = rows;
  const { word, inArena, arena, buckets } = ids;
  const ofRows = [offset, length, handle, parentHandle, kind, time, flags];
  return [
    ...ofRows,
    word,
    inArena,
    arena,
    buckets,
    lines.rows,
    lines.distances,
    lines.otherRecords,
    transcript,
  ];
}

/** Bounded by the size of the log. Throws `TypeError`. */
export function readCounts(fields: SavedFields, { end, isTranscript }: CoveredLog): SavedCounts {
  const rows = fields.whole("rows", 0, end / entryBytesMin);
  // A row names its own id and that of its parent.
  const ids = fields.whole("ids", 0, rows * 2);
  const buckets = fields.whole("buckets", bucketsMin, bucketsMin + end);
  const isPower = Number.isInteger(Math.log2(buckets));
  if (!isPower || ids > buckets * tableLoadMax) throw malformed("buckets with room");
  return {
    rows,
    ids,
    seed: fields.whole("seed", -(2 ** 31), 2 ** 31 - 1),
    buckets,
    // UTF-16 takes two bytes for a letter that is one in the log.
    arenaEnd: fields.whole("arenaEnd", 0, end * 2 + ids * (arenaLengthBytes + 1)),
    lineChanges: fields.whole("lineChanges", 0, rows),
    otherRecords: fields.whole("otherRecords", 0, end / recordBytesMin),
    transcriptBytes: fields.whole("transcriptBytes", 0, transcriptBytesMax(end, isTranscript)),
  };
}

/** It keeps texts of the log, some of them twice. */
function transcriptBytesMax(end: number, isTranscript: boolean): number {
  return isTranscript ? 64 * 1024 + end * 4 : 0;
}

export function roomForTables(
  counts: SavedCounts,
  kinds: number,
  log: CoveredLog,
  room: ColumnRoom,
): {
  readonly rows: SavedRows;
  readonly ids: SavedIds;
  readonly lines: SavedLines;
  readonly transcript: Uint8Array;
  readonly check: ColumnCheck;
} {
  const rows: SavedRows = {
    count: counts.rows,
    offset: room.float64(counts.rows),
    length: room.uint32(counts.rows),
    handle: room.int32(counts.rows),
    parentHandle: room.int32(counts.rows),
    kind: room.int32(counts.rows),
    time: room.float64(counts.rows),
    flags: room.uint8(counts.rows),
  };
  const ids: SavedIds = {
    count: counts.ids,
    word: room.int32(counts.ids),
    inArena: room.uint8(counts.ids),
    arenaEnd: counts.arenaEnd,
    arena: room.uint8(counts.arenaEnd),
    seed: counts.seed,
    bucketCount: counts.buckets,
    buckets: room.int32(counts.buckets),
  };
  const lines: SavedLines = {
    changeCount: counts.lineChanges,
    rows: room.int32(counts.lineChanges),
    distances: room.int32(counts.lineChanges),
    otherCount: counts.otherRecords,
    otherRecords: room.int32(counts.otherRecords),
    recordCount: counts.rows + counts.otherRecords,
  };
  const transcript = room.uint8(counts.transcriptBytes);
  const check = (): void => {
    checkRows(rows, ids.count, kinds, log);
    checkIds(ids);
    checkLines(lines, rows.count, log);
  };
  return { rows, ids, lines, transcript, check };
}

/**
 * Negative numbers are large when unsigned. One loop: it costs a log of a million entries less than
 * to compile another.
 */
function checkRows(rows: SavedRows, ids: number, kinds: number, log: CoveredLog): void {
  const { count, offset, length, handle, parentHandle, kind, time, flags } = rows;
  const { isTranscript } = log;
  const endBytes = isTranscript ? 0 : 1;
  let [from, before] = [log.entriesFrom, -1];
  for (let row = 0; row < count; row += 1) {
    const start = offset[row] ?? -1;
    const bytes = (length[row] ?? 0) + 1;
    const end = start + bytes - 1 + endBytes;
    const isInOrder = start >= from || (isTranscript && start === before && end === from);
    const isLine = isInOrder && bytes >= entryBytesMin && Math.floor(start) === start;
    [from, before] = [end, start];
    const parent = parentHandle[row] ?? -1;
    const isParent = parent >>> 0 < ids || parent === rootHandle;
    const isKnown = (handle[row] ?? -1) >>> 0 < ids && (kind[row] ?? -1) >>> 0 < kinds;
    if (!isLine || !isParent || !isKnown) throw malformed("entries in their order");
    const at = time[row] ?? 0;
    if (at >= -timeMsMax && at <= timeMsMax) continue;
    const isExact = ((flags[row] ?? 0) & rowFlags.exactTime) !== 0;
    if (isExact || !Number.isNaN(at)) throw malformed("times of entries");
  }
  if (from > log.end) throw malformed("entries within the log");
}

function checkIds({ count, word, inArena, arena, arenaEnd }: SavedIds): void {
  // Usually the arena is empty: comparing memory takes a hundredth of the loop.
  if (arenaEnd === 0 && bytesOf(inArena.subarray(0, count)).equals(Buffer.alloc(count))) return;
  const view = new DataView(arena.buffer, arena.byteOffset, arenaEnd);
  let end = 0;
  for (let handle = 0; handle < count; handle += 1) {
    const form = inArena[handle] ?? 0;
    if (form === 0) continue;
    const isPlace = form === 1 && (word[handle] ?? 0) >>> 0 === end;
    if (!isPlace || end + arenaLengthBytes > arenaEnd) throw malformed("places of ids");
    end += arenaLengthBytes + view.getUint32(end, true);
  }
  if (end !== arenaEnd) throw malformed("an arena of ids");
}

/**
 * Line numbers increase by one, or more where a line is not a row; so do record numbers. In a
 * transcript, a row may be on the line of the row before it.
 */
function checkLines(lines: SavedLines, rowCount: number, log: CoveredLog): void {
  const { isTranscript, lineNumber } = log;
  const { changeCount, rows, distances, otherCount, otherRecords, recordCount } = lines;
  if ((rowCount === 0) !== (changeCount === 0)) throw malformed("lines of entries");
  let [row, distance] = [-1, 0];
  for (let at = 0; at < changeCount; at += 1) {
    const isFirst = at > 0 || rows[at] === 0;
    const step = (distances[at] ?? 0) - distance;
    const isOnLine = isTranscript && at > 0 && step === -1;
    if (!isFirst || !((rows[at] ?? -1) > row) || !(step > 0 || isOnLine)) {
      throw malformed("line numbers");
    }
    [row, distance] = [rows[at] ?? 0, distances[at] ?? 0];
  }
  if (row >= rowCount && rowCount > 0) throw malformed("lines of entries");
  if (rowCount > 0 && rowCount - 1 + distance >= lineNumber) throw malformed("line numbers");
  let record = -1;
  for (let at = 0; at < otherCount; at += 1) {
    if (!((otherRecords[at] ?? -1) > record)) throw malformed("numbers of records");
    record = otherRecords[at] ?? 0;
  }
  if (record >= recordCount) throw malformed("numbers of records");
}
