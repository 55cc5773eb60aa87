/**
 * Reads the bodies of rows: bytes at the row's place, decoded, brought to the current form, checked
 * to be the entry that the index says. A body that fails makes its row a damaged node and is
 * reported; it is no exception, unless the log was rewritten meanwhile. Bulk reads join rows that
 * stand together into large reads and leave the cache alone, so that a walk over a gigabyte keeps
 * the working set.
 */
import {
  itemsOf,
  passBatches,
  readRange,
  readShallow,
  reusedBuffers,
  runPassSync,
  runReads,
  runReadsSync,
} from "@branchlog/streaming";
import type { ByteSource, JsonObject, Pass, Reads } from "@branchlog/streaming";
import type { UpcastContext } from "../dialects/upcast.ts";
import type { SessionEntry } from "../entries/entry-types.ts";
import type { RowTable } from "../index-table/row-table.ts";
import { rowFlags } from "../index-table/row-table.ts";
import { bodyBytesMax } from "../limits.ts";
import type { BodyCache } from "./body-cache.ts";
import { BodyDamage } from "./body-damage.ts";
import type { DamageSource } from "./body-damage.ts";
import { entryInLine, freezeDeep, inCurrentForm, upcastContext } from "./body-decoder.ts";
import { planReads, readBytesMax } from "./read-plan.ts";
import type { PlannedRead } from "./read-plan.ts";
import { readWhole } from "./whole-read.ts";

export { readFullySync } from "./whole-read.ts";

/** What a {@link BodyReader} reads from. */
export interface BodySource extends DamageSource {
  readonly bytes: ByteSource;
  readonly cache: BodyCache;
  /** Longest line that is built only to see whether it parses, in bytes. */
  readonly lineBytesMax: number;
  /** Makes every body that is handed out immutable, as tests do to find callers who mutate. */
  readonly freeze: boolean;
}

/** A row and its body. */
export interface RowBody {
  readonly row: number;
  readonly entry: SessionEntry;
}

/** See the file comment. */
export class BodyReader {
  readonly #source: BodySource;
  readonly #damage: BodyDamage;
  #confirmedBytes = 0;

  constructor(source: BodySource) {
    this.#source = source;
    this.#damage = new BodyDamage(source);
  }

  /**
   * The body of a row, or undefined if it is damaged. O(line); cached.
   * @throws BranchlogError `ERR_ENTRY_TOO_LARGE`, and what the file system throws.
   */
  entrySync(row: number): SessionEntry | undefined {
    return this.#source.cache.get(row) ?? runReadsSync(this.#source.bytes, this.#entry(row));
  }

  /** As {@link BodyReader.entrySync}, without blocking. */
  async entry(row: number): Promise<SessionEntry | undefined> {
    return this.#source.cache.get(row) ?? runReads(this.#source.bytes, this.#entry(row));
  }

  /** The bytes of a row's line, without newline, as they stand in the log. */
  lineSync(row: number): Buffer {
    return runReadsSync(this.#source.bytes, this.#line(row));
  }

  /**
   * The bodies of many rows in the given order. Damaged ones are left out, and so are those too
   * large for one object, which are reported.
   */
  entriesSync(rows: Iterable<number>): Generator<RowBody, void, undefined> {
    return runPassSync(this.#source.bytes, this.#entries(rows));
  }

  /**
   * As {@link BodyReader.entriesSync}, without blocking, and reading ahead; ends with the signal's
   * reason.
   */
  entries(rows: Iterable<number>, signal?: AbortSignal): AsyncGenerator<RowBody, void, undefined> {
    return itemsOf(this.batches(rows, signal), signal);
  }

  /**
   * As {@link BodyReader.entries}, read by read, for whoever has bodies pass through; a batch is to
   * be taken before the next is asked for.
   */
  batches(
    rows: Iterable<number>,
    signal?: AbortSignal,
  ): AsyncGenerator<Iterable<RowBody>, void, undefined> {
    return passBatches(this.#source.bytes, this.#entries(rows), { signal, readsAhead: true });
  }

  /** Whether the row's line is short enough to be built as one object. */
  isBuildable(row: number): boolean {
    return this.#rows.length(row) <= bodyBytesMax;
  }

  /** A stored value of a row as an entry of the current form. */
  currentForm(row: number, value: JsonObject): SessionEntry {
    return asEntry(inCurrentForm(this.#source.indexer, row, value));
  }

  /** What bringing the row's record into the current form depends on. */
  upcastContext(row: number): UpcastContext {
    return upcastContext(this.#source.indexer, row);
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
   * over `lineBytesMax` is read token by token instead of being built.
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

  /** As {@link BodyReader.confirmSync} for each row, in joined reads, past the cache. */
  confirmAllSync(rows: readonly number[]): void {
    const table = this.#rows;
    const isLong = (row: number): boolean =>
      table.length(row) > this.#source.lineBytesMax || !this.isBuildable(row);
    // Whoever takes a body has it decoded, which confirms it.
    for (const _ of this.entriesSync(rows.filter((row) => !isLong(row)))) continue;
    for (const row of rows) if (isLong(row)) this.confirmSync(row);
  }

  /** Bytes of lines that were known by their envelopes only, and were read whole since. */
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

  *#entry(row: number): Reads<SessionEntry | undefined> {
    if (this.#rows.is(row, rowFlags.damaged)) return undefined;
    const line = yield* this.#line(row);
    const entry = this.#decode(row, line, 0, line.length);
    if (entry !== undefined) this.#source.cache.set(row, entry, line.length);
    return entry;
  }

  #line(row: number): Reads<Buffer> {
    if (!this.isBuildable(row)) throw this.#damage.tooLarge(row);
    return readWhole(Buffer.allocUnsafe(this.#rows.length(row)), this.#rows.offset(row));
  }

  *#entries(rows: Iterable<number>): Pass<RowBody> {
    // Two: bodies are decoded from one while the next read fills the other.
    const targetFor = reusedBuffers(2, readBytesMax);
    for (const read of planReads(this.#rows, rows)) {
      if (this.#isTooLarge(read)) continue;
      const bytes = yield* readWhole(targetFor(read.length), read.offset);
      yield { found: this.#bodies(read, bytes) };
    }
  }

  /** Bodies are decoded one by one as they are taken: those that nobody takes cost nothing. */
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

  /** Whether it is the read of a line that cannot be built; such a line is always read alone. */
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
    if (this.#source.freeze) freezeDeep(entry);
    return asEntry(entry);
  }

  #entryIn(row: number, bytes: Buffer, start: number, end: number): JsonObject | string {
    return entryInLine(this.#source.indexer, row, bytes, start, end);
  }

  /**
   * Reads a bad line once more: what was read may be from the midst of a rewrite. Only what stays
   * so is damage; then there is nothing.
   */
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
