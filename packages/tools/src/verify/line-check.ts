/** Checks every line of a log whole, and marks the entries whose lines are damaged in its index. */
import { isUtf8 } from "node:buffer";
import {
  decodeLine,
  hasByteOrderMark,
  lineKind,
  readFullySync,
  readRange,
  readShallow,
} from "@branchlog/streaming";
import type {
  ByteSource,
  DecodedLine,
  JsonObject,
  LineKind,
  LineRest,
  LineSink,
  LongLine,
} from "@branchlog/streaming";
import type { SessionEntry } from "@branchlog/core";
import {
  FoldedProjections,
  LogIndexer,
  entryForm,
  entryPlace,
  inCurrentForm,
  usage,
} from "@branchlog/core/rows";
import { LinkCheck } from "@branchlog/core/engine";
import { bodyBytesMax, diagnosticsMax } from "@branchlog/core/files";
import { wholeCharacters } from "../repair/whole-characters.ts";
import { endKind } from "./finding.ts";
import type { BadLine, BadLineKind, DamagedEntry, LinePlace, PendingEnd } from "./finding.ts";

interface CheckedLine {
  readonly offset: number;
  readonly kind: LineKind;
  readonly id: unknown;
  /** The record, if its usage may count. */
  readonly spending: JsonObject | undefined;
  readonly value: JsonObject | undefined;
}

/** Takes every line, then {@link LineCheck.batchEnd} once more. */
export class LineCheck implements LineSink {
  readonly indexer: LogIndexer;
  readonly folded: FoldedProjections = new FoldedProjections();
  readonly links: LinkCheck;
  lines: number = 0;
  blank: number = 0;
  records: number = 0;
  readonly badLines: BadLine[] = [];
  readonly badLineCounts: Record<BadLineKind, number> = {
    torn: 0,
    "not-json": 0,
    "not-object": 0,
    "nul-bytes": 0,
    "too-long": 0,
  };
  readonly damagedEntries: DamagedEntry[] = [];
  changedIds: number = 0;
  marks: number = 0;
  invalidUtf8Count: number = 0;
  readonly invalidUtf8: LinePlace[] = [];
  readonly #source: ByteSource;
  readonly #usageRows: number;
  #long: { readonly offset: number; readonly decoded: DecodedLine } | undefined;
  #checked: CheckedLine[] = [];
  #nextRow = 0;

  /** @param transcriptName Name of the file, which may be the transcript of another agent. */
  constructor(source: ByteSource, usageRows: number, transcriptName: string) {
    this.#source = source;
    this.#usageRows = usageRows;
    this.indexer = new LogIndexer({
      readLong: (offset, length) => this.readLong(offset, length),
      onFolded: (row, value) => this.folded.apply(row, this.#entry(row, value)),
      transcriptName,
    });
    this.links = new LinkCheck(this.indexer);
  }

  get badLineCount(): number {
    return Object.values(this.badLineCounts).reduce((sum, count) => sum + count, 0);
  }

  line(bytes: Buffer, start: number, end: number, offset: number, line: number): void {
    this.indexer.addLines(bytes, start, end, offset, line);
    const decoded = decodeLine(bytes, start, end);
    const own = bytes.subarray(start, end);
    const kind = lineKind(decoded, () => [own]);
    this.#count(kind, { line, offset, length: end - start }, () => [own]);
    this.#countMark(own, offset, line);
    const hasId = decoded.ok && entryForm(this.indexer.header?.version ?? 1) > 1;
    const id = hasId ? decoded.value["id"] : undefined;
    const value = decoded.ok ? decoded.value : undefined;
    this.#checked.push({ offset, kind, id, spending: this.#spending(decoded), value });
  }

  longLine(long: LongLine, line: number): void {
    const { offset, length } = long;
    this.indexer.longLine(long, line);
    const decoded = this.readLong(offset, length);
    const pieces = (): Iterable<Buffer> => readRange(this.#source, offset, length);
    const kind = lineKind(decoded, pieces);
    this.#count(kind, { line, offset, length }, pieces);
    this.#countMark(long.head, offset, line);
    const spending = this.#spending(decoded) && this.#readWhole(offset, length);
    const value = decoded.ok ? decoded.value : undefined;
    this.#checked.push({ offset, kind, id: undefined, spending, value });
  }

  /** A pending end is returned and counts nowhere else. */
  addRest(rest: LineRest, mayGrow: boolean): PendingEnd | null {
    const kind = endKind(rest, this.#source, mayGrow);
    const { offset, length, lineNumber: line, bytes, long } = rest;
    this.#countMark(bytes ?? long?.head ?? Buffer.alloc(0), offset, line);
    if (kind === "record" || kind === "fragment") return { offset, length, kind };
    if (kind !== "blank") this.#count(kind, { line, offset, length }, () => []);
    return null;
  }

  /** Marks damaged entries since the last call. */
  batchEnd(): void {
    this.indexer.batchEnd();
    const { index } = this.indexer;
    // Its rows were parsed whole, and have no damage and no references of pi's entries.
    if (this.indexer.transcript !== undefined) this.#checked = [];
    for (const { offset, kind, id, spending, value } of this.#checked) {
      while (this.#nextRow < index.count && index.rows.offset(this.#nextRow) < offset) {
        this.#nextRow += 1;
      }
      const row = this.#nextRow;
      if (kind === "blank" || row >= index.count || index.rows.offset(row) !== offset) continue;
      if (kind !== "record") this.#markDamaged(row, kind);
      else if (id !== undefined && id !== index.idOf(row)) this.#markDamaged(row, "id-changed");
      else {
        if (spending !== undefined) this.#foldUsage(row, spending);
        if (value !== undefined) this.links.take(row, value);
      }
    }
    this.#checked = [];
  }

  readLong(offset: number, length: number): DecodedLine {
    if (this.#long?.offset === offset) return this.#long.decoded;
    const bytes = readRange(this.#source, offset, length);
    const decoded = readShallow(bytes, { open: ["message"] });
    this.#long = { offset, decoded };
    return decoded;
  }

  #spending(decoded: DecodedLine): JsonObject | undefined {
    if (!decoded.ok || this.indexer.index.count > this.#usageRows) return undefined;
    const { type } = decoded.value;
    return usage.types?.some((one) => one === type) === true ? decoded.value : undefined;
  }

  #readWhole(offset: number, length: number): JsonObject | undefined {
    if (length > bodyBytesMax) return undefined;
    const bytes = readFullySync(this.#source, Buffer.allocUnsafe(length), offset);
    const decoded = decodeLine(bytes);
    return decoded.ok ? decoded.value : undefined;
  }

  #foldUsage(row: number, value: JsonObject): void {
    const isFolded = usage.types?.includes(this.indexer.index.kindOf(row).type) === true;
    if (isFolded && row < this.#usageRows) this.folded.usage.apply(row, this.#entry(row, value));
  }

  #entry(row: number, value: JsonObject): SessionEntry {
    // Decoding boundary: foreign entries are folded as stored.
    return inCurrentForm(this.indexer, row, value) as unknown as SessionEntry;
  }

  #markDamaged(row: number, reason: DamagedEntry["reason"]): void {
    this.indexer.index.markDamaged(row);
    if (reason === "id-changed") this.changedIds += 1;
    if (this.damagedEntries.length >= diagnosticsMax) return;
    this.damagedEntries.push({ ...entryPlace(this.indexer, row), reason });
  }

  #countMark(head: Buffer, offset: number, line: number): void {
    // The framer skips a mark in front of the first line.
    if ((line === 1 && offset > 0) || hasByteOrderMark(head)) this.marks += 1;
  }

  #count(kind: LineKind, place: LinePlace, pieces: () => Iterable<Buffer>): void {
    this.lines += 1;
    if (kind === "record") {
      this.records += 1;
      for (const bytes of wholeCharacters(pieces())) {
        if (isUtf8(bytes)) continue;
        this.invalidUtf8Count += 1;
        if (this.invalidUtf8Count <= diagnosticsMax) this.invalidUtf8.push(place);
        break;
      }
    } else if (kind === "blank") this.blank += 1;
    else {
      this.badLineCounts[kind] += 1;
      if (this.badLineCounts[kind] <= diagnosticsMax) {
        this.badLines.push({ ...place, reason: kind });
      }
    }
  }
}
