/**
 * The read state of one generation of a log. It grows by reading from its cursor, or by adopting
 * appended bytes. An unterminated last record that parses is indexed at once, but *pending*: if its
 * line turns out to continue, this state is broken, and its owner starts a new one.
 */
import { isDeepStrictEqual } from "node:util";
import {
  LineFramer,
  decodeLine,
  pause,
  readFullySync,
  readRange,
  readShallow,
  runSync,
  scan,
} from "@branchlog/streaming";
import type { LineRest, LinesSink, Steps } from "@branchlog/streaming";
import { createBodyCache } from "../bodies/body-cache.ts";
import { BodyReader } from "../bodies/body-reader.ts";
import { dialectOfLog } from "../dialects/dialect.ts";
import { dialectFinder } from "../platform/foreign-places.ts";
import type { DialectEvidence, DialectName } from "../dialects/dialect.ts";
import { readTitleSlot, titleSlotBytes } from "../dialects/title-slot.ts";
import type { TitleSlot } from "../dialects/title-slot.ts";
import type { IndexTable, RestoredIndex, SavedIndex } from "../index-table/index-table.ts";
import { LogIndexer } from "../index-table/log-indexer.ts";
import type { SavedLog } from "../index-table/log-indexer.ts";
import type { IndexedHeader } from "../index-table/transcript-indexer.ts";
import { rowFlags } from "../index-table/row-table.ts";
import { yieldEveryMs } from "../limits.ts";
import { FoldedProjections } from "../projections/folded.ts";
import type { SavedFolded } from "../projections/folded.ts";
import { nameInForce } from "../projections/name.ts";
import type { LogFile } from "../platform/log-file.ts";
import type { FileStat } from "../platform/ports.ts";
import {
  FingerprintingReader,
  continues,
  fingerprintOf,
  matchesFingerprint,
} from "./fingerprint.ts";
import type { LogFingerprint, LogIdentity } from "./fingerprint.ts";
import { nextUnsettled } from "./unsettled-rows.ts";

export interface ReadOptions {
  readonly lineBytesMax: number;
  readonly bodyCacheBytesMax: number;
}

const sampleBytes = 8 * 1024 * 1024;
/** A little more than estimated: growing once more would cost all that reserving saves. */
const reservedShare = 1.02;

interface Pending {
  readonly offset: number;
  readonly length: number;
  readonly row: number;
}

export class LogState {
  readonly indexer: LogIndexer;
  readonly bodies: BodyReader;
  readonly folded: FoldedProjections = new FoldedProjections();
  readonly file: LogFile;
  readonly lineBytesMax: number;
  #framer: LineFramer;
  #trail: FingerprintingReader;
  #pending: Pending | undefined;
  #broken = false;
  #settledRows = 0;
  #identity: LogIdentity | undefined;
  #titleSlot: TitleSlot | undefined;
  /** With its source: each append asks for it. */
  #dialect: KnownDialect | undefined;
  readonly #dialectOfPlace: () => DialectName | undefined;

  constructor(file: LogFile, options: ReadOptions, onDamage: () => void) {
    this.file = file;
    this.lineBytesMax = options.lineBytesMax;
    let dialectAt: ReturnType<typeof dialectFinder> | undefined;
    this.#dialectOfPlace = () => (dialectAt ??= dialectFinder())(file.path);
    this.#trail = new FingerprintingReader(file);
    this.#framer = new LineFramer({ lineBytesMax: options.lineBytesMax });
    this.indexer = new LogIndexer({
      readLong: (offset, length) =>
        readShallow(readRange(file, offset, length), { open: ["message"] }),
      onFolded: (row, value) => this.folded.apply(row, this.bodies.currentForm(row, value)),
      transcriptPath: file.path,
    });
    this.bodies = new BodyReader({
      path: file.path,
      bytes: file,
      indexer: this.indexer,
      cache: createBodyCache(options.bodyCacheBytesMax),
      lineBytesMax: options.lineBytesMax,
      isUnchanged: () => this.#identity === undefined || matchesFingerprint(file, this.#identity),
      onDamage,
    });
  }

  get index(): IndexTable {
    return this.indexer.index;
  }

  get end(): number {
    return this.#framer.offset;
  }

  get committedEnd(): number {
    return this.#framer.committedOffset;
  }

  /** The bytes after the last newline, or null. */
  get rest(): LineRest | null {
    return this.#framer.rest();
  }

  get isTerminated(): boolean {
    return !this.#framer.hasRest;
  }

  get pendingRow(): number {
    return this.#pending?.row ?? -1;
  }

  /** Entries accepted so far: a pending one does not count before its newline. */
  get revision(): number {
    return this.index.count - (this.pendingRow >= 0 ? 1 : 0);
  }

  get titleSlot(): TitleSlot | undefined {
    return this.#titleSlot;
  }

  get name(): string | undefined {
    const { transcript, format } = this.indexer;
    if (transcript !== undefined) return format?.indexedName?.(this.file.path) ?? transcript.name;
    const { header } = this.indexer.header ?? {};
    return nameInForce({ slot: this.#titleSlot, given: this.folded.name, header });
  }

  get dialect(): DialectName {
    const { header } = this.indexer.header ?? {};
    const { dialect: ofEntries } = this.folded;
    const hasTitleSlot = this.#titleSlot !== undefined;
    const known = this.#dialect;
    const isKnown = known?.header === header && known?.ofEntries === ofEntries;
    if (known !== undefined && isKnown && known.hasTitleSlot === hasTitleSlot) return known.name;
    const name = dialectOfLog({ hasTitleSlot, header, ofEntries, ofPlace: this.#dialectOfPlace });
    this.#dialect = { name, hasTitleSlot, header, ofEntries };
    return name;
  }

  get isBroken(): boolean {
    return this.#broken || this.indexer.isAdding;
  }

  /** Views that change with the state; null while the log ends within a line. */
  save(): SavedState | null {
    const isWhole = this.isTerminated && this.#pending === undefined && !this.#broken;
    if (!isWhole || !this.#hasTrail) return null;
    return {
      indexer: this.indexer.save(),
      folded: this.folded.save(),
      settledRows: this.#settledRows,
      end: this.end,
      lineNumber: this.#framer.lineNumber,
    };
  }

  restore(saved: SavedState<RestoredIndex>, header: IndexedHeader, bytes: LogFingerprint): void {
    const { end: offset, lineNumber } = saved;
    this.#framer = new LineFramer({ offset, lineNumber, lineBytesMax: this.lineBytesMax });
    this.#trail = new FingerprintingReader(this.file, bytes);
    this.#settledRows = saved.settledRows;
    const options = { lineBytesMax: this.lineBytesMax, bodyCacheBytesMax: 0 };
    this.indexer.restore(saved.indexer, header, () => {
      const anew = new LogState(this.file, options, () => undefined);
      runSync(anew.read(this.end));
      return anew.indexer;
    });
    this.folded.restore(saved.folded);
  }

  get fingerprintOf(): LogFingerprint {
    return this.#trail.bytes;
  }

  /** Throws {@link DamagedCheckpoint}; the state is broken then. */
  *read(to: number): Steps<void> {
    const sink = this.#sink();
    const sampled = Math.min(to, this.end + sampleBytes);
    const sample = { from: this.end, to: sampled, yieldEveryMs };
    yield* scan(this.#trail, this.#framer, sink, sample);
    yield* this.#reserve(to);
    yield* scan(this.#trail, this.#framer, sink, { from: this.end, to, yieldEveryMs });
    this.#endRead();
    while (!this.#settleSome()) yield pause;
  }

  /**
   * Without reading the bytes back. A newline at their start may have ended another writer's line.
   * Throws {@link DamagedCheckpoint}; the state is broken then.
   * @returns The first of the rows that begin in them.
   */
  adopt(bytes: Buffer): number {
    const { index, end, isTerminated } = this;
    const added = index.count;
    this.#framer.push(bytes, this.#sink());
    this.#trail.add(bytes);
    const firstRow = isTerminated ? added : index.rows.firstFrom(end);
    // Lines written by this process are not provisional.
    for (let row = firstRow; row < index.count; row += 1) {
      index.rows.mark(row, 0, rowFlags.provisional);
    }
    while (!this.#settleSome());
    return firstRow;
  }

  remember({ dev, ino }: FileStat): void {
    if (!this.#hasTrail) {
      this.#trail = new FingerprintingReader(this.file, fingerprintOf(this.file, this.end));
    }
    const { cursor, beforeCursor, start } = this.#trail.bytes;
    this.#identity = { dev, ino, cursor, beforeCursor, start };
  }

  /** Whether the log with `stat` continues this one; if so, reads its title slot. */
  confirm(stat: FileStat): boolean {
    const identity = this.#identity;
    return identity !== undefined && this.readTitleSlot(() => continues(this.file, stat, identity));
  }

  /** The slot, which is written in place, counts if `isOfLog`, called after the read, is true. */
  readTitleSlot(isOfLog: () => boolean = () => true): boolean {
    const now = this.#titleSlotNow();
    const isOurs = isOfLog();
    if (isOurs) this.#titleSlot = now;
    return isOurs;
  }

  hasSameTitleSlot(): boolean {
    return isDeepStrictEqual(this.#titleSlotNow(), this.#titleSlot);
  }

  #titleSlotNow(): TitleSlot | undefined {
    if ((this.indexer.header?.offset ?? 0) < titleSlotBytes) return undefined;
    return readTitleSlot(readFullySync(this.file, Buffer.alloc(titleSlotBytes), 0));
  }

  /** A failed read may have advanced the trail past the cursor. */
  get #hasTrail(): boolean {
    return this.#trail.bytes.cursor === this.end;
  }

  *#reserve(to: number): Steps<void> {
    const left = to - this.end;
    if (left < sampleBytes) return;
    const { count } = this.index;
    yield* this.index.reserve(count + Math.ceil((count / this.end) * left * reservedShare));
  }

  /** Lines go straight to the indexer, except for one indexed as pending. */
  #sink(): LinesSink {
    const pending = this.#pending;
    if (pending === undefined) return this.indexer;
    const { indexer } = this;
    const completes = (offset: number, length: number): boolean => {
      if (offset !== pending.offset) return false;
      this.#pending = undefined;
      if (length !== pending.length) this.#broken = true;
      return true;
    };
    return {
      addLines: (bytes, start, end, offset, lineNumber) =>
        completes(offset, end - start)
          ? 1
          : indexer.addLines(bytes, start, end, offset, lineNumber),
      longLine: (line, lineNumber) => {
        if (!completes(line.offset, line.length)) indexer.longLine(line, lineNumber);
      },
      batchEnd: () => indexer.batchEnd(),
    };
  }

  #endRead(): void {
    this.#framer.release();
    const rest = this.#framer.rest();
    if (rest === null || rest.bytes === null || this.#broken) return;
    if (this.#pending !== undefined) {
      this.#broken = rest.length !== this.#pending.length;
      return;
    }
    if (!decodeLine(rest.bytes).ok) return;
    const { bytes, offset, lineNumber, length } = rest;
    const before = this.index.count;
    this.indexer.addLines(bytes, 0, bytes.length, offset, lineNumber);
    this.indexer.batchEnd();
    const row = this.index.count > before ? before : -1;
    this.#pending = { offset, length, row };
  }

  /** True once no row is left that must be verified before a leaf is set to it. */
  #settleSome(): boolean {
    const { rows, settledRows } = nextUnsettled(this.index, this.#settledRows);
    if (rows.length > 0) this.bodies.confirmAllSync(rows);
    this.#settledRows = settledRows;
    return rows.length === 0;
  }
}

interface KnownDialect extends Omit<DialectEvidence, "ofPlace"> {
  readonly name: DialectName;
}

export interface SavedState<Index = SavedIndex> {
  readonly indexer: SavedLog<Index>;
  readonly folded: SavedFolded;
  readonly settledRows: number;
  readonly end: number;
  readonly lineNumber: number;
}
