/**
 * A checkpoint of a log: the saved index, and what identifies the log. What a loaded checkpoint
 * covers is neither read nor parsed again. It is derived: with any defect it counts as missing.
 */
import { decodeLine } from "@branchlog/streaming";
import { readFullySync } from "../bodies/body-reader.ts";
import { framePieces, indexFrame, sumsFrame } from "../checkpoint/checkpoint-format.ts";
import type { FrameContent, FrameSchema } from "../checkpoint/checkpoint-format.ts";
import { bindingOf, isBoundAs, isBoundTo, readBinding } from "../checkpoint/log-binding.ts";
import type { LogBinding } from "../checkpoint/log-binding.ts";
import type { RecordSums } from "../checkpoint/record-sums.ts";
import { columnsOf, countsOf, readCounts, roomForTables } from "../checkpoint/saved-columns.ts";
import {
  SavedFields,
  malformed,
  readDiagnostics,
  readFolded,
  readKinds,
} from "../checkpoint/saved-facts.ts";
import { sumsContent } from "../checkpoint/record-sums.ts";
import { headerOf } from "../dialects/log-record.ts";
import type { IndexedHeader } from "../index-table/log-indexer.ts";
import { checkpointPieceBytes, fingerprintBytes } from "../limits.ts";
import type { LogFile } from "../store/log-file.ts";
import type { FileStat } from "../store/ports.ts";
import { matchesFingerprint, startBytes } from "./fingerprint.ts";
import type { LogFingerprint } from "./fingerprint.ts";
import type { LogState, SavedState } from "./log-state.ts";

const newline = 10;
/** Longer headers are read with their logs: only a checkpoint says where one is. */
const headerBytesMax = 1024 * 1024;

/** By which bytes its log is known, and what is known of it. */
export interface Checkpoint {
  readonly binding: LogBinding;
  /** How far there are checksums of its records that hold. */
  readonly sumsEnd: number;
  readonly state: SavedState;
}

/** A checkpoint of a log as it is now, and what that log is known by. */
export interface FoundCheckpoint {
  readonly checkpoint: Checkpoint;
  readonly header: IndexedHeader;
  readonly bytes: LogFingerprint;
}

/** The log that a checkpoint is to be of. */
export interface BoundLog {
  readonly file: LogFile;
  readonly stat: FileStat;
  readonly lineBytesMax: number;
}

/**
 * What a checkpoint of this log may hold. That it is of this log, its text must prove before any of
 * its columns is made.
 */
export function checkpointSchema(log: BoundLog): FrameSchema<FoundCheckpoint> {
  return {
    kind: indexFrame,
    begin: (text, room) => {
      const fields = new SavedFields(text);
      const { binding, header, bytes } = boundTo(log, fields);
      const { end } = binding;
      const state = fields.fields("state");
      const lineNumber = state.whole("lineNumber", header.lineNumber + 1, end + 1);
      const covered = { end, entriesFrom: header.offset + header.length + 1, lineNumber };
      const indexer = state.fields("indexer");
      const counts = readCounts(indexer.fields("counts"), covered);
      const kinds = readKinds(indexer, covered);
      const diagnostics = readDiagnostics(indexer.fields("diagnostics"), covered);
      const entriesBeforeHeader = indexer.whole("entriesBeforeHeader", 0, lineNumber);
      const folded = readFolded(state.fields("folded"), covered, counts.rows);
      const settledRows = state.whole("settledRows", 0, counts.rows);
      const sumsEnd = fields.whole("sumsEnd", 0, end);
      const { rows, ids, lines, check } = roomForTables(counts, kinds.length, covered, room);
      const index = { rows, ids, kinds };
      const indexed = { index, lines, diagnostics, entriesBeforeHeader };
      const saved = { indexer: indexed, folded, settledRows, end, lineNumber };
      return () => {
        check();
        return { checkpoint: { binding, sumsEnd, state: saved }, header, bytes };
      };
    },
  };
}

/** Fills a state, of which nothing was read, from a checkpoint of its log. */
export function restoreState(state: LogState, found: FoundCheckpoint): void {
  state.restore(found.checkpoint.state, found.header, found.bytes);
}

/** How far checksums reach that need not be compared with their log any more. */
export function sumsEndOf(sums: RecordSums | undefined): number {
  return sums?.isConfirmed === true ? sums.end : 0;
}

/**
 * The bytes of a checkpoint of a log as it is known; null while it ends within a line, or if what
 * has its name is not what is known.
 */
export function statePieces(
  state: LogState,
  sums: RecordSums | undefined,
): Iterable<Buffer> | null {
  const saved = state.save();
  const { header } = state.indexer;
  const binding = saved && stateBinding(state, saved.end);
  if (saved === null || header === undefined || binding === null) return null;
  const { beforeCursor, start } = state.fingerprintOf;
  const { lineBytesMax } = state;
  const { index, lines, diagnostics, entriesBeforeHeader } = saved.indexer;
  const { rows, ids, kinds } = index;
  const counts = countsOf(rows, ids, lines);
  const { folded, settledRows, lineNumber } = saved;
  const json = {
    binding,
    header: { offset: header.offset, length: header.length, line: header.lineNumber },
    remembered: { beforeCursor: base64(beforeCursor), start: base64(start) },
    lineBytesMax,
    sumsEnd: sumsEndOf(sums),
    state: {
      indexer: { counts, kinds, diagnostics, entriesBeforeHeader },
      folded,
      settledRows,
      lineNumber,
    },
  };
  return framesOf({ json, columns: columnsOf(rows, ids, lines) }, sums);
}

function* framesOf(index: FrameContent, sums: RecordSums | undefined): Generator<Buffer> {
  yield* framePieces(indexFrame, index, checkpointPieceBytes);
  if (sums !== undefined) yield* framePieces(sumsFrame, sumsContent(sums), checkpointPieceBytes);
}

/** Binds to the file as it is now, if it still is the one that was read. */
function stateBinding(state: LogState, end: number): LogBinding | null {
  const { file } = state;
  const before = file.statSync();
  if (before === null || before.size < end) return null;
  const binding = bindingOf(file, before, end);
  if (!matchesFingerprint(file, state.fingerprintOf)) return null;
  const after = file.statSync();
  const isSame = after !== null && isBoundAs(binding, after);
  return isSame && file.isAt(before) ? binding : null;
}

/** The part of a text that says of which log it is. Throws `TypeError` if it is not of this one. */
function boundTo(
  { file, stat, lineBytesMax }: BoundLog,
  fields: SavedFields,
): { binding: LogBinding; header: IndexedHeader; bytes: LogFingerprint } {
  // Of longer lines, less is known.
  fields.whole("lineBytesMax", lineBytesMax, lineBytesMax);
  const binding = readBinding(fields.fields("binding"));
  const bytes = readRemembered(fields.fields("remembered"), binding.end);
  if (!isBoundTo(binding, file, stat) || !matchesFingerprint(file, bytes))
    throw malformed("this log");
  return { binding, bytes, header: headerAt(file, fields.fields("header"), binding.end) };
}

/** The header at the place in the checkpoint; throws `TypeError` if it is missing. */
function headerAt(file: LogFile, fields: SavedFields, end: number): IndexedHeader {
  const length = fields.whole("length", 1, Math.min(headerBytesMax, end - 1));
  const offset = fields.whole("offset", 0, end - 1 - length);
  const lineNumber = fields.whole("line", 1, offset + 1);
  const bytes = Buffer.alloc(length + 1);
  readFullySync(file, bytes, bytes.length, offset);
  const found = headerOf(decodeLine(bytes, 0, length));
  const isLine = bytes.indexOf(newline) === length;
  if (!isLine || found === undefined) throw malformed("this header");
  return { header: found.header, version: found.version, offset, length, lineNumber };
}

/** As many bytes as are kept of a log of that length: fewer would be those of any log. */
function readRemembered(fields: SavedFields, cursor: number): LogFingerprint {
  const beforeCursor = Buffer.from(fields.text("beforeCursor"), "base64");
  const start = Buffer.from(fields.text("start"), "base64");
  const isWhole =
    beforeCursor.length === Math.min(cursor, fingerprintBytes) &&
    start.length === Math.min(cursor, startBytes) &&
    beforeCursor.at(-1) === newline;
  if (!isWhole) throw malformed("bytes of this log");
  return { cursor, beforeCursor, start };
}

function base64(bytes: Buffer): string {
  return bytes.toString("base64");
}
