/**
 * The columns of an index in a checkpoint. Every number of a page is checked against the covered
 * bytes of the log and the counts, so that no table refers outside of itself and no list of
 * children has a cycle. Other contents of a page are trusted: `verify` compares them with the log.
 */
import { malformed } from "../entries/saved-fields.ts";
import type { SavedFields } from "../entries/saved-fields.ts";
import { linkColumns } from "../index-table/handle-table.ts";
import { arenaLengthBytes } from "../index-table/id-arena.ts";
import { bucketsMin, tableLoadMax } from "../index-table/id-table.ts";
import type { RestoredIndex } from "../index-table/index-table.ts";
import { rootHandle, rowColumns } from "../index-table/row-table.ts";
import type { SavedLog } from "../index-table/log-indexer.ts";
import type { Kind, SavedLines } from "../index-table/row-table.ts";
import { eachOf, pageCount, savedColumn } from "../index-table/saved-pages.ts";
import type { SavedColumn } from "../index-table/saved-pages.ts";
import type { PageFile } from "./page-file.ts";

export interface CoveredLog {
  /** Bytes, up to a newline. */
  readonly end: number;
  /** Where the line after the header begins. */
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

export interface SavedCounts {
  readonly rows: number;
  readonly ids: number;
  readonly arena: number;
  readonly seed: number;
  readonly buckets: number;
  readonly shadowed: number;
  readonly damaged: number;
  readonly stray: number;
  readonly ownParents: number;
  readonly hidden: number;
  readonly last: number;
  readonly unverified: number;
  readonly lineChanges: number;
  readonly otherRecords: number;
  /** The JSON of the state of a transcript. */
  readonly transcriptBytes: number;
}

export function countsOf({ index, lines }: SavedLog, transcript: Buffer): SavedCounts {
  const { rows, ids, counts, hidden, last, unverified } = index;
  return {
    rows: rows.count,
    ids: ids.word.count,
    arena: ids.arena.count,
    seed: ids.seed,
    buckets: ids.buckets.count,
    ...counts,
    hidden: hidden.length,
    last: last.length,
    unverified: unverified.length,
    lineChanges: lines.rows.length,
    otherRecords: lines.otherRecords.length,
    transcriptBytes: transcript.length,
  };
}

/** In the order in which {@link takeTables} takes them. */
export function columnsOf({ index, lines }: SavedLog, transcript: Buffer): readonly SavedColumn[] {
  const { rows, ids, links, hidden, last, unverified } = index;
  const whole = [hidden, last, unverified, lines.rows, lines.distances, lines.otherRecords];
  return [
    ...Object.values(rows.columns),
    ids.word,
    ids.inArena,
    ids.arena,
    ids.buckets,
    ...Object.values(links.columns),
    ...[...whole, transcript].map((column) => savedColumn(column.length, () => column)),
  ];
}

/** Bounded by the size of the log. Throws `TypeError`. */
export function readCounts(fields: SavedFields, { end, isTranscript }: CoveredLog): SavedCounts {
  const rows = fields.whole("rows", 0, end / entryBytesMin);
  // A row names its own id and that of its parent.
  const ids = fields.whole("ids", 0, rows * 2);
  const buckets = fields.whole("buckets", bucketsMin, bucketsMin + end);
  const isPower = Number.isInteger(Math.log2(buckets));
  if (!isPower || ids > buckets * tableLoadMax) throw malformed("more buckets");
  const ofRows = (key: keyof SavedCounts, factor = 1): number =>
    fields.whole(key, 0, rows * factor);
  return {
    rows,
    ids,
    seed: fields.whole("seed", -(2 ** 31), 2 ** 31 - 1),
    buckets,
    // UTF-16 takes two bytes for a letter that is one in the log.
    arena: fields.whole("arena", 0, end * 2 + ids * (arenaLengthBytes + 1)),
    shadowed: ofRows("shadowed"),
    damaged: ofRows("damaged"),
    stray: ofRows("stray"),
    ownParents: ofRows("ownParents"),
    hidden: ofRows("hidden", 2),
    last: ofRows("last", 2),
    // A row may be noted again each time it loses a child.
    unverified: ofRows("unverified", 4),
    lineChanges: ofRows("lineChanges"),
    otherRecords: fields.whole("otherRecords", 0, end / recordBytesMin),
    transcriptBytes: fields.whole("transcriptBytes", 0, transcriptBytesMax(end, isTranscript)),
  };
}

/** It keeps texts of the log, some of them twice. */
function transcriptBytesMax(end: number, isTranscript: boolean): number {
  return isTranscript ? 64 * 1024 + end * 4 : 0;
}

interface TakenTables {
  readonly index: RestoredIndex;
  readonly lines: SavedLines;
  readonly transcript: Buffer;
}

/** Small tables are read and checked here, the others when they are needed. Throws `TypeError`. */
export function takeTables(
  counts: SavedCounts,
  kinds: readonly Kind[],
  log: CoveredLog,
  file: PageFile,
): TakenTables {
  const { rows, ids, shadowed, damaged, stray, ownParents } = counts;
  const ofRows = eachOf(rowColumns, (kind) => file.take(rows, kind.BYTES_PER_ELEMENT));
  const ofIds = {
    seed: counts.seed,
    word: file.take(ids, Int32Array.BYTES_PER_ELEMENT),
    inArena: file.take(ids, Uint8Array.BYTES_PER_ELEMENT),
    arena: file.take(counts.arena, Uint8Array.BYTES_PER_ELEMENT),
    buckets: file.take(counts.buckets, Int32Array.BYTES_PER_ELEMENT),
  };
  const ofLinks = eachOf(linkColumns, (kind) => file.take(ids + 1, kind.BYTES_PER_ELEMENT));
  const hidden = takeNumbers(file, counts.hidden);
  const last = takeNumbers(file, counts.last);
  const unverified = takeNumbers(file, counts.unverified);
  const lines = {
    rows: takeNumbers(file, counts.lineChanges),
    distances: takeNumbers(file, counts.lineChanges),
    otherRecords: takeNumbers(file, counts.otherRecords),
    recordCount: rows + counts.otherRecords,
  };
  const transcript = wholeOf(file.take(counts.transcriptBytes, Uint8Array.BYTES_PER_ELEMENT));
  if (rows > 0 && kinds.length === 0) throw malformed("kinds of entries");
  checkRepetitions(hidden, rows);
  checkRows(last, rows);
  checkRows(unverified, rows);
  checkLines(lines, rows, log);
  const index: RestoredIndex = {
    rows: { count: rows, columns: ofRows, bounds: rowBounds(counts, kinds.length, log) },
    ids: ofIds,
    links: {
      count: ids + 1,
      columns: ofLinks,
      bounds: eachOf(linkColumns, () => ({ min: 0, max: rows })),
    },
    kinds,
    counts: { shadowed, damaged, stray, ownParents },
    hidden,
    last,
    unverified,
  };
  return { index, lines, transcript };
}

/** Read and checked at once. Throws `TypeError`. */
export function takeNumbers(file: PageFile, count: number): Int32Array {
  const bytes = wholeOf(file.take(count, Int32Array.BYTES_PER_ELEMENT));
  const numbers = new Int32Array(count);
  bytes.copy(Buffer.from(numbers.buffer));
  return numbers;
}

function wholeOf(column: SavedColumn): Buffer {
  const pages = Array.from({ length: pageCount(column) }, (_, page) => column.page(page));
  return Buffer.concat(pages);
}

function rowBounds(
  { rows, ids }: SavedCounts,
  kinds: number,
  { end, entriesFrom, isTranscript }: CoveredLog,
): RestoredIndex["rows"]["bounds"] {
  // A record of a transcript may give several entries.
  const step = isTranscript ? 0 : entryBytesMin;
  return {
    offset: {
      min: entriesFrom,
      max: end - 1,
      isPossible: (offset, _, before) =>
        (before < 0 || offset >= before + step) && Math.floor(offset) === offset,
    },
    // NaN: unreadable.
    time: { min: -timeMsMax, max: timeMsMax },
    length: { min: entryBytesMin - 1, max: end },
    handle: { min: 0, max: ids - 1 },
    parentHandle: { min: rootHandle, max: ids - 1 },
    nextSibling: {
      min: 0,
      max: rows,
      // A later one, so that to continue over them ends.
      isPossible: (next, row) => next === 0 || next - 1 > row,
    },
    kind: { min: 0, max: kinds - 1 },
    flags: { min: 0, max: 255 },
  };
}

/** Pairs of a row and an earlier one, so that to go back over them ends. */
function checkRepetitions(hidden: Int32Array, rows: number): void {
  checkRows(hidden, rows);
  for (let at = 0; at < hidden.length; at += 2) {
    if (!((hidden[at + 1] ?? 0) < (hidden[at] ?? 0))) throw malformed("earlier entries");
  }
}

function checkRows(found: Int32Array, rows: number): void {
  if (!found.every((row) => row >>> 0 < rows)) throw malformed("entries");
}

/**
 * Line numbers increase by one, or more where a line is not a row; so do record numbers. In a
 * transcript, a row may be on the line of the row before it.
 */
function checkLines(lines: SavedLines, rowCount: number, log: CoveredLog): void {
  const { isTranscript, lineNumber } = log;
  const { rows, distances, otherRecords, recordCount } = lines;
  if ((rowCount === 0) !== (rows.length === 0)) throw malformed("lines of entries");
  let [row, distance] = [-1, 0];
  for (const [at, first] of rows.entries()) {
    const isFirst = at > 0 || first === 0;
    const step = (distances[at] ?? 0) - distance;
    const isOnLine = isTranscript && at > 0 && step === -1;
    if (!isFirst || !(first > row) || !(step > 0 || isOnLine)) throw malformed("line numbers");
    [row, distance] = [first, distances[at] ?? 0];
  }
  if (row >= rowCount && rowCount > 0) throw malformed("lines of entries");
  if (rowCount > 0 && rowCount - 1 + distance >= lineNumber) throw malformed("line numbers");
  let record = -1;
  for (const other of otherRecords) {
    if (!(other > record)) throw malformed("numbers of records");
    record = other;
  }
  if (record >= recordCount) throw malformed("numbers of records");
}
