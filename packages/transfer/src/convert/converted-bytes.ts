/**
 * The bytes of a session in another agent's dialect: those of the source, but for the header, the
 * title slot, and the lines that have another form there. Counts what it changes as it goes.
 */
import { decodeLine, linesBackwardSync, readRange, readShallow } from "@branchlog/streaming";
import type { DecodedLine } from "@branchlog/streaming";
import type { ConversionTarget, IdSource } from "@branchlog/core/types";
import {
  bodyBytesMax,
  convertHeader,
  convertLine,
  matchesFingerprint,
  logChanged,
  nameIn,
  newline,
  readFullySync,
  replayedThrough,
  withDialect,
} from "@branchlog/core/internal";
import type { LogFile, LogFingerprint } from "@branchlog/core/internal";
import type { ConversionScan, LinePlace } from "./conversion-scan.ts";
import { nameLine, nameTime } from "./name-line.ts";
import { packedBytes } from "./packed-bytes.ts";
import type { ByteRange } from "./packed-bytes.ts";

/** What a conversion came to, complete once all bytes were taken. */
export interface ConversionCounts {
  /** By the type in the source. */
  readonly converted: Record<string, number>;
  addedName: boolean;
  /** Resets of omp that stay as they are in a log for pi, which does not know them. */
  resets: number;
}

/** A session that is converted. */
export interface Conversion {
  readonly file: LogFile;
  /** How far the file went when it was scanned. */
  readonly size: number;
  readonly found: ConversionScan;
  readonly to: ConversionTarget;
  readonly ids: IdSource;
  /** What the compaction at an offset keeps behind what is replayed. */
  readonly keptEntry: (offset: number, replayed: string) => string | undefined;
  /** By which bytes the file is known. */
  readonly remembered: LogFingerprint;
  readonly counts: ConversionCounts;
}

/**
 * The converted bytes. Each chunk is to be used up before the next is asked for.
 * @throws BranchlogError `ERR_LOG_CHANGED` at the end.
 */
export function* convertedChunks(conversion: Conversion): Generator<Buffer> {
  const { file, size, remembered } = conversion;
  yield* packedBytes(file, convertedPieces(conversion));
  const stat = file.statSync();
  const isSame = stat !== null && file.isAt(stat) && stat.size >= size;
  if (!isSame || !matchesFingerprint(file, remembered)) throw logChanged(file.path);
}

function* convertedPieces(conversion: Conversion): Generator<Buffer | ByteRange> {
  const { file, size, found, to } = conversion;
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
  for (const { place, line } of convertedLines(conversion)) {
    yield { from: at, to: place.offset };
    yield line;
    at = endOf(place);
  }
  yield { from: at, to: size };
  if (to === "pi") yield* nameEntry(conversion);
}

/** The lines of entries that change, and where. */
function* convertedLines({
  file,
  found,
  to,
  counts,
  keptEntry,
}: Conversion): Generator<{ readonly place: LinePlace; readonly line: Buffer }> {
  let nameBefore: string | undefined;
  for (const place of found.places()) {
    if (place.length > bodyBytesMax) continue;
    const stored = lineAt(file, place);
    const decoded = decodeLine(stored);
    if (!decoded.ok) continue;
    const { value } = decoded;
    const replayed = replayedThrough(value);
    const keptFrom = replayed === undefined ? undefined : keptEntry(place.offset, replayed);
    const line = convertLine(stored, value, to, { nameBefore, keptFrom });
    nameBefore = nameIn(value) ?? nameBefore;
    if (line === stored) continue;
    yield { place, line };
    countConverted(counts, value["type"]);
  }
}

/** The name that the session has, wherever it is said: slot, entries, header. */
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

/** The name as an entry below the last one, if no entry says it. */
function* nameEntry({ file, size, found, ids, counts }: Conversion): Generator<Buffer> {
  const name = nameOf(found);
  if (name === undefined || name === found.name?.trim()) return;
  if (!endsWithNewline(file, size)) yield newline;
  // A UUID, as the shorter ids that the file has are not known here.
  const id = ids.sessionId();
  const parentId = tailId(file, size, found.header?.offset ?? 0);
  const updatedAt = nameTime(found.slot, found.header?.header);
  yield nameLine({ name, updatedAt }, { id, parentId });
  counts.addedName = true;
}

/** The id of the last entry behind the header; null if there is none. */
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

/** Counts an entry that changed under its type in the source. */
export function countConverted({ converted }: ConversionCounts, type: unknown): void {
  if (typeof type === "string") converted[type] = (converted[type] ?? 0) + 1;
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
