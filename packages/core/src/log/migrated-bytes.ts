/**
 * The bytes of a log in the current form, piece by piece. Only session records and the lines of
 * entries change; all that lies between them (bad lines, blank lines, fragments) is copied as it
 * is. A byte-order mark is left out, since agents cannot read a log that starts with one.
 */
import { decodeLine, LineFramer, readRange, scanSync } from "@branchlog/streaming";
import { readFullySync } from "../bodies/body-reader.ts";
import { entryForm } from "../dialects/header.ts";
import { migrateLine } from "../dialects/migrate-line.ts";
import type { LogFile } from "../store/log-file.ts";
import type { LogState } from "./log-state.ts";

const bomBytes = 3;
const chunkBytes = 1024 * 1024;
const newline = 0x0a;

/**
 * The converted bytes of the range [from, to), which starts and ends between lines. So does every
 * chunk: what is carried over last goes to a file that others append to.
 */
export function* migratedChunks(
  file: LogFile,
  state: LogState,
  from: number,
  to: number,
): Generator<Buffer> {
  let gathered: Buffer[] = [];
  let bytes = 0;
  for (const piece of migratedPieces(file, state, from, to)) {
    gathered.push(piece);
    bytes += piece.length;
    if (bytes < chunkBytes || piece.at(-1) !== newline) continue;
    yield Buffer.concat(gathered);
    gathered = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(gathered);
}

function* migratedPieces(
  file: LogFile,
  state: LogState,
  from: number,
  to: number,
): Generator<Buffer> {
  const { rows } = state.index;
  let at = from === 0 && startsWithBom(file) ? bomBytes : from;
  for (let row = firstRowFrom(state, at); row < rows.count && rows.offset(row) < to; row += 1) {
    yield* betweenEntries(file, state, at, rows.offset(row));
    yield migrateRow(state, row);
    at = rows.offset(row) + rows.length(row);
  }
  yield* betweenEntries(file, state, at, to);
}

/** The bytes between two entries: as they are, but for session records. */
function* betweenEntries(
  file: LogFile,
  state: LogState,
  from: number,
  to: number,
): Generator<Buffer> {
  let at = from;
  for (const { offset, length } of sessionRecords(file, state, from, to)) {
    yield* readRange(file, at, offset - at);
    yield migrateSession(file, state, offset, length);
    at = offset + length;
  }
  yield* readRange(file, at, to - at);
}

/** Where a line is; `length` does not count its newline. */
interface LinePlace {
  readonly offset: number;
  readonly length: number;
}

/** The session records in a range without entries: the header, and others, which do not count. */
function sessionRecords(
  file: LogFile,
  state: LogState,
  from: number,
  to: number,
): readonly LinePlace[] {
  // One newline, with a carriage return before it at most: as a rule nothing is there.
  if (to - from <= 2) return [];
  const found: LinePlace[] = [];
  const longLine = ({ offset, length }: LinePlace): void => {
    if (offset === state.indexer.header?.offset) found.push({ offset, length });
  };
  const line = (bytes: Buffer, start: number, end: number, offset: number): void => {
    const decoded = decodeLine(bytes, start, end);
    if (!decoded.ok || decoded.value["type"] !== "session") return;
    found.push({ offset, length: end - start });
  };
  const framer = new LineFramer({ offset: from });
  scanSync(file, framer, { line, longLine }, { from, to });
  const rest = framer.rest();
  if (rest?.bytes) line(rest.bytes, 0, rest.length, rest.offset);
  else if (rest) longLine(rest);
  return found;
}

/** The header of a log in the current form: from its first brace to its last. */
export function headerInCurrentForm(file: LogFile, state: LogState): Buffer {
  const { offset = 0, length = 0 } = state.indexer.header ?? {};
  const line = migrateSession(file, state, offset, length);
  return line.subarray(line.indexOf("{"), line.lastIndexOf("}") + 1);
}

/** A session record in the current form: its version says so. */
function migrateSession(file: LogFile, state: LogState, offset: number, length: number): Buffer {
  const line = Buffer.alloc(length);
  readFullySync(file, line, length, offset);
  const version = entryForm(state.indexer.header?.version ?? 3);
  const context = { version, id: "", parentId: null, idAtFileIndex: () => undefined };
  return migrateLine(line, { ...context, kind: "header" });
}

function migrateRow(state: LogState, row: number): Buffer {
  const line = state.bodies.lineSync(row);
  return migrateLine(line, { ...state.bodies.upcastContext(row), kind: "entry" });
}

/** The first row at or behind an offset. O(log rows). */
function firstRowFrom(state: LogState, offset: number): number {
  const { rows } = state.index;
  let low = 0;
  let high = rows.count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (rows.offset(middle) < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

function startsWithBom(file: LogFile): boolean {
  const start = Buffer.alloc(bomBytes);
  readFullySync(file, start, bomBytes, 0);
  return start.equals(Buffer.from([0xef, 0xbb, 0xbf]));
}
