/**
 * Reads the bodies of rows in the current form, and checks that each is the entry of its row. A
 * body that fails makes its row a damaged node and is reported; it throws only if the log was
 * rewritten meanwhile. Bulk reads join adjacent rows and bypass the cache.
 */
import {
  batches,
  decodeLine,
  items,
  itemsSync,
  readFully,
  readRange,
  readShallow,
  readingAhead,
  reusedBuffers,
  runAsync,
  runSync,
} from "@branchlog/streaming";
import type { ByteSource, FindingSteps, JsonObject, Steps } from "@branchlog/streaming";
import { currentVersion, entryForm, upcastEntry } from "../dialects/header.ts";
import type { UpcastContext } from "../dialects/header.ts";
import { migrateLine } from "../dialects/migrate-line.ts";
import type { SessionEntry } from "../entries/entry-types.ts";
import { BranchlogError } from "../errors.ts";
import { findingAt } from "../index-table/diagnostics.ts";
import type { DiagnosticKind } from "../index-table/diagnostics.ts";
import type { LogIndexer } from "../index-table/log-indexer.ts";
import { rowFlags } from "../index-table/row-table.ts";
import { parentOfRow } from "../index-table/tree-walk.ts";
import type { RowTable } from "../index-table/row-table.ts";
import { bodyBytesMax } from "../limits.ts";
import type { BodyCache } from "./body-cache.ts";

/** Entries above one of a transcript that may belong to it, such as the call of a result. */
const recordsAboveMax = 64;

interface BodySource extends DamageSource {
  readonly bytes: ByteSource;
  readonly cache: BodyCache;
  /** Longest line that is built only to see whether it parses. */
  readonly lineBytesMax: number;
}

export interface RowBody {
  readonly row: number;
  readonly entry: SessionEntry;
}

export class BodyReader {
  readonly #source: BodySource;
  readonly #damage: BodyDamage;
  #confirmedBytes = 0;

  constructor(source: BodySource) {
    this.#source = source;
    this.#damage = new BodyDamage(source);
  }

  /** Undefined if the row is damaged. O(line); cached. Throws `ERR_ENTRY_TOO_LARGE`. */
  entrySync(row: number): SessionEntry | undefined {
    return this.#source.cache.get(row) ?? runSync(this.#entry(row));
  }

  async entry(row: number): Promise<SessionEntry | undefined> {
    return this.#source.cache.get(row) ?? runAsync(this.#entry(row));
  }

  lineSync(row: number): Buffer {
    return runSync(this.#line(row));
  }

  /** In the given order. Damaged and too large bodies are omitted; the latter are reported. */
  entriesSync(rows: Iterable<number>): Generator<RowBody, void, undefined> {
    return itemsSync(this.#entries(rows));
  }

  /** As {@link BodyReader.entriesSync}, without blocking, and reading ahead. */
  entries(rows: Iterable<number>, signal?: AbortSignal): AsyncGenerator<RowBody, void, undefined> {
    return items(readingAhead(this.#entries(rows)), signal);
  }

  /** As {@link BodyReader.entries}, read by read; take each batch before requesting the next. */
  batches(
    rows: Iterable<number>,
    signal?: AbortSignal,
  ): AsyncGenerator<Iterable<RowBody>, void, undefined> {
    return batches(readingAhead(this.#entries(rows)), signal);
  }

  isBuildable(row: number): boolean {
    return this.#rows.length(row) <= bodyBytesMax;
  }

  currentForm(row: number, value: JsonObject): SessionEntry {
    return asEntry(inCurrentForm(this.#source.indexer, row, value));
  }

  /** A line of an older version, spliced into the current form. */
  migratedLine(row: number, line: Buffer): Buffer {
    return migrateLine(line, { ...upcastContext(this.#source.indexer, row), kind: "entry" });
  }

  transcriptLine(row: number, line: Buffer): Buffer {
    return Buffer.from(JSON.stringify(this.#entryIn(row, line, 0, line.length)));
  }

  /** The line of a row, if it is its entry: the bytes given, or those of a second read. */
  checkedLine(row: number, read: Buffer): Buffer | undefined {
    const isGood = typeof this.#entryIn(row, read, 0, read.length) !== "string";
    const line = isGood ? read : this.#readAgain(row)?.line;
    if (line !== undefined) this.#confirm(row);
    return line;
  }

  /**
   * Reads a row whole that was indexed from its envelope; a bad one becomes a damaged node. A line
   * over `lineBytesMax` is read token by token.
   */
  confirmSync(row: number): void {
    const { bytes, lineBytesMax } = this.#source;
    const rows = this.#rows;
    if (!rows.is(row, rowFlags.provisional)) return;
    if (rows.length(row) <= lineBytesMax && this.isBuildable(row)) {
      this.entrySync(row);
      return;
    }
    const shallow = readShallow(readRange(bytes, rows.offset(row), rows.length(row)), {});
    if (shallow.ok) this.#confirm(row);
    else this.#damage.markDamaged(row, shallow.reason);
  }

  /** As {@link BodyReader.confirmSync} for each row, in joined reads, bypassing the cache. */
  confirmAllSync(rows: readonly number[]): void {
    const table = this.#rows;
    const isLong = (row: number): boolean =>
      table.length(row) > this.#source.lineBytesMax || !this.isBuildable(row);
    // Decoding a body confirms it.
    for (const _ of this.entriesSync(rows.filter((row) => !isLong(row)))) continue;
    for (const row of rows) if (isLong(row)) this.confirmSync(row);
  }

  /** An entry of this process that it may soon read, as decoding its line would give it. */
  keep(row: number, entry: SessionEntry): void {
    if (this.#rows.is(row, rowFlags.damaged)) return;
    this.#source.cache.keep(row, entry, this.#rows.length(row));
  }

  /** The body if it is in memory, and good. */
  known(row: number): SessionEntry | undefined {
    const entry = this.#source.cache.peek(row);
    return entry === undefined || this.#rows.is(row, rowFlags.damaged) ? undefined : entry;
  }

  get confirmedBytes(): number {
    return this.#confirmedBytes;
  }

  #confirm(row: number): void {
    const rows = this.#rows;
    if (!rows.is(row, rowFlags.provisional)) return;
    rows.mark(row, 0, rowFlags.provisional);
    this.#confirmedBytes += rows.length(row);
  }

  get #rows(): RowTable {
    return this.#source.indexer.index.rows;
  }

  *#entry(row: number): Steps<SessionEntry | undefined> {
    if (this.#rows.is(row, rowFlags.damaged)) return undefined;
    const line = yield* this.#line(row);
    const entry = this.#decode(row, line, 0, line.length);
    if (entry !== undefined) this.#source.cache.set(row, entry, line.length);
    return entry;
  }

  #line(row: number): Steps<Buffer> {
    if (!this.isBuildable(row)) throw this.#damage.tooLarge(row);
    const target = Buffer.allocUnsafe(this.#rows.length(row));
    return readFully(this.#source.bytes, target, this.#rows.offset(row));
  }

  *#entries(rows: Iterable<number>): FindingSteps<RowBody> {
    // Two: one is decoded while the next read fills the other.
    const targetFor = reusedBuffers(2, readBytesMax);
    const source = this.#source.bytes;
    for (const read of planReads(this.#rows, rows)) {
      if (this.#isTooLarge(read)) continue;
      const known = this.#cached(read);
      if (known !== undefined) {
        yield { kind: "found", found: known };
        continue;
      }
      const bytes = yield* readFully(source, targetFor(read.length), read.offset);
      yield { kind: "found", found: this.#bodies(read, bytes) };
    }
  }

  /** Undefined unless all are known. */
  #cached({ rows }: PlannedRead): readonly RowBody[] | undefined {
    const known: RowBody[] = [];
    for (const row of rows) {
      const entry = this.#source.cache.peek(row);
      if (entry === undefined) return undefined;
      if (!this.#rows.is(row, rowFlags.damaged)) known.push({ row, entry });
    }
    return known;
  }

  *#bodies(read: PlannedRead, bytes: Buffer): Generator<RowBody> {
    const rows = this.#rows;
    for (const row of read.rows) {
      if (rows.is(row, rowFlags.damaged)) continue;
      const start = rows.offset(row) - read.offset;
      const cached = this.#source.cache.peek(row);
      const entry = cached ?? this.#decode(row, bytes, start, start + rows.length(row));
      if (entry !== undefined) yield { row, entry };
    }
  }

  #isTooLarge(read: PlannedRead): boolean {
    if (read.length <= bodyBytesMax) return false;
    for (const row of read.rows) this.#damage.reportTooLarge(row);
    return true;
  }

  #decode(row: number, bytes: Buffer, start: number, end: number): SessionEntry | undefined {
    const read = this.#entryIn(row, bytes, start, end);
    const entry = typeof read === "string" ? this.#readAgain(row)?.entry : read;
    if (entry === undefined) return undefined;
    this.#confirm(row);
    return asEntry(entry);
  }

  #entryIn(row: number, bytes: Buffer, start: number, end: number): JsonObject | string {
    const { indexer } = this.#source;
    const { index, transcript } = indexer;
    const decoded = decodeLine(bytes, start, end);
    if (!decoded.ok) return decoded.reason;
    if (transcript === undefined) {
      const entry = inCurrentForm(indexer, row, decoded.value);
      const isRows = entry["id"] === index.idOf(row);
      return isRows && typeof entry["type"] === "string" ? entry : "id-changed";
    }
    const entry = transcript.entryOf(decoded.value, {
      id: index.idOf(row),
      parentId: index.parentIdOf(row),
      timestamp: new Date(index.rows.time(row)).toISOString(),
      above: () => this.#recordsAbove(row),
    });
    return entry ?? "id-changed";
  }

  *#recordsAbove(row: number): Generator<JsonObject> {
    const { index } = this.#source.indexer;
    let above = parentOfRow(index, row);
    for (let steps = 0; above >= 0 && steps < recordsAboveMax; steps += 1) {
      if (this.isBuildable(above)) {
        const decoded = decodeLine(this.lineSync(above));
        if (decoded.ok) yield decoded.value;
      }
      above = parentOfRow(index, above);
    }
  }

  /** The first read may overlap a rewrite. A line that stays bad is damage. */
  #readAgain(row: number): { readonly line: Buffer; readonly entry: JsonObject } | undefined {
    const line = this.lineSync(row);
    const entry = this.#entryIn(row, line, 0, line.length);
    if (typeof entry !== "string") return { line, entry };
    this.#damage.markDamaged(row, entry);
    return undefined;
  }
}

function asEntry(value: JsonObject): SessionEntry {
  // Decoding boundary: types say what pi writes; foreign entries are handed out as stored.
  return value as unknown as SessionEntry;
}

export function inCurrentForm(indexer: LogIndexer, row: number, value: JsonObject): JsonObject {
  const isCurrent = (indexer.header?.version ?? currentVersion) >= currentVersion;
  return isCurrent ? value : upcastEntry(value, upcastContext(indexer, row));
}

function upcastContext({ index, lines, header }: LogIndexer, row: number): UpcastContext {
  return {
    version: entryForm(header?.version ?? currentVersion),
    id: index.idOf(row),
    parentId: index.parentIdOf(row),
    idAtFileIndex: (record) => {
      const target = lines.rowOfRecord(record);
      if (target < 0) return undefined;
      // pi assigns ids in file order: an index that points forward finds no id yet.
      return target > row ? null : index.idOf(target);
    },
  };
}

interface DamageSource {
  readonly path: string;
  readonly indexer: LogIndexer;
  readonly isUnchanged: () => boolean;
  readonly onDamage: () => void;
}

/** Damaged rows stop being nodes, too large ones stay; both are reported once. */
class BodyDamage {
  readonly #source: DamageSource;
  readonly #tooLarge = new Set<number>();

  constructor(source: DamageSource) {
    this.#source = source;
  }

  markDamaged(row: number, reason: string): void {
    const { path, indexer, isUnchanged, onDamage } = this.#source;
    if (indexer.index.rows.is(row, rowFlags.damaged)) return;
    if (!isUnchanged()) throw rewritten(path);
    indexer.index.markDamaged(row);
    this.#report("damaged-entry", row, reason);
    onDamage();
  }

  reportTooLarge(row: number): void {
    if (this.#tooLarge.has(row)) return;
    this.#tooLarge.add(row);
    this.#report("malformed-body", row, "too large for one object; bodyStream reads it");
  }

  tooLarge(row: number): BranchlogError {
    const { path, indexer } = this.#source;
    const { rows } = indexer.index;
    const id = indexer.index.idOf(row);
    return new BranchlogError(
      "ERR_ENTRY_TOO_LARGE",
      `Entry ${id} of ${path} has ${rows.length(row)} bytes, more than one object can hold. ` +
        "Read it in parts with bodyStream(id) or pick(id, path).",
      { path, id, offset: rows.offset(row) },
    );
  }

  #report(kind: DiagnosticKind, row: number, reason: string): void {
    const { indexer } = this.#source;
    indexer.diagnostics.add(findingAt(kind, reason, indexer, row));
  }
}

export function rewritten(path: string): BranchlogError {
  const message = `${path} was rewritten by another program. Refresh the session, then read again.`;
  return new BranchlogError("ERR_LOG_GONE", message, { path });
}

interface PlannedRead {
  readonly offset: number;
  readonly length: number;
  readonly rows: readonly number[];
}

/** Smallest and largest joined read; a longer line is read alone. */
const readBytesMin = 64 * 1024;
const readBytesMax: number = 512 * 1024;
/** Bytes between two rows that are cheaper to read than to skip. */
const gapBytesMax = 16 * 1024;

/** Joins adjacent rows into few large reads, which start small and double: one row is cheap. */
export function* planReads(table: RowTable, rows: Iterable<number>): Generator<PlannedRead> {
  let group: number[] = [];
  let from = 0;
  let to = 0;
  let bytesMax = readBytesMin;
  for (const row of rows) {
    const start = table.offset(row);
    const end = start + table.length(row);
    const near = start >= to ? start - to <= gapBytesMax : end <= from && from - end <= gapBytesMax;
    const [low, high] = [Math.min(from, start), Math.max(to, end)];
    if (group.length > 0 && near && high - low <= bytesMax) {
      [from, to] = [low, high];
    } else {
      if (group.length > 0) yield { offset: from, length: to - from, rows: group };
      bytesMax = group.length > 0 ? Math.min(bytesMax * 2, readBytesMax) : bytesMax;
      group = [];
      [from, to] = [start, end];
    }
    group.push(row);
  }
  if (group.length > 0) yield { offset: from, length: to - from, rows: group };
}
