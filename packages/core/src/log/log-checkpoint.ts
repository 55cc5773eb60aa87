/**
 * A checkpoint of a log: the saved index, what identifies the log, and checksums of it. It is
 * derived: with a defect in the parts read at opening it is treated as missing, with one in a page
 * needed later the log is read again.
 */
import { decodeLine, readFullySync } from "@branchlog/streaming";
import { bindingByStore, bindingOf, isBoundTo, readBinding } from "../checkpoint/log-binding.ts";
import type { LogBinding } from "../checkpoint/log-binding.ts";
import { sumCount } from "../checkpoint/log-sums.ts";
import type { LogSums } from "../checkpoint/log-sums.ts";
import { checkpointKind, typedPieces } from "../checkpoint/page-file.ts";
import type { FilePiece, PageFile } from "../checkpoint/page-file.ts";
import {
  columnsOf,
  countsOf,
  readCounts,
  takeNumbers,
  takeTables,
} from "../checkpoint/saved-columns.ts";
import { readDiagnostics, readFolded, readKinds } from "../checkpoint/saved-facts.ts";
import { transcriptFormats } from "../dialects/agent.ts";
import type { TranscriptFormat } from "../dialects/agent.ts";
import { currentVersion } from "../dialects/header.ts";
import { headerOf } from "../dialects/log-record.ts";
import { savedHeader } from "../dialects/transcript.ts";
import { SavedFields, malformed } from "../entries/saved-fields.ts";
import type { RestoredIndex } from "../index-table/index-table.ts";
import type { IndexedHeader } from "../index-table/transcript-indexer.ts";
import type { SavedTranscript } from "../index-table/transcript-indexer.ts";
import { savedColumn } from "../index-table/saved-pages.ts";
import { fingerprintBytes } from "../limits.ts";
import type { LogFile } from "../platform/log-file.ts";
import { isSameFile, isSameState } from "../platform/ports.ts";
import type { FileStat } from "../platform/ports.ts";
import { matchesFingerprint, startBytes } from "./fingerprint.ts";
import type { LogFingerprint } from "./fingerprint.ts";
import type { LogState, SavedState } from "./log-state.ts";

/** Raised whenever the meaning of a saved index changes; checksums stay what they are. */
const indexVersion = 6;

const newline = 10;
const headerBytesMax = 1024 * 1024;

export interface Checkpoint {
  readonly binding: LogBinding;
  /** How far the log has valid checksums of its records. */
  readonly sumsEnd: number;
  readonly state: SavedState<RestoredIndex>;
}

type HeaderPlace = Pick<IndexedHeader, "offset" | "length" | "lineNumber">;

export interface FoundCheckpoint {
  readonly checkpoint: Checkpoint;
  readonly header: IndexedHeader;
  readonly bytes: LogFingerprint;
}

/** A log, and in a store how far the store says that it is the one of the checkpoint. */
interface BoundLog extends Pick<LogState, "file" | "lineBytesMax"> {
  readonly storedEnd?: number;
}

/**
 * What a file holds if it is a checkpoint of this log, which its text must prove before any table
 * is made. Throws `TypeError` if not.
 */
export function readCheckpoint(log: BoundLog, stat: FileStat, file: PageFile): FoundCheckpoint {
  const fields = new SavedFields(file.text);
  fields.whole("version", indexVersion, indexVersion);
  const { binding, bytes } = boundTo(log, stat, fields);
  const { end } = binding;
  const state = fields.fields("state");
  const indexer = state.fields("indexer");
  const isTranscript = !indexer.isNull("transcript");
  const place = readPlace(fields.fields("header"), end);
  const header = isTranscript ? undefined : headerAt(log.file, place);
  const formats = transcriptFormats().map((format) => savedFormat(format));
  const agent = isTranscript ? agentOf(indexer.oneOf("transcript", formats)) : undefined;
  const entriesFrom = isTranscript ? 0 : place.offset + place.length + 1;
  const lineNumber = state.whole("lineNumber", place.lineNumber + 1, end + 1);
  const covered = { end, entriesFrom, lineNumber, isTranscript };
  const counts = readCounts(indexer.fields("counts"), covered);
  const kinds = readKinds(indexer, covered);
  const diagnostics = readDiagnostics(indexer.fields("diagnostics"), covered);
  const entriesBeforeHeader = indexer.whole("entriesBeforeHeader", 0, lineNumber);
  const folded = readFolded(state.fields("folded"), covered, counts.rows);
  const settledRows = state.whole("settledRows", 0, counts.rows);
  const sums = fields.isNull("sums") ? undefined : takeSums(fields.fields("sums"), stat, file);
  const tables = takeTables(counts, kinds, covered, file);
  file.requireAllTaken();
  const { index, lines } = tables;
  const transcript = agent === undefined ? undefined : savedTranscript(agent, tables.transcript);
  const indexed = { index, lines, diagnostics, entriesBeforeHeader, transcript };
  const saved = { indexer: indexed, folded, settledRows, end, lineNumber };
  const checkpoint = { binding, sumsEnd: sumsEndOf(sums), state: saved };
  return { checkpoint, header: header ?? headerOfTranscript(transcript, place), bytes };
}

/** The checksums in a checkpoint, whether the rest is of this log or not. Throws `TypeError`. */
export function readSums(stat: FileStat, file: PageFile): LogSums | undefined {
  const fields = new SavedFields(file.text);
  return fields.isNull("sums") ? undefined : takeSums(fields.fields("sums"), stat, file);
}

/** Pieces that are read even of a log that was shortened: a terabyte. */
const lostBytesMax = 2 ** 40;

function takeSums(fields: SavedFields, stat: FileStat, file: PageFile): LogSums {
  const [dev, ino] = [fields.finite("dev"), fields.finite("ino")];
  if (!isSameFile({ dev, ino }, stat)) throw malformed("checksums of this log");
  const start = fields.whole("start", 0, Number.MAX_SAFE_INTEGER);
  const end = fields.whole("end", start, start + Math.max(lostBytesMax, stat.size));
  const sums = takeNumbers(file, sumCount({ start, end }));
  return {
    dev,
    ino,
    logVersion: fields.whole("logVersion", 0, Number.MAX_SAFE_INTEGER),
    isConfirmed: fields.flag("isConfirmed"),
    start,
    end,
    sums: new Uint32Array(sums.buffer),
  };
}

export function sumsEndOf(sums: LogSums | undefined): number {
  return sums?.isConfirmed === true ? sums.end : 0;
}

/**
 * To be taken without pause but between the pieces; the state must not change. Null while the log
 * ends within a line, or if another file has its name.
 */
export function statePieces(
  state: LogState,
  sums: LogSums | undefined,
): Iterable<FilePiece> | null {
  const saved = state.save();
  const binding = saved && stateBinding(state, saved.end);
  return saved && binding && piecesOf(state, saved, binding, sums);
}

/** As {@link statePieces}, of a log in a store, which is to remember its end. */
export function storedStatePieces(state: LogState, end: number): Iterable<FilePiece> | null {
  const saved = state.save();
  return saved?.end === end ? piecesOf(state, saved, { storedEnd: end }, undefined) : null;
}

function piecesOf(
  state: LogState,
  saved: SavedState,
  binding: LogBinding | { readonly storedEnd: number },
  sums: LogSums | undefined,
): Iterable<FilePiece> | null {
  const { header } = state.indexer;
  if (header === undefined) return null;
  const { beforeCursor, start } = state.fingerprintOf;
  const { lineBytesMax } = state;
  const { index, diagnostics, entriesBeforeHeader, transcript } = saved.indexer;
  const { format } = state.indexer;
  const { kinds } = index;
  const transcriptJson = Buffer.from(transcript ? JSON.stringify(transcript.state) : "");
  const counts = countsOf(saved.indexer, transcriptJson);
  const { folded, settledRows, lineNumber } = saved;
  const { sums: ofPieces = new Uint32Array(0), ...sumsFacts } = sums ?? {};
  const json = {
    version: indexVersion,
    binding,
    header: { offset: header.offset, length: header.length, line: header.lineNumber },
    remembered: { beforeCursor: beforeCursor.toString("base64"), start: start.toString("base64") },
    lineBytesMax,
    sums: sums === undefined ? null : sumsFacts,
    state: {
      indexer: {
        counts,
        kinds,
        diagnostics,
        entriesBeforeHeader,
        transcript: format === undefined ? null : savedFormat(format),
      },
      folded,
      settledRows,
      lineNumber,
    },
  };
  const columns = [
    savedColumn(ofPieces.length, () => ofPieces),
    ...columnsOf(saved.indexer, transcriptJson),
  ];
  return typedPieces(checkpointKind, json, columns);
}

function stateBinding(state: LogState, end: number): LogBinding | null {
  const { file } = state;
  const before = file.statSync();
  if (before === null || before.size < end) return null;
  const binding = bindingOf(file, before, end);
  if (!matchesFingerprint(file, state.fingerprintOf)) return null;
  const after = file.statSync();
  const isSame = after !== null && isSameState(binding, after);
  return isSame && file.isAt(before) ? binding : null;
}

function boundTo(
  { file, lineBytesMax, storedEnd }: BoundLog,
  stat: FileStat,
  fields: SavedFields,
): { binding: LogBinding; bytes: LogFingerprint } {
  // Other limits index long lines differently.
  fields.whole("lineBytesMax", lineBytesMax, lineBytesMax);
  const saved = fields.fields("binding");
  if (storedEnd !== undefined) saved.whole("storedEnd", storedEnd, Math.min(storedEnd, stat.size));
  const binding = storedEnd === undefined ? readBinding(saved) : bindingByStore(stat, storedEnd);
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

/** Of another version, its rows may mean something else. */
function savedFormat({ agent, version }: TranscriptFormat): string {
  return `${agent} ${version}`;
}

function agentOf(saved: string): string {
  return saved.slice(0, saved.indexOf(" "));
}

function savedTranscript(agent: string, json: Buffer): SavedTranscript {
  // Decoding boundary: any JSON; `SavedFields` reads it.
  return { agent, state: JSON.parse(json.toString()) as object };
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
