/**
 * The bytes of a session in another agent's dialect: those of the source, but for the header, the
 * title slot, and the lines that have another form there. Counts what it changes as it goes.
 */
import { decodeLine } from "@branchlog/streaming";
import type { DialectName } from "@branchlog/core/entries";
import {
  encodeDraft,
  namingTypes,
  newline,
  readFullySync,
  requireSameLog,
  rowsBackwards,
  spliceDraft,
  titleSlotBytes,
} from "@branchlog/core/internal";
import type { Engine, LogFile } from "@branchlog/core/internal";
import { convertHeader, nameIn, withDialect } from "./convert-entry.ts";
import type { ConversionTarget } from "./convert-entry.ts";
import { keptEntryFinder } from "./kept-entries.ts";
import { isConvertible, nameTime } from "./line-converter.ts";
import type { LineConverter } from "./line-converter.ts";

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
