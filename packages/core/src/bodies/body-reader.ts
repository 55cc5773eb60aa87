/**
 * Reads the bodies of rows: bytes at the row's place, decoded, brought to the current form, checked
 * to be the entry that the index says. A body that fails makes its row a damaged node and is
 * reported; it is no exception, unless the log was rewritten meanwhile. Bulk reads join rows that
 * stand together into large reads and leave the cache alone, so that a walk over a gigabyte keeps
 * the working set.
 */
import { decodeLine, readRange, readShallow } from "@branchlog/streaming";
import type { ByteSource, JsonObject } from "@branchlog/streaming";
import { entryForm } from "../dialects/header.ts";
import { upcastEntry } from "../dialects/upcast.ts";
import type { UpcastContext } from "../dialects/upcast.ts";
import type { SessionEntry } from "../entries/entry-types.ts";
import { BranchlogError } from "../errors.ts";
import type { DiagnosticKind } from "../index-table/diagnostics.ts";
import type { LogIndexer } from "../index-table/log-indexer.ts";
import { rowFlags } from "../index-table/row-table.ts";
import { bodyBytesMax } from "../limits.ts";
import type { BodyCache } from "./body-cache.ts";
import { planReads } from "./read-plan.ts";
import type { PlannedRead } from "./read-plan.ts";

/** What a {@link BodyReader} reads from. */
export interface BodySource {
  readonly path: string;
  readonly bytes: ByteSource;
  readonly indexer: LogIndexer;
  readonly cache: BodyCache;
  /** Longest line that is built only to see whether it parses, in bytes. */
  readonly lineBytesMax: number;
  /** Makes every body that is handed out immutable, as tests do to find callers who mutate. */
  readonly freeze: boolean;
  /** Whether the log still holds what was indexed; asked when a body fails. */
  readonly isUnchanged: () => boolean;
}

/** A row and its body. */
export interface RowBody {
  readonly row: number;
  readonly entry: SessionEntry;
}

/** See the file comment. */
export class BodyReader {
  readonly #source: BodySource;
  /** Rows that were reported as too large. */
  readonly #tooLarge = new Set<number>();

  constructor(source: BodySource) {
    this.#source = source;
  }

  /**
   * The body of a row, or undefined if it is damaged. O(line); cached.
   * @throws BranchlogError `ERR_ENTRY_TOO_LARGE`, and what the file system throws.
   */
  entrySync(row: number): SessionEntry | undefined {
    const cached = this.#source.cache.get(row);
    if (cached !== undefined) return cached;
    if (this.#source.indexer.index.rows.is(row, rowFlags.damaged)) return undefined;
    const bytes = this.lineSync(row);
    return this.#keep(row, this.#decode(row, bytes, 0, bytes.length));
  }

  /** As {@link BodyReader.entrySync}, without blocking. */
  async entry(row: number): Promise<SessionEntry | undefined> {
    const cached = this.#source.cache.get(row);
    if (cached !== undefined) return cached;
    const { rows } = this.#source.indexer.index;
    if (rows.is(row, rowFlags.damaged)) return undefined;
    const bytes = this.#buffer(row);
    await readFully(this.#source.bytes, bytes, bytes.length, rows.offset(row));
    return this.#keep(row, this.#decode(row, bytes, 0, bytes.length));
  }

  /** The bytes of a row's line, without newline, as they stand in the log. */
  lineSync(row: number): Buffer {
    const bytes = this.#buffer(row);
    readFullySync(
      this.#source.bytes,
      bytes,
      bytes.length,
      this.#source.indexer.index.rows.offset(row),
    );
    return bytes;
  }

  /**
   * The bodies of many rows in the given order. Damaged ones are left out, and so are those too
   * large for one object, which are reported.
   */
  *entriesSync(rows: Iterable<number>): Generator<RowBody> {
    for (const read of planReads(this.#source.indexer.index.rows, this.#buildable(rows))) {
      const bytes = Buffer.allocUnsafe(read.length);
      readFullySync(this.#source.bytes, bytes, read.length, read.offset);
      yield* this.#bodies(read, bytes);
    }
  }

  /** As {@link BodyReader.entriesSync}, without blocking; ends with the signal's reason. */
  async *entries(rows: Iterable<number>, signal?: AbortSignal): AsyncGenerator<RowBody> {
    for (const read of planReads(this.#source.indexer.index.rows, this.#buildable(rows))) {
      signal?.throwIfAborted();
      const bytes = Buffer.allocUnsafe(read.length);
      await readFully(this.#source.bytes, bytes, read.length, read.offset);
      yield* this.#bodies(read, bytes);
    }
  }

  /** Whether the row's line is short enough to be built as one object. */
  isBuildable(row: number): boolean {
    return this.#source.indexer.index.rows.length(row) <= bodyBytesMax;
  }

  /** A stored value of a row as an entry of the current form. */
  currentForm(row: number, value: JsonObject): SessionEntry {
    // Decoding boundary: types say what pi writes; foreign entries are handed out as stored.
    return this.#upcast(row, value) as unknown as SessionEntry;
  }

  /** What bringing the row's record into the current form depends on. */
  upcastContext(row: number): UpcastContext {
    const { index, lines, header } = this.#source.indexer;
    return {
      version: entryForm(header?.version ?? 3),
      id: index.idOf(row),
      parentId: index.parentIdOf(row),
      idAtFileIndex: (record) => {
        const target = lines.rowOfRecord(record);
        if (target < 0) return undefined;
        // pi assigns ids in file order: an index that points forward finds none yet.
        return target > row ? null : index.idOf(target);
      },
    };
  }

  /**
   * Reads a row whole that was indexed from its envelope; a bad one becomes a damaged node. A line
   * over `lineBytesMax` is read token by token instead of being built.
   */
  confirmSync(row: number): void {
    const { indexer, bytes, lineBytesMax } = this.#source;
    const { rows } = indexer.index;
    if (!rows.is(row, rowFlags.provisional)) return;
    if (rows.length(row) <= lineBytesMax) {
      this.entrySync(row);
      return;
    }
    const shallow = readShallow(readRange(bytes, rows.offset(row), rows.length(row)), {});
    if (shallow.ok) rows.mark(row, 0, rowFlags.provisional);
    else this.failed(row, shallow.reason);
  }

  *#bodies(read: PlannedRead, bytes: Buffer): Generator<RowBody> {
    const { index } = this.#source.indexer;
    for (const row of read.rows) {
      if (index.rows.is(row, rowFlags.damaged)) continue;
      const start = index.rows.offset(row) - read.offset;
      const cached = this.#source.cache.get(row);
      const entry = cached ?? this.#decode(row, bytes, start, start + index.rows.length(row));
      if (entry !== undefined) yield { row, entry };
    }
  }

  *#buildable(rows: Iterable<number>): Generator<number> {
    for (const row of rows) {
      if (this.isBuildable(row)) yield row;
      else this.#reportTooLarge(row);
    }
  }

  #reportTooLarge(row: number): void {
    if (this.#tooLarge.has(row)) return;
    this.#tooLarge.add(row);
    this.#report("malformed-body", row, "too large for one object; bodyStream reads it");
  }

  #keep(row: number, entry: SessionEntry | undefined): SessionEntry | undefined {
    if (entry !== undefined) {
      this.#source.cache.set(row, entry, this.#source.indexer.index.rows.length(row));
    }
    return entry;
  }

  #buffer(row: number): Buffer {
    const { index } = this.#source.indexer;
    const length = index.rows.length(row);
    if (!this.isBuildable(row)) {
      const id = index.idOf(row);
      throw new BranchlogError(
        "ERR_ENTRY_TOO_LARGE",
        `Entry ${id} of ${this.#source.path} has ${length} bytes, more than one object can hold. ` +
          "Read it in parts with bodyStream(id) or pick(id, path).",
        { path: this.#source.path, id, offset: index.rows.offset(row) },
      );
    }
    return Buffer.allocUnsafe(length);
  }

  #decode(row: number, bytes: Buffer, start: number, end: number): SessionEntry | undefined {
    const { index } = this.#source.indexer;
    let entry = this.entryIn(row, bytes, start, end);
    if (typeof entry === "string") {
      // What was read may be from the midst of a rewrite; only what stays so is damage.
      const line = this.lineSync(row);
      entry = this.entryIn(row, line, 0, line.length);
      if (typeof entry === "string") return this.failed(row, entry);
    }
    index.rows.mark(row, 0, rowFlags.provisional);
    if (this.#source.freeze) freezeDeep(entry);
    // Decoding boundary: types say what pi writes; foreign entries are handed out as stored.
    return entry as unknown as SessionEntry;
  }

  /** The entry in a line, in the current form, or why the line is not the entry of the row. */
  entryIn(row: number, bytes: Buffer, start: number, end: number): JsonObject | string {
    const decoded = decodeLine(bytes, start, end);
    if (!decoded.ok) return decoded.reason;
    const entry = this.#upcast(row, decoded.value);
    const isRows = entry["id"] === this.#source.indexer.index.idOf(row);
    return isRows && typeof entry["type"] === "string" ? entry : "id-changed";
  }

  #upcast(row: number, value: JsonObject): JsonObject {
    const isCurrent = (this.#source.indexer.header?.version ?? 3) >= 3;
    return isCurrent ? value : upcastEntry(value, this.upcastContext(row));
  }

  /** Makes a row a damaged node and reports it; throws instead if the log was rewritten. */
  failed(row: number, reason: string): undefined {
    const { index } = this.#source.indexer;
    if (index.rows.is(row, rowFlags.damaged)) return;
    if (!this.#source.isUnchanged()) throw rewritten(this.#source.path);
    index.markDamaged(row);
    this.#report("damaged-entry", row, reason);
  }

  #report(kind: DiagnosticKind, row: number, reason: string): void {
    const { index, diagnostics, lines } = this.#source.indexer;
    diagnostics.add({
      kind,
      reason,
      offset: index.rows.offset(row),
      length: index.rows.length(row),
      line: lines.lineOfRow(row),
      id: index.idOf(row),
    });
  }
}

/** What reading a log fails with that another program rewrote meanwhile. */
export function rewritten(path: string): BranchlogError {
  const message = `${path} was rewritten by another program. Refresh the session, then read again.`;
  return new BranchlogError("ERR_LOG_GONE", message, { path });
}

/** Reads exactly `length` bytes; what the file no longer holds stays zero, and fails to parse. */
export function readFullySync(
  source: ByteSource,
  target: Buffer,
  length: number,
  position: number,
): void {
  let done = 0;
  while (done < length) {
    const count = source.readSync(target, done, length - done, position + done);
    if (count === 0) break;
    done += count;
  }
  target.fill(0, done, length);
}

/** As {@link readFullySync}, without blocking. */
export async function readFully(
  source: ByteSource,
  target: Buffer,
  length: number,
  position: number,
): Promise<void> {
  let done = 0;
  while (done < length) {
    const count = await source.read(target, done, length - done, position + done);
    if (count === 0) break;
    done += count;
  }
  target.fill(0, done, length);
}

/** Freezes a JSON value and everything in it. Iterative: bodies may be nested deeply. */
function freezeDeep(value: JsonObject): void {
  const open: object[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    Object.freeze(next);
    for (const inner of Object.values<unknown>({ ...next })) {
      if (typeof inner === "object" && inner !== null) open.push(inner);
    }
  }
}
