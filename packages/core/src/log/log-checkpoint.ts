/**
 * A checkpoint of a log: the saved index, and what identifies the log. It is derived: with any
 * defect it counts as missing.
 */
import { decodeLine } from "@branchlog/streaming";
import { readFullySync } from "@branchlog/streaming";
import { framePieces, indexFrame, sumsFrame } from "../checkpoint/checkpoint-format.ts";
import type { FrameContent, FrameSchema } from "../checkpoint/checkpoint-format.ts";
import { bindingOf, isBoundAs, isBoundTo, readBinding } from "../checkpoint/log-binding.ts";
import type { LogBinding } from "../checkpoint/log-binding.ts";
import type { RecordSums } from "../checkpoint/record-sums.ts";
import { columnsOf, countsOf, readCounts, roomForTables } from "../checkpoint/saved-columns.ts";
import type { SavedCounts } from "../checkpoint/saved-columns.ts";
import { readDiagnostics, readFolded, readKinds } from "../checkpoint/saved-facts.ts";
import { sumsContent } from "../checkpoint/record-sums.ts";
import { sourceKinds } from "../dialects/foreign-record.ts";
import type { SourceKind } from "../dialects/foreign-record.ts";
import { currentVersion } from "../dialects/header.ts";
import { headerOf } from "../dialects/log-record.ts";
import { savedHeader } from "../dialects/transcript.ts";
import { SavedFields, malformed } from "../entries/saved-fields.ts";
import type { IndexedHeader } from "../index-table/log-indexer.ts";
import type { SavedTranscript } from "../index-table/transcript-indexer.ts";
import { checkpointPieceBytes, fingerprintBytes } from "../limits.ts";
import type { LogFile } from "../store/log-file.ts";
import type { FileStat } from "../store/ports.ts";
import { matchesFingerprint, startBytes } from "./fingerprint.ts";
import type { LogFingerprint } from "./fingerprint.ts";
import type { LogState, SavedState } from "./log-state.ts";

const newline = 10;
const headerBytesMax = 1024 * 1024;

export interface Checkpoint {
  readonly binding: LogBinding;
  /** How far the log has valid checksums of its records. */
  readonly sumsEnd: number;
  readonly state: SavedState;
}

type HeaderPlace = Pick<IndexedHeader, "offset" | "length" | "lineNumber">;

export interface FoundCheckpoint {
  readonly checkpoint: Checkpoint;
  readonly header: IndexedHeader;
  readonly bytes: LogFingerprint;
}

/** The text must prove that the checkpoint is of this log before any column is allocated. */
export function checkpointSchema(
  log: Pick<LogState, "file" | "lineBytesMax">,
  stat: FileStat,
): FrameSchema<FoundCheckpoint> {
  return {
    kind: indexFrame,
    begin: (text, room) => {
      const fields = new SavedFields(text);
      const { binding, bytes } = boundTo(log, stat, fields);
      const { end } = binding;
      const state = fields.fields("state");
      const indexer = state.fields("indexer");
      const isTranscript = !indexer.isNull("transcript");
      const place = readPlace(fields.fields("header"), end);
      const header = isTranscript ? undefined : headerAt(log.file, place);
      const kind = isTranscript ? indexer.oneOf("transcript", sourceKinds) : undefined;
      const entriesFrom = isTranscript ? 0 : place.offset + place.length + 1;
      const lineNumber = state.whole("lineNumber", place.lineNumber + 1, end + 1);
      const covered = { end, entriesFrom, lineNumber, isTranscript };
      const counts = readCounts(indexer.fields("counts"), covered);
      const kinds = readKinds(indexer, covered);
      const diagnostics = readDiagnostics(indexer.fields("diagnostics"), covered);
      const entriesBeforeHeader = indexer.whole("entriesBeforeHeader", 0, lineNumber);
      const folded = readFolded(state.fields("folded"), covered, counts.rows);
      const settledRows = state.whole("settledRows", 0, counts.rows);
      const sumsEnd = fields.whole("sumsEnd", 0, end);
      const tables = roomForTables(counts, kinds.length, covered, room);
      const { rows, ids, lines, check } = tables;
      const index = { rows, ids, kinds };
      return () => {
        check();
        const transcript = kind && savedTranscript(kind, tables.transcript, counts);
        const indexed = { index, lines, diagnostics, entriesBeforeHeader, transcript };
        const saved = { indexer: indexed, folded, settledRows, end, lineNumber };
        const checkpoint = { binding, sumsEnd, state: saved };
        return { checkpoint, header: header ?? headerOfTranscript(transcript, place), bytes };
      };
    },
  };
}

export function sumsEndOf(sums: RecordSums | undefined): number {
  return sums?.isConfirmed === true ? sums.end : 0;
}

/** Null while the log ends within a line, or if another file has its name. */
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
  const { index, diagnostics, entriesBeforeHeader, transcript } = saved.indexer;
  const { kinds } = index;
  const transcriptJson = Buffer.from(transcript ? JSON.stringify(transcript.state) : "");
  const counts = countsOf(saved.indexer, transcriptJson);
  const { folded, settledRows, lineNumber } = saved;
  const json = {
    binding,
    header: { offset: header.offset, length: header.length, line: header.lineNumber },
    remembered: { beforeCursor: beforeCursor.toString("base64"), start: start.toString("base64") },
    lineBytesMax,
    sumsEnd: sumsEndOf(sums),
    state: {
      indexer: {
        counts,
        kinds,
        diagnostics,
        entriesBeforeHeader,
        transcript: transcript?.kind ?? null,
      },
      folded,
      settledRows,
      lineNumber,
    },
  };
  return framesOf({ json, columns: columnsOf(saved.indexer, transcriptJson) }, sums);
}

function* framesOf(index: FrameContent, sums: RecordSums | undefined): Generator<Buffer> {
  yield* framePieces(indexFrame, index, checkpointPieceBytes);
  if (sums !== undefined) yield* framePieces(sumsFrame, sumsContent(sums), checkpointPieceBytes);
}

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

function boundTo(
  { file, lineBytesMax }: Pick<LogState, "file" | "lineBytesMax">,
  stat: FileStat,
  fields: SavedFields,
): { binding: LogBinding; bytes: LogFingerprint } {
  // Other limits index long lines differently.
  fields.whole("lineBytesMax", lineBytesMax, lineBytesMax);
  const binding = readBinding(fields.fields("binding"));
  const bytes = readRemembered(fields.fields("remembered"), binding.end);
  if (!isBoundTo(binding, file, stat) || !matchesFingerprint(file, bytes))
    throw malformed("this log");
  return { binding, bytes };
}

function readPlace(fields: SavedFields, end: number): HeaderPlace {
  const length = fields.whole("length", 1, Math.min(headerBytesMax, end - 1));
  const offset = fields.whole("offset", 0, end - 1 - length);
  const lineNumber = fields.whole("line", 1, offset + 1);
  return { offset, length, lineNumber };
}

function headerAt(file: LogFile, place: HeaderPlace): IndexedHeader {
  const { offset, length } = place;
  const bytes = readFullySync(file, Buffer.alloc(length + 1), offset);
  const found = headerOf(decodeLine(bytes, 0, length));
  const isLine = bytes.indexOf(newline) === length;
  if (!isLine || found === undefined) throw malformed("this header");
  return { header: found.header, version: found.version, ...place };
}

function savedTranscript(
  kind: SourceKind,
  column: Uint8Array,
  { transcriptBytes }: SavedCounts,
): SavedTranscript {
  const text = Buffer.from(column.buffer, column.byteOffset, transcriptBytes).toString();
  // Decoding boundary: any JSON; `SavedFields` reads it.
  return { kind, state: JSON.parse(text) as object };
}

/** It is derived from many records. */
function headerOfTranscript(
  transcript: SavedTranscript | undefined,
  place: HeaderPlace,
): IndexedHeader {
  const header = savedHeader(new SavedFields(transcript?.state));
  if (header === undefined) throw malformed("header");
  return { header, version: currentVersion, ...place };
}

/** Exactly as many bytes as are saved: fewer would match any log. */
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
