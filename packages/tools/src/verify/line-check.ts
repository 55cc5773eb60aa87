/** Checks every line of a log whole, and marks the entries whose lines are damaged in its index. */
import { isUtf8 } from "node:buffer";
import {
  decodeLine,
  hasByteOrderMark,
  lineKind,
  readFullySync,
  readRange,
  readShallow,
  scanFlags,
  scanLines,
} from "@branchlog/streaming";
import type {
  ByteSource,
  CheckedRecord,
  DecodedLine,
  JsonObject,
  LineKind,
  LineRest,
  LinesSink,
  LongLine,
  ScannedAnswer,
  ScannedRows,
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
import type { Kind } from "@branchlog/core/rows";
import { LinkCheck } from "@branchlog/core/engine";
import { bodyBytesMax, diagnosticsMax } from "@branchlog/core/files";
import { wholeCharacters } from "../repair/whole-characters.ts";
import { endKind } from "./finding.ts";
import type { BadLine, BadLineKind, DamagedEntry, LinePlace, PendingEnd } from "./finding.ts";

/** The fields of an entry that are checked further. */
type Need = "nothing" | "answer" | "result" | "body";

export class LineCheck implements LinesSink {
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
  /** By the numbers of kinds. */
  readonly #needs: Need[] = [];
  #nextRow = 0;

  /** @param transcriptPath Of the file, which may be the transcript of another agent. */
  constructor(source: ByteSource, usageRows: number, transcriptPath: string) {
    this.#source = source;
    this.#usageRows = usageRows;
    this.indexer = new LogIndexer({
      readLong: (offset, length) => this.readLong(offset, length),
      onFolded: (row, value) => this.folded.apply(row, this.#entry(row, value)),
      transcriptPath,
    });
    this.links = new LinkCheck(this.indexer);
  }

  get badLineCount(): number {
    return Object.values(this.badLineCounts).reduce((sum, count) => sum + count, 0);
  }

  addLines(bytes: Buffer, start: number, end: number, offset: number, lineNumber: number): number {
    const count = this.indexer.addLines(bytes, start, end, offset, lineNumber);
    this.indexer.batchEnd();
    let line = lineNumber;
    scanLines(bytes, start, end, (rows) => {
      const base = offset - start + rows.shift;
      for (let row = 0; row < rows.count; row += 1, line += 1) {
        const at = rows.start[row] ?? 0;
        const place = { line, offset: base + at, length: rows.length[row] ?? 0 };
        const checked = rows.checked(row);
        if (checked === undefined) {
          this.#parsed(rows.bytes.subarray(at, at + place.length), place);
        } else this.#checked(rows, row, checked, place);
      }
    });
    return count;
  }

  longLine(long: LongLine, line: number): void {
    const { offset, length } = long;
    this.indexer.longLine(long, line);
    this.indexer.batchEnd();
    const decoded = this.readLong(offset, length);
    const pieces = (): Iterable<Buffer> => readRange(this.#source, offset, length);
    const kind = lineKind(decoded, pieces);
    this.#count(kind, { line, offset, length }, pieces);
    this.#countMark(long.head, offset, line);
    const row = this.#rowAt(offset, kind);
    if (row === undefined) return;
    const need = this.#needOf(row);
    // Only values kept by a token-by-token read.
    const value = decoded.ok ? decoded.value : undefined;
    if (value !== undefined) this.links.take(row, value);
    if (need !== "nothing") this.#foldUsage(row, () => this.#readWhole(offset, length));
  }

  #parsed(bytes: Buffer, place: LinePlace): void {
    const decoded = decodeLine(bytes);
    const kind = lineKind(decoded, () => [bytes]);
    this.#count(kind, place, () => [bytes]);
    this.#countMark(bytes, place.offset, place.line);
    const row = this.#rowAt(place.offset, kind);
    if (row === undefined || !decoded.ok) return;
    const { value } = decoded;
    if (!this.#hasId(row, value["id"])) return;
    this.#foldUsage(row, () => value);
    this.links.take(row, value);
  }

  /** A line that is known to be a record: most of them. */
  #checked(rows: ScannedRows, at: number, checked: CheckedRecord, place: LinePlace): void {
    const { offset, line } = place;
    this.lines += 1;
    this.records += 1;
    const start = rows.start[at] ?? 0;
    const bytes = (): Buffer => rows.bytes.subarray(start, start + place.length);
    if (!checked.isAscii && !isUtf8(bytes())) this.#addInvalid(place);
    if (line === 1 && offset > 0) this.marks += 1;
    const row = this.#rowAt(offset, "record");
    if (row === undefined || !this.#hasId(row, checked.id)) return;
    const need = checked.mayDiverge ? "body" : this.#needOf(row);
    if (need === "nothing") return;
    const isTrusted = ((rows.flags[at] ?? 0) & scanFlags.trusted) !== 0;
    if (isTrusted && need === "result" && !rows.mayResultSpend(at, false)) return;
    const answer = isTrusted && need === "answer" ? rows.answer(at) : undefined;
    if (answer !== undefined) return this.#foldAnswer(row, answer);
    const decoded = decodeLine(bytes());
    if (!decoded.ok) throw new Error(`line ${line} does not parse, but was accepted`);
    this.#foldUsage(row, () => decoded.value);
    this.links.take(row, decoded.value);
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

  /** The entry that begins there, unless its line is damaged, which is marked. */
  #rowAt(offset: number, kind: LineKind): number | undefined {
    const { index, transcript } = this.indexer;
    // Its rows were parsed whole, and have no damage and no references of pi's entries.
    if (transcript !== undefined || kind === "blank") return undefined;
    const { count, rows } = index;
    while (this.#nextRow < count && rows.offset(this.#nextRow) < offset) this.#nextRow += 1;
    const row = this.#nextRow;
    if (row >= count || rows.offset(row) !== offset) return undefined;
    if (kind === "record") return row;
    this.#markDamaged(row, kind);
    return undefined;
  }

  /** Whether the record matches the index; otherwise the entry is marked. */
  #hasId(row: number, id: unknown): boolean {
    const { index, header } = this.indexer;
    const isNamed = id !== undefined && entryForm(header?.version ?? 1) > 1;
    if (!isNamed || id === index.idOf(row)) return true;
    this.#markDamaged(row, "id-changed");
    return false;
  }

  #needOf(row: number): Need {
    const { rows, kinds } = this.indexer.index;
    const number = rows.kind(row);
    const need = (this.#needs[number] ??= this.#needOfKind(kinds.kinds[number]));
    const isOfUsage = need === "answer" || need === "result";
    return isOfUsage && row >= this.#usageRows ? "nothing" : need;
  }

  readLong(offset: number, length: number): DecodedLine {
    if (this.#long?.offset === offset) return this.#long.decoded;
    const bytes = readRange(this.#source, offset, length);
    const decoded = readShallow(bytes, { open: ["message"] });
    this.#long = { offset, decoded };
    return decoded;
  }

  #readWhole(offset: number, length: number): JsonObject | undefined {
    if (length > bodyBytesMax) return undefined;
    const bytes = readFullySync(this.#source, Buffer.allocUnsafe(length), offset);
    const decoded = decodeLine(bytes);
    return decoded.ok ? decoded.value : undefined;
  }

  #needOfKind(kind: Kind | undefined): Need {
    const { type = "", role } = kind ?? {};
    if (type === "message") {
      if (role === "assistant") return "answer";
      return role === "toolResult" ? "result" : "nothing";
    }
    const spends = usage.types?.some((one) => one === type) === true;
    return spends || this.links.reads(type) ? "body" : "nothing";
  }

  #foldUsage(row: number, valueOf: () => JsonObject | undefined): void {
    const isFolded = usage.types?.includes(this.indexer.index.kindOf(row).type) === true;
    const value = isFolded && row < this.#usageRows ? valueOf() : undefined;
    if (value !== undefined) this.folded.usage.apply(row, this.#entry(row, value));
  }

  #foldAnswer(row: number, { model, cost, ...tokens }: ScannedAnswer): void {
    const spent = { ...tokens, cost: { total: cost } };
    const message = { role: "assistant", provider: model.provider, model: model.id, usage: spent };
    // Decoding boundary: all that the fold reads of an answer.
    this.folded.usage.apply(row, { type: "message", message } as unknown as SessionEntry);
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

  #addInvalid(place: LinePlace): void {
    this.invalidUtf8Count += 1;
    if (this.invalidUtf8Count <= diagnosticsMax) this.invalidUtf8.push(place);
  }

  #count(kind: LineKind, place: LinePlace, pieces: () => Iterable<Buffer>): void {
    this.lines += 1;
    if (kind === "record") {
      this.records += 1;
      for (const bytes of wholeCharacters(pieces())) {
        if (isUtf8(bytes)) continue;
        this.#addInvalid(place);
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
