/**
 * The part of `verify` that looks at every line: parses each of them whole, whatever its envelope
 * says, counts them by what they are, and builds an index of its own in which every entry whose
 * line is not that entry is marked as damaged. Reads nothing but lines that were too long to join.
 */
import { decodeLine, readRange, readShallow } from "@branchlog/streaming";
import type { ByteSource, DecodedLine, LineSink, LongLine } from "@branchlog/streaming";
import { inCurrentForm } from "../bodies/body-decoder.ts";
import { entryForm } from "../dialects/header.ts";
import { entryPlace } from "../index-table/entry-place.ts";
import { LogIndexer } from "../index-table/log-indexer.ts";
import { diagnosticsMax } from "../limits.ts";
import type { SessionEntry } from "../entries/entry-types.ts";
import { FoldedProjections } from "../projections/folded.ts";
import { isCutOffRecord } from "./cut-off-record.ts";
import type { BadLine, BadLineKind, DamagedEntry } from "./verify-findings.ts";

/** What a line is. */
type LineKind = "record" | "blank" | BadLineKind;

/** A line that may be that of an entry, until the index has taken it in. */
interface CheckedLine {
  readonly offset: number;
  readonly kind: LineKind;
  /** The id that the record has; undefined where that need not be compared. */
  readonly id: unknown;
}

/** See the file comment. To be fed every line, then {@link LineCheck.batchEnd} once more. */
export class LineCheck implements LineSink {
  readonly indexer: LogIndexer;
  readonly folded: FoldedProjections = new FoldedProjections();
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
  readonly #source: ByteSource;
  /** The line that was read last of those too long to join: index and check both ask for it. */
  #long: { readonly offset: number; readonly decoded: DecodedLine } | undefined;
  #checked: CheckedLine[] = [];
  #nextRow = 0;

  /** @param source Where the lines come from. */
  constructor(source: ByteSource) {
    this.#source = source;
    this.indexer = new LogIndexer({
      readLong: (offset, length) => this.readLong(offset, length),
      onFolded: (row, value) =>
        // Cast: decoding boundary, foreign entries are folded as stored.
        this.folded.apply(row, inCurrentForm(this.indexer, row, value) as unknown as SessionEntry),
    });
  }

  /** How many lines are bad. */
  get badLineCount(): number {
    return Object.values(this.badLineCounts).reduce((sum, count) => sum + count, 0);
  }

  line(bytes: Buffer, start: number, end: number, offset: number, line: number): void {
    this.indexer.line(bytes, start, end, offset, line);
    const decoded = decodeLine(bytes, start, end);
    const kind = kindOf(decoded, () => [bytes.subarray(start, end)]);
    this.#count(kind, { line, offset, length: end - start });
    // Lines of version 1 have no ids; the index makes them from their places.
    const hasId = decoded.ok && entryForm(this.indexer.header?.version ?? 1) > 1;
    this.#checked.push({ offset, kind, id: hasId ? decoded.value["id"] : undefined });
  }

  longLine(long: LongLine, line: number): void {
    const { offset, length } = long;
    this.indexer.longLine(long, line);
    const decoded = this.readLong(offset, length);
    const kind = kindOf(decoded, () => readRange(this.#source, offset, length));
    this.#count(kind, { line, offset, length });
    this.#checked.push({ offset, kind, id: undefined });
  }

  /** Marks the entries among the lines since the last call that turned out to be damaged. */
  batchEnd(): void {
    this.indexer.batchEnd();
    const { index } = this.indexer;
    for (const { offset, kind, id } of this.#checked) {
      while (this.#nextRow < index.count && index.rows.offset(this.#nextRow) < offset) {
        this.#nextRow += 1;
      }
      const row = this.#nextRow;
      if (kind === "blank" || row >= index.count || index.rows.offset(row) !== offset) continue;
      if (kind !== "record") this.#markDamaged(row, kind);
      else if (id !== undefined && id !== index.idOf(row)) this.#markDamaged(row, "id-changed");
    }
    this.#checked = [];
  }

  /** The scalars of a record that is too long to be built, or why it is none. */
  readLong(offset: number, length: number): DecodedLine {
    if (this.#long?.offset === offset) return this.#long.decoded;
    const bytes = readRange(this.#source, offset, length);
    const decoded = readShallow(bytes, { open: ["message"] });
    this.#long = { offset, decoded };
    return decoded;
  }

  #markDamaged(row: number, reason: DamagedEntry["reason"]): void {
    this.indexer.index.markDamaged(row);
    if (this.damagedEntries.length >= diagnosticsMax) return;
    this.damagedEntries.push({ ...entryPlace(this.indexer, row), reason });
  }

  #count(kind: LineKind, place: Omit<BadLine, "reason">): void {
    this.lines += 1;
    if (kind === "record") this.records += 1;
    else if (kind === "blank") this.blank += 1;
    else {
      this.badLineCounts[kind] += 1;
      if (this.badLineCounts[kind] <= diagnosticsMax) {
        this.badLines.push({ ...place, reason: kind });
      }
    }
  }
}

function kindOf(decoded: DecodedLine, bytes: () => Iterable<Uint8Array>): LineKind {
  if (decoded.ok) return "record";
  return decoded.reason === "not-json" && isCutOffRecord(bytes()) ? "torn" : decoded.reason;
}
