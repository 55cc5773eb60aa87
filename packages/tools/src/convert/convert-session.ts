/** Converts a session file to another agent's dialect, as a new file, in bounded memory. */
import { resolve } from "node:path";
import { decodeLine, readFullySync, readRange, readShallow } from "@branchlog/streaming";
import type { OptionNames } from "@branchlog/streaming";
import type { DialectName } from "@branchlog/core/entries";
import type { EngineOptions } from "@branchlog/core/types";
import { Engine, migratedCopy, piecesOfOneLog } from "@branchlog/core/engine";
import {
  createStreamedLog,
  inBatches,
  requireFree,
  requireOptions,
  requireText,
} from "@branchlog/core/files";
import {
  currentVersion,
  entryForm,
  requireNoTranscript,
  encodeDraft,
  namingTypes,
  spliceDraft,
  titleSlotBytes,
} from "@branchlog/core/rows";
import type { LogFile } from "@branchlog/core/files";
import { convertHeader, nameIn, withDialect } from "./convert-entry.ts";
import type { ConversionTarget } from "./convert-entry.ts";
import {
  LineConverter,
  dialectOfRows,
  keptEntryFinder,
  isConvertible,
  nameTime,
} from "./line-converter.ts";

export interface ConvertOptions extends Pick<EngineOptions, "ports" | "lineBytesMax"> {
  readonly to: ConversionTarget;
  /** Path of the new file, which must not exist. */
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

export interface ConversionResult {
  readonly path: string;
  readonly source: string;
  readonly to: ConversionTarget;
  readonly entries: number;
  readonly converted: Readonly<Record<string, number>>;
  /** Lines that hold no record; they were copied as they are. */
  readonly badLines: number;
  /** Whether an entry with the name was added, which the source has elsewhere. */
  readonly addedName: boolean;
  /** Resets of omp (`reset_boundary`) that stay, but that pi does not support. */
  readonly resets: number;
}

/**
 * Writes a session in an agent's dialect, in version 3. Ids, parents, times and order stay, as do
 * values without an equivalent in the other agent. The file has mode 0600.
 * @throws BranchlogError as `openSession`; `ERR_LOG_EXISTS`, `ERR_CREATE_FAILED`,
 * `ERR_LOG_CHANGED`. Nothing is created then.
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
    const { file, size, state } = engine.log;
    if (state.indexer.transcript !== undefined) requireNoTranscript(engine.path, file, size);
    const version = state.indexer.header?.version ?? currentVersion;
    if (entryForm(version) === currentVersion) return await convertedCopy(engine, options);
    requireFree(engine.settings.ports, resolve(options.target));
    const current = await migratedCopy(engine, resolve(options.target), signal);
    try {
      return { ...(await convertSession(current, options)), source: engine.path };
    } finally {
      engine.settings.ports.fs.unlinkSync(current);
    }
  } finally {
    engine.release();
  }
}

async function convertedCopy(
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
  const pieces = convertedPieces({ engine, to, ofEntries, converter });
  const chunks = inBatches(packedBytes(engine.log.file, pieces), signal);
  await createStreamedLog(settings.ports, path, piecesOfOneLog(engine, chunks));
  const counts = { entries: index.count, badLines: badLines(engine) };
  return { path, source: engine.path, to, ...counts, ...converter.counts };
}

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

interface Conversion {
  readonly engine: Engine;
  readonly to: ConversionTarget;
  readonly ofEntries: DialectName | undefined;
  readonly converter: LineConverter;
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

/** The name as a last entry, if no entry has it: pi has names in entries only. */
function* nameEntry({ engine, converter }: Conversion): Generator<Buffer> {
  const { log, header, settings } = engine;
  const name = nameOf(engine);
  if (name === undefined || name === nameSaid(engine)?.trim()) return;
  const newline = Buffer.from("\n");
  if (!bytesAt(log.file, log.size - 1, 1).equals(newline)) yield newline;
  // A UUID, which no other entry has.
  const id = settings.ports.ids.sessionId();
  const time = nameTime(log.state.titleSlot, header);
  yield spliceDraft(encodeDraft({ type: "session_info", name }, time), id, engine.tailId);
  converter.counts.addedName = true;
}

function nameOf(engine: Engine): string | undefined {
  const { titleSlot: slot } = engine.log.state;
  const inSlot = slot?.title.trim();
  if (inSlot) return inSlot;
  const said = nameSaid(engine);
  if (said !== undefined) return said.trim() || undefined;
  // An empty slot overrules the header, of which only type and id were checked.
  const title: unknown = slot === undefined ? engine.header.title : undefined;
  return typeof title === "string" ? title.trim() || undefined : undefined;
}

/** Empty if the last naming entry removes the name. */
function nameSaid(engine: Engine): string | undefined {
  const { index, log } = engine;
  for (let row = index.count - 1; row >= 0; row -= 1) {
    if (!namingTypes.includes(index.kindOf(row).type) || !isConvertible(engine, row)) continue;
    const stored = bytesAt(log.file, index.rows.offset(row), index.rows.length(row));
    const decoded = decodeLine(stored);
    const name = decoded.ok ? nameIn(decoded.value) : undefined;
    if (name !== undefined) return name;
  }
  return undefined;
}

interface ByteRange {
  readonly from: number;
  readonly to: number;
}

const chunkBytes = 1024 * 1024;

/**
 * Joins the pieces in one reused buffer: one for each read would take half as much memory again. A
 * chunk is valid until the next one is requested.
 */
function* packedBytes(file: LogFile, pieces: Iterable<Buffer | ByteRange>): Generator<Buffer> {
  const chunk = Buffer.allocUnsafeSlow(chunkBytes);
  let filled = 0;
  for (const piece of pieces) {
    const length = Buffer.isBuffer(piece) ? piece.length : piece.to - piece.from;
    for (let at = 0; at < length;) {
      const count = Math.min(length - at, chunk.length - filled);
      if (Buffer.isBuffer(piece)) piece.copy(chunk, filled, at, at + count);
      else readFullySync(file, chunk.subarray(filled, filled + count), piece.from + at);
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
  return readFullySync(file, Buffer.allocUnsafe(length), offset);
}
