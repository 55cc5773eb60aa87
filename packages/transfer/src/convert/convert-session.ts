/**
 * Conversion of a session file from one agent's dialect to another's, as a new file: indexed, then
 * copied in bounded memory, whatever its lines hold. What both agents say in the same way is copied
 * as bytes, lines that hold no record included. The source is only read.
 */
import { resolve } from "node:path";
import { decodeLine, readRange, readShallow } from "@branchlog/streaming";
import type { OptionNames } from "@branchlog/streaming";
import { isBranchlogError } from "@branchlog/core";
import type { DialectName } from "@branchlog/core/entries";
import type { EngineOptions } from "@branchlog/core/types";
import {
  Engine,
  createStreamedLog,
  creationFailed,
  currentVersion,
  entryForm,
  inBatches,
  migratedChunks,
  requireFree,
  requireOptions,
  requireSameLog,
  requireText,
  temporaryPath,
  encodeDraft,
  namingTypes,
  newline,
  readFullySync,
  rowsBackwards,
  spliceDraft,
  titleSlotBytes,
} from "@branchlog/core/internal";
import type { LogFile } from "@branchlog/core/internal";
import { convertHeader, nameIn, withDialect } from "./convert-entry.ts";
import type { ConversionTarget } from "./convert-entry.ts";
import {
  LineConverter,
  dialectOfRows,
  keptEntryFinder,
  isConvertible,
  nameTime,
} from "./line-converter.ts";

/** What to convert to, and where. */
export interface ConvertOptions extends Pick<EngineOptions, "ports" | "lineBytesMax"> {
  /** The agent that the new file is for. */
  readonly to: ConversionTarget;
  /** Path of the new file; there must be nothing. */
  readonly target: string;
  /** Ends the work with the signal's reason, until the new file has its name. */
  readonly signal?: AbortSignal | undefined;
}

const convertNames: OptionNames<ConvertOptions> = {
  ports: true,
  lineBytesMax: true,
  to: true,
  target: true,
  signal: true,
};

/** A converted session that is there. */
export interface ConversionResult {
  /** Path of the new file. */
  readonly path: string;
  /** Canonical path of the source. */
  readonly source: string;
  readonly to: ConversionTarget;
  /** Entries of the source. */
  readonly entries: number;
  /** How many entries changed, by their type in the source. */
  readonly converted: Readonly<Record<string, number>>;
  /** Lines that hold no record; they were copied as they are. */
  readonly badLines: number;
  /** Whether an entry with the name was added, which the source has elsewhere. */
  readonly addedName: boolean;
  /**
   * Resets of omp (`reset_boundary`) in a session for pi. They stay as they are, but pi does not
   * know them: after them, its model sees what omp's does not see any more.
   */
  readonly resets: number;
}

/**
 * Writes a session in the dialect of an agent. Ids, parents, times and the order of entries stay;
 * what the other agent has no form for stays as it is. A session of version 1 or 2 is brought to
 * version 3 on the way. The file has mode 0600.
 * @throws BranchlogError as `openSession`; `ERR_LOG_EXISTS`, `ERR_CREATE_FAILED`,
 * `ERR_LOG_CHANGED`. There is no part of a new file then.
 * @example
 * await convertSession("pi.jsonl", { to: "omp", target: "omp.jsonl" });
 */
export async function convertSession(
  source: string,
  options: ConvertOptions,
): Promise<ConversionResult> {
  const { signal, ...settings } = requireOptions(options, convertNames);
  const path = resolve(requireText("The source", source));
  const engine = await Engine.open(path, { ...settings, access: "read" }, signal);
  try {
    const version = engine.log.state.indexer.header?.version ?? currentVersion;
    if (entryForm(version) === currentVersion) return await converted(engine, options);
    const current = await migratedCopy(engine, options);
    try {
      return { ...(await convertSession(current, options)), source: engine.path };
    } finally {
      engine.settings.ports.fs.unlinkSync(current);
    }
  } finally {
    engine.release();
  }
}

async function converted(
  engine: Engine,
  { to, target, signal }: ConvertOptions,
): Promise<ConversionResult> {
  const { index, settings } = engine;
  const path = resolve(target);
  const converter = new LineConverter(to);
  const rows = Array.from({ length: index.count }, (_, row) => row);
  const ofEntries = await dialectOfRows(engine, rows, to);
  if (to === "pi") {
    const isReset = (row: number): boolean => index.kindOf(row).type === "reset_boundary";
    converter.counts.resets = rows.filter(isReset).length;
  }
  requireFree(settings.ports, path);
  const chunks = convertedChunks({ engine, to, ofEntries, converter });
  await createStreamedLog(settings.ports, path, inBatches(chunks, signal));
  const counts = { entries: index.count, badLines: badLines(engine) };
  return { path, source: engine.path, to, ...counts, ...converter.counts };
}

/** Lines that hold no record, an unterminated end of the log included. */
function badLines({ log, settings }: Engine): number {
  const { file, size, state } = log;
  const [from, length] = [state.committedEnd, size - state.committedEnd];
  const found = state.indexer.diagnostics.count("bad-line");
  if (length === 0 || state.pendingRow >= 0) return found;
  const bytes = readRange(file, from, length);
  const isLong = length > settings.lineBytesMax;
  const rest = isLong ? readShallow(bytes, {}) : decodeLine(Buffer.concat([...bytes]));
  return found + (rest.ok || rest.reason === "blank" ? 0 : 1);
}

/** A copy in the current version, beside the target, for the caller to remove. */
async function migratedCopy(engine: Engine, { target, signal }: ConvertOptions): Promise<string> {
  const { ports } = engine.settings;
  requireFree(ports, resolve(target));
  const path = temporaryPath(ports, resolve(target));
  try {
    await createStreamedLog(ports, path, inBatches(migratedWhole(engine), signal));
  } catch (error) {
    // The caller did not ask for this file, and its name says nothing: the one asked for fails.
    if (!isBranchlogError(error, "ERR_CREATE_FAILED")) throw error;
    throw creationFailed(resolve(target), error.cause);
  }
  return path;
}

function* migratedWhole(engine: Engine): Generator<Buffer> {
  const { file, state } = engine.log;
  yield* migratedChunks(file, state, 0, state.end);
  requireSameLog(engine);
}

/** A session that is converted. */
export interface Conversion {
  readonly engine: Engine;
  readonly to: ConversionTarget;
  /** Of the first entry that only one of the agents writes, once it is converted. */
  readonly ofEntries: DialectName | undefined;
  readonly converter: LineConverter;
}

/**
 * The converted bytes. Each chunk is to be used up before the next is asked for.
 * @throws BranchlogError `ERR_LOG_CHANGED` at the end.
 */
export function* convertedChunks(conversion: Conversion): Generator<Buffer> {
  const { engine } = conversion;
  yield* packedBytes(engine.log.file, convertedPieces(conversion));
  requireSameLog(engine);
}

function* convertedPieces(conversion: Conversion): Generator<Buffer | ByteRange> {
  const { engine, to, ofEntries, converter } = conversion;
  const { index, log } = engine;
  const { file, state, size } = log;
  const { titleSlot, indexer } = state;
  const hasSlot = titleSlot !== undefined;
  let at = bytesAt(file, 0, byteOrderMark.length).equals(byteOrderMark) ? byteOrderMark.length : 0;
  if (hasSlot && to === "pi") at = titleSlotBytes;
  if (indexer.header !== undefined) {
    const { offset, length, version } = indexer.header;
    yield { from: at, to: offset };
    const name = hasSlot ? undefined : nameOf(engine);
    const converted = convertHeader(bytesAt(file, offset, length), { version, to, name });
    yield withDialect(converted, to, { hasTitleSlot: hasSlot && to === "omp", ofEntries });
    at = offset + length;
  }
  const keptEntry = keptEntryFinder(engine);
  for (let row = 0; row < index.count; row += 1) {
    if (!isConvertible(engine, row)) continue;
    const [offset, length] = [index.rows.offset(row), index.rows.length(row)];
    const stored = bytesAt(file, offset, length);
    const line = converter.convert(stored, (replayed) => keptEntry(row, replayed));
    if (line === stored) continue;
    yield { from: at, to: offset };
    yield line;
    at = offset + length;
  }
  yield { from: at, to: size };
  if (to === "pi") yield* nameEntry(conversion);
}

/** The name as an entry below the last one, if no entry says it: pi has names in entries only. */
function* nameEntry({ engine, converter }: Conversion): Generator<Buffer> {
  const { log, header, settings } = engine;
  const name = nameOf(engine);
  if (name === undefined || name === nameSaid(engine)?.trim()) return;
  if (!bytesAt(log.file, log.size - 1, 1).equals(newline)) yield newline;
  // A UUID, as it cannot be the id of another entry.
  const id = settings.ports.ids.sessionId();
  const time = nameTime(log.state.titleSlot, header);
  yield spliceDraft(encodeDraft({ type: "session_info", name }, time), id, engine.tailId);
  converter.counts.addedName = true;
}

/** The name that the session has: of the slot, the entries, or the header. */
function nameOf(engine: Engine): string | undefined {
  const { titleSlot: slot } = engine.log.state;
  const inSlot = slot?.title.trim();
  if (inSlot) return inSlot;
  const said = nameSaid(engine);
  if (said !== undefined) return said.trim() || undefined;
  // A slot that is empty overrules the header, of which only type and id were checked.
  const title: unknown = slot === undefined ? engine.header.title : undefined;
  return typeof title === "string" ? title.trim() || undefined : undefined;
}

/** What the last entry says that gives the session a name, or takes it away by an empty one. */
function nameSaid(engine: Engine): string | undefined {
  const { index, log } = engine;
  for (const row of rowsBackwards(engine)) {
    if (!namingTypes.includes(index.kindOf(row).type) || !isConvertible(engine, row)) continue;
    const stored = bytesAt(log.file, index.rows.offset(row), index.rows.length(row));
    const decoded = decodeLine(stored);
    const name = decoded.ok ? nameIn(decoded.value) : undefined;
    if (name !== undefined) return name;
  }
  return undefined;
}

/** The bytes [from, to) of the source. */
interface ByteRange {
  readonly from: number;
  readonly to: number;
}

const chunkBytes = 1024 * 1024;

/**
 * The pieces one after the other in large chunks, through one buffer that is used again: a buffer
 * for each read would take half as much memory again. What the file no longer holds is zero.
 */
function* packedBytes(file: LogFile, pieces: Iterable<Buffer | ByteRange>): Generator<Buffer> {
  const chunk = Buffer.allocUnsafeSlow(chunkBytes);
  let filled = 0;
  for (const piece of pieces) {
    const length = Buffer.isBuffer(piece) ? piece.length : piece.to - piece.from;
    for (let at = 0; at < length;) {
      const count = Math.min(length - at, chunk.length - filled);
      if (Buffer.isBuffer(piece)) piece.copy(chunk, filled, at, at + count);
      else readFullySync(file, chunk.subarray(filled), count, piece.from + at);
      filled += count;
      at += count;
      if (filled < chunk.length) continue;
      yield chunk;
      filled = 0;
    }
  }
  if (filled > 0) yield chunk.subarray(0, filled);
}

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

function bytesAt(file: LogFile, offset: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  readFullySync(file, bytes, length, offset);
  return bytes;
}
