/**
 * The bytes of a session in another agent's dialect: those of the source, but for the header, the
 * title slot, and the lines that have another form there. Counts what it changes as it goes.
 */
import { decodeLine, linesBackwardSync, readRange, readShallow } from "@branchlog/streaming";
import type { DecodedLine } from "@branchlog/streaming";
import type { IdSource } from "@branchlog/core/types";
import {
  bodyBytesMax,
  encodeDraft,
  newline,
  readFullySync,
  spliceDraft,
} from "@branchlog/core/internal";
import type { LogFile } from "@branchlog/core/internal";
import { convertHeader, withDialect } from "./convert-entry.ts";
import type { ConversionTarget } from "./convert-entry.ts";
import type { ConversionScan, LinePlace } from "./conversion-scan.ts";
import { nameTime } from "./line-converter.ts";
import type { LineConverter } from "./line-converter.ts";

/** A session that is converted. */
export interface Conversion {
  readonly file: LogFile;
  /** How far the file went when it was scanned. */
  readonly size: number;
  readonly found: ConversionScan;
  readonly to: ConversionTarget;
  readonly ids: IdSource;
  readonly converter: LineConverter;
  /** What the compaction at an offset keeps after what is replayed. */
  readonly keptEntry: (offset: number, replayed: string) => string | undefined;
  /** Throws if the file is not what it was. */
  readonly requireSame: () => void;
}

/**
 * The converted bytes. Each chunk is to be used up before the next is asked for.
 * @throws BranchlogError `ERR_LOG_CHANGED` at the end.
 */
export function* convertedChunks(conversion: Conversion): Generator<Buffer> {
  yield* packedBytes(conversion.file, convertedPieces(conversion));
  conversion.requireSame();
}

function* convertedPieces(conversion: Conversion): Generator<Buffer | ByteRange> {
  const { file, size, found, to, converter, keptEntry } = conversion;
  const { slot, header } = found;
  let at = startsWithMark(file) ? byteOrderMark.length : 0;
  if (slot !== undefined && to === "pi") {
    yield { from: at, to: slot.offset };
    at = endOf(slot) + newline.length;
  }
  if (header !== undefined) {
    const name = slot === undefined ? nameOf(found) : undefined;
    yield { from: at, to: header.offset };
    const converted = convertHeader(lineAt(file, header), { version: header.version, to, name });
    const hasTitleSlot = slot !== undefined && to === "omp";
    yield withDialect(converted, to, { hasTitleSlot, ofEntries: found.ofEntries });
    at = endOf(header);
  }
  for (const place of found.places()) {
    if (place.length > bodyBytesMax) continue;
    const stored = lineAt(file, place);
    const line = converter.convert(stored, (replayed) => keptEntry(place.offset, replayed));
    if (line === stored) continue;
    yield { from: at, to: place.offset };
    yield line;
    at = endOf(place);
  }
  yield { from: at, to: size };
  if (to === "pi") yield* nameEntry(conversion);
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

/** The name of the session: of its slot, its entries or its header. */
function nameOf({ slot, name, header }: ConversionScan): string | undefined {
  if (slot !== undefined && slot.title !== "") return slot.title;
  if (name !== undefined) return name.trim() || undefined;
  // A slot that is empty overrules the header.
  const title = slot === undefined ? titleIn(header?.header) : undefined;
  return title?.trim() || undefined;
}

function titleIn(header: object | undefined): string | undefined {
  const title: unknown = header === undefined ? undefined : Reflect.get(header, "title");
  return typeof title === "string" ? title : undefined;
}

/** The name as an entry below the last one, if no entry says it: pi has names in entries only. */
function* nameEntry({ file, size, found, ids, converter }: Conversion): Generator<Buffer> {
  const name = nameOf(found);
  if (name === undefined || name === found.name?.trim()) return;
  if (!endsWithNewline(file, size)) yield newline;
  // A UUID, as the shorter ids that the file has are not known here.
  const id = ids.sessionId();
  const parentId = tailId(file, size, found.header?.offset ?? 0);
  const time = nameTime(found.slot, found.header?.header);
  yield spliceDraft(encodeDraft({ type: "session_info", name }, time), id, parentId);
  converter.counts.addedName = true;
}

/** The id of the last entry after the header; null if there is none. */
function tailId(file: LogFile, size: number, header: number): string | null {
  for (const { bytes, offset, length } of linesBackwardSync(file.path, { to: size })) {
    if (offset <= header) return null;
    const line: DecodedLine =
      bytes === null ? readShallow(readRange(file, offset, length), {}) : decodeLine(bytes);
    if (!line.ok) continue;
    const { type, id } = line.value;
    if (typeof type === "string" && typeof id === "string" && type !== "session") return id;
  }
  return null;
}

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

function startsWithMark(file: LogFile): boolean {
  return lineAt(file, { offset: 0, length: byteOrderMark.length }).equals(byteOrderMark);
}

function endsWithNewline(file: LogFile, size: number): boolean {
  return lineAt(file, { offset: size - 1, length: 1 }).equals(newline);
}

function lineAt(file: LogFile, { offset, length }: LinePlace): Buffer {
  const line = Buffer.allocUnsafe(length);
  readFullySync(file, line, length, offset);
  return line;
}

function endOf({ offset, length }: LinePlace): number {
  return offset + length;
}
