/**
 * Reads the bodies of rows: bytes at the row's place, decoded, brought to the current form, checked
 * to be the entry that the index says. A body that fails makes its row a damaged node and is
 * reported; it is no exception, unless the log was rewritten meanwhile. Bulk reads join rows that
 * are adjacent into large reads and leave the cache alone, so that a walk over a gigabyte keeps the
 * working set.
 */
import {
  decodeLine,
  fill,
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
import { LRUCache } from "lru-cache";
import { currentVersion, entryForm, upcastEntry } from "../dialects/header.ts";
import type { UpcastContext } from "../dialects/header.ts";
import type { SessionEntry } from "../entries/entry-types.ts";
import { BranchlogError } from "../errors.ts";
import type { DiagnosticKind } from "../index-table/diagnostics.ts";
import type { LogIndexer } from "../index-table/log-indexer.ts";
import { rowFlags } from "../index-table/row-table.ts";
import { parentOfRow } from "../index-table/tree-walk.ts";
import type { RowTable } from "../index-table/row-table.ts";
import { bodyBytesMax } from "../limits.ts";

/** Entries above one of a transcript that may say something about it: the call of a result. */
const recordsAboveMax = 64;

/** What a {@link BodyReader} reads from. */
interface BodySource extends DamageSource {
  readonly bytes: ByteSource;
  readonly cache: BodyCache;
  /** Longest line that is built only to see whether it parses, in bytes. */
  readonly lineBytesMax: number;
}

/** A row and its body. */
export interface RowBody {
  readonly row: number;
  readonly entry: SessionEntry;
}

/** Reads the bodies of one generation of a log. */
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

  async entry(row: number): Promise<SessionEntry | undefined> {
    return this.#source.cache.get(row) ?? runReads(this.#source.bytes, this.#entry(row));
  }

  /** The bytes of a row's line, without newline, as they are in the log. */
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
   * As {@link BodyReader.entries}, read by read, for streams of bodies; a batch is to be taken
   * before the next is asked for.
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

  /** The line of a row of a transcript as a session has it. */
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
    // Decoding a body confirms it.
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

  /** Bodies are decoded one by one as they are taken: those that are not taken cost nothing. */
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
    return asEntry(entry);
  }

  #entryIn(row: number, bytes: Buffer, start: number, end: number): JsonObject | string {
    const { indexer } = this.#source;
    if (indexer.transcript === undefined) return entryInLine(indexer, row, bytes, start, end);
    const decoded = decodeLine(bytes, start, end);
    if (!decoded.ok) return decoded.reason;
    const { index } = indexer;
    const entry = indexer.transcript.entryOf(decoded.value, {
      id: index.idOf(row),
      parentId: index.parentIdOf(row),
      timestamp: new Date(index.rows.time(row)).toISOString(),
      above: () => this.#recordsAbove(row),
    });
    return entry ?? "id-changed";
  }

  /** The records of the nearest entries above a row of a transcript, nearest first. */
  *#recordsAbove(row: number): Generator<JsonObject> {
    const { bytes, indexer } = this.#source;
    const { index } = indexer;
    let above = parentOfRow(index, row);
    for (let steps = 0; above >= 0 && steps < recordsAboveMax; steps += 1) {
      if (this.isBuildable(above)) {
        const line = Buffer.allocUnsafe(index.rows.length(above));
        readFullySync(bytes, line, line.length, index.rows.offset(above));
        const decoded = decodeLine(line);
        if (decoded.ok) yield decoded.value;
      }
      above = parentOfRow(index, above);
    }
  }

  /**
   * Reads a bad line once more: what was read may be from a rewrite under way. Only what stays so
   * is damage; then there is nothing.
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

/** The entry in the bytes of a row's line, or why they are not the entry of that row. */
function entryInLine(
  indexer: LogIndexer,
  row: number,
  bytes: Buffer,
  start: number,
  end: number,
): JsonObject | string {
  const decoded = decodeLine(bytes, start, end);
  if (!decoded.ok) return decoded.reason;
  const entry = inCurrentForm(indexer, row, decoded.value);
  const isRows = entry["id"] === indexer.index.idOf(row);
  return isRows && typeof entry["type"] === "string" ? entry : "id-changed";
}

/** The stored value of a row in the current form: the value itself if it has that form. */
export function inCurrentForm(indexer: LogIndexer, row: number, value: JsonObject): JsonObject {
  const isCurrent = (indexer.header?.version ?? currentVersion) >= currentVersion;
  return isCurrent ? value : upcastEntry(value, upcastContext(indexer, row));
}

/** What bringing the row's record into the current form depends on. */
function upcastContext({ index, lines, header }: LogIndexer, row: number): UpcastContext {
  return {
    version: entryForm(header?.version ?? currentVersion),
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

/** A log whose bodies are read. */
interface DamageSource {
  readonly path: string;
  readonly indexer: LogIndexer;
  /** Whether the log still holds what was indexed. */
  readonly isUnchanged: () => boolean;
  /** Called when a row turned out damaged. */
  readonly onDamage: () => void;
}

/**
 * What happens to rows whose bodies cannot be returned: a damaged one stops being a node, one that
 * is too large stays; both are reported, once. If the log was rewritten meanwhile, what was read
 * says nothing about the rows, and that is an error.
 */
class BodyDamage {
  readonly #source: DamageSource;
  /** Rows that were reported as too large. */
  readonly #tooLarge = new Set<number>();

  constructor(source: DamageSource) {
    this.#source = source;
  }

  /**
   * Makes a row a damaged node.
   * @throws BranchlogError `ERR_LOG_GONE` if the log was rewritten.
   */
  markDamaged(row: number, reason: string): void {
    const { path, indexer, isUnchanged, onDamage } = this.#source;
    if (indexer.index.rows.is(row, rowFlags.damaged)) return;
    if (!isUnchanged()) throw rewritten(path);
    indexer.index.markDamaged(row);
    this.#report("damaged-entry", row, reason);
    onDamage();
  }

  /** Says of a row that it is left out because of its size. */
  reportTooLarge(row: number): void {
    if (this.#tooLarge.has(row)) return;
    this.#tooLarge.add(row);
    this.#report("malformed-body", row, "too large for one object; bodyStream reads it");
  }

  /** The error of asking for a row that is too large. */
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

/** One read and the rows, in order, whose lines it covers. */
interface PlannedRead {
  readonly offset: number;
  readonly length: number;
  readonly rows: readonly number[];
}

/** Bytes of a joined read, first and at most; a longer line is read alone. */
const readBytesMin = 64 * 1024;
const readBytesMax: number = 512 * 1024;
/** Bytes between two rows that are cheaper to read over than to skip. */
const gapBytesMax = 16 * 1024;

/**
 * Joins rows that are adjacent in the log, forwards or backwards, into few large reads, lazily and
 * in the order of the rows. Reads start small and double, so that one row costs little.
 */
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

/**
 * Fills `target` from `position` on. Bytes behind the end of the log are zero, which is no JSON.
 */
export function* readWhole(target: Buffer, position: number): Reads<Buffer> {
  const { length } = yield* fill(target, position);
  return length < target.length ? target.fill(0, length) : target;
}

/** Reads `length` bytes into the start of `target`. */
export function readFullySync(
  source: ByteSource,
  target: Buffer,
  length: number,
  position: number,
): void {
  runReadsSync(source, readWhole(target.subarray(0, length), position));
}

export async function readFully(
  source: ByteSource,
  target: Buffer,
  length: number,
  position: number,
): Promise<void> {
  await runReads(source, readWhole(target.subarray(0, length), position));
}

/** Heap bytes per line byte: parsed text is as long as its line, objects around it cost more. */
const heapPerLineByte = 1.5;
const heapPerEntry = 400;

/** What a cache of bodies can do; keys are row numbers of one generation. */
export interface BodyCache {
  get(row: number): SessionEntry | undefined;
  /** As `get`, without counting as a use: for passes over many bodies. */
  peek(row: number): SessionEntry | undefined;
  /** Keeps the body; one that is larger than the whole cache is not kept. */
  set(row: number, entry: SessionEntry, lineBytes: number): void;
  /** Estimated heap bytes held. */
  readonly bytes: number;
}

/** How much of the cache is for what was read once. */
const newShare = 1 / 32;
/** How many bodies are remembered as having been read before, without being kept. */
const rememberedRowsMax = 32_768;

/**
 * A cache of at most `bytesMax` estimated heap bytes. What is read once is kept for a moment only,
 * and for longer when it is read again (2Q: Johnson, Shasha, VLDB 1994), so that a pass over all
 * bodies does not evict the working set.
 */
export function createBodyCache(bytesMax: number): BodyCache {
  const wholeBytesMax = Math.min(Math.floor(bytesMax), Number.MAX_SAFE_INTEGER);
  if (!(wholeBytesMax > heapPerEntry)) return noCache;
  const newBytesMax = Math.ceil(wholeBytesMax * newShare);
  const remembered = new RecentRows();
  const kept = new LRUCache<number, SessionEntry>({ maxSize: wholeBytesMax - newBytesMax });
  const read = new LRUCache<number, SessionEntry>({
    maxSize: newBytesMax,
    dispose: (_, row, reason) => {
      if (reason === "evict") remembered.add(row);
    },
  });
  return {
    get: (row) => kept.get(row) ?? read.peek(row),
    peek: (row) => kept.peek(row) ?? read.peek(row),
    set: (row, entry, lineBytes) => {
      const size = Math.ceil(lineBytes * heapPerLineByte) + heapPerEntry;
      const isReadAgain = remembered.delete(row) || size > newBytesMax;
      const [target, other] = isReadAgain ? [kept, read] : [read, kept];
      other.delete(row);
      target.set(row, entry, { size });
    },
    get bytes() {
      return kept.calculatedSize + read.calculatedSize;
    },
  };
}

/** The rows that were added last. */
class RecentRows {
  readonly #rows = new Set<number>();
  readonly #order: number[] = [];
  #next = 0;

  add(row: number): void {
    const oldest = this.#order[this.#next];
    if (oldest !== undefined) this.#rows.delete(oldest);
    this.#order[this.#next] = row;
    this.#rows.add(row);
    this.#next = (this.#next + 1) % rememberedRowsMax;
  }

  /** Whether it was there. */
  delete(row: number): boolean {
    return this.#rows.delete(row);
  }
}

const noCache: BodyCache = {
  get: () => undefined,
  peek: () => undefined,
  set: () => undefined,
  bytes: 0,
};
