/**
 * Turns lines into index rows, the header and diagnostics. Pure. Most lines are indexed from their
 * envelope alone; entries that projections fold while reading are parsed whole and passed on. Bad
 * lines are skipped and reported.
 */
import { decodeLine, scanFlags, scanLines, scanLongLine } from "@branchlog/streaming";
import type {
  DecodedLine,
  JsonObject,
  LinesSink,
  LongLine,
  ScannedKind,
  ScannedRows,
} from "@branchlog/streaming";
import { entryForm } from "../dialects/header.ts";
import { agentNamed, formatOf } from "../dialects/agent.ts";
import type { TranscriptFormat } from "../dialects/agent.ts";
import { malformed } from "../entries/saved-fields.ts";
import { isOfSession, readRecord, titleSlotType } from "../dialects/log-record.ts";
import type { LogRecord } from "../dialects/log-record.ts";
import { legacyEntryId } from "../dialects/migrate-line.ts";
import { recordsBesideDebris } from "../dialects/transcript-records.ts";
import type { Transcript } from "../dialects/transcript.ts";
import { headBytesMax, headLinesMax } from "../limits.ts";
import { DiagnosticLog, findingAt } from "./diagnostics.ts";
import type { SavedDiagnostics } from "./diagnostics.ts";
import { foldedTypes, kindOfValue, parsingNeedOf, rowFlagsOf, timeOfValue } from "./row-facts.ts";
import type { ParsingNeed } from "./row-facts.ts";
import { rootHandle, LineMap } from "./row-table.ts";
import { TranscriptIndexer } from "./transcript-indexer.ts";
import type { IndexedHeader, LinePlace, SavedTranscript } from "./transcript-indexer.ts";
import { IndexTable } from "./index-table.ts";
import type { RestoredIndex, SavedIndex } from "./index-table.ts";
import type { SavedLines, RowFacts } from "./row-table.ts";

interface LogIndexerOptions {
  readonly readLong: (offset: number, length: number) => DecodedLine;
  /** Called with each entry of {@link foldedTypes}, as stored, once it is indexed. */
  readonly onFolded: (row: number, value: JsonObject) => void;
  readonly transcriptPath?: string | undefined;
}

type EntryRecord = Extract<LogRecord, { readonly kind: "entry" }>;

/** All but the header itself, which is read again. */
export interface SavedLog<Index = SavedIndex> {
  readonly index: Index;
  readonly lines: SavedLines;
  readonly diagnostics: SavedDiagnostics;
  readonly entriesBeforeHeader: number;
  readonly transcript: SavedTranscript | undefined;
}

/** While lines are added: a page of a checkpoint is not what was saved. */
export class DamagedCheckpoint extends Error {}

export class LogIndexer implements LinesSink {
  readonly index: IndexTable = new IndexTable((row, earlier) => {
    const offset = this.index.rows.offset(earlier);
    const reason = `hides the entry with the same id at byte ${offset}`;
    this.diagnostics.add(findingAt("duplicate-id", reason, this, row));
  });
  readonly diagnostics: DiagnosticLog = new DiagnosticLog();
  readonly lines: LineMap = new LineMap();
  readonly #options: LogIndexerOptions;
  /** The row being made: one object for all, instead of garbage per row. */
  readonly #facts = {
    offset: 0,
    length: 0,
    handle: 0,
    parentHandle: 0,
    kind: 0,
    time: 0,
    flags: 0,
  };
  #scannedKinds: readonly ScannedKind[] = [];
  #indexedAs: IndexedAs[] = [];
  #header: IndexedHeader | undefined;
  /** v1 has no ids in its envelopes. */
  #readsEnvelopes = false;
  #entriesBeforeHeader = 0;
  #previousHandle = rootHandle;
  #transcript: TranscriptIndexer | undefined;
  #isSession = false;
  #isAdding = false;
  /** Add the records of damaged lines before the first known record. */
  #early: ((transcript: TranscriptIndexer) => void)[] = [];

  constructor(options: LogIndexerOptions) {
    this.#options = options;
  }

  get header(): IndexedHeader | undefined {
    return this.#transcript === undefined ? this.#header : this.#transcript.header;
  }

  /** That of the transcript; undefined for a session. */
  get format(): TranscriptFormat | undefined {
    return this.#transcript?.format;
  }

  get transcript(): Transcript | undefined {
    return this.#transcript?.transcript;
  }

  get entriesBeforeHeader(): number {
    return this.#entriesBeforeHeader;
  }

  save(): SavedLog {
    return {
      index: this.index.save(),
      lines: this.lines.save(),
      diagnostics: this.diagnostics.save(),
      entriesBeforeHeader: this.#entriesBeforeHeader,
      transcript: this.#transcript?.save(),
    };
  }

  /**
   * Only before any line is added. Throws `TypeError` for a transcript that was not saved.
   * @param again An indexer of the same lines, for an index a page of which is damaged.
   */
  restore(saved: SavedLog<RestoredIndex>, header: IndexedHeader, anew: () => LogIndexer): void {
    this.index.restore(saved.index, () => {
      // The lines that are being added belong to neither.
      if (this.#isAdding) throw new DamagedCheckpoint("a page of a checkpoint is damaged");
      this.#become(anew());
    });
    this.lines.restore(saved.lines);
    this.diagnostics.restore(saved.diagnostics);
    this.#entriesBeforeHeader = saved.entriesBeforeHeader;
    const { count } = this.index;
    this.#previousHandle = count === 0 ? rootHandle : this.index.rows.handle(count - 1);
    if (saved.transcript === undefined) return this.#setHeader(header);
    const { agent, state } = saved.transcript;
    const format = agentNamed(agent)?.transcripts;
    if (format === undefined) throw malformed("transcript");
    this.#startTranscript(format).restore(state, header);
  }

  /** Takes the index of another indexer of the same lines, which is no longer used. */
  #become(other: LogIndexer): void {
    this.#indexedAs = [];
    this.#previousHandle = other.#previousHandle;
    if (other.#transcript !== undefined) this.#transcript?.becomes(other.#transcript);
    this.index.become(other.index);
  }

  /** Also after it failed. */
  get isAdding(): boolean {
    return this.#isAdding;
  }

  addLines(bytes: Buffer, start: number, end: number, offset: number, lineNumber: number): number {
    let next = lineNumber;
    this.#isAdding = true;
    scanLines(bytes, start, end, (rows) => {
      const base = offset - start + rows.shift;
      for (let row = 0; row < rows.count; row += 1, next += 1) {
        const at = rows.start[row] ?? 0;
        const length = rows.length[row] ?? 0;
        const place = base + at;
        if (this.#addScanned(rows, row, place, length, next)) continue;
        const decoded = decodeLine(rows.bytes, at, at + length);
        this.#addDecoded(decoded, { offset: place, length, lineNumber: next });
        if (!decoded.ok && this.#mayHoldRecords(place, next)) {
          this.#salvage(rows.bytes, at, length, { offset: place, length, lineNumber: next });
        }
      }
    });
    this.#isAdding = false;
    return next - lineNumber;
  }

  longLine(line: LongLine, lineNumber: number): void {
    const { offset, length } = line;
    let isAdded = false;
    this.#isAdding = true;
    scanLongLine(line, (rows) => {
      isAdded = this.#addScanned(rows, 0, offset, length, lineNumber);
    });
    if (!isAdded) {
      this.#addDecoded(this.#options.readLong(offset, length), { offset, length, lineNumber });
    }
    this.#isAdding = false;
  }

  batchEnd(): void {
    this.#isAdding = true;
    this.index.linkPendingRows();
    this.#isAdding = false;
  }

  #addScanned(
    rows: ScannedRows,
    row: number,
    offset: number,
    length: number,
    lineNumber: number,
  ): boolean {
    const flags = rows.flags[row] ?? 0;
    if ((flags & scanFlags.trusted) === 0 || !this.#readsEnvelopes) return false;
    if (this.#scannedKinds !== rows.kinds) {
      this.#scannedKinds = rows.kinds;
      this.#indexedAs = [];
    }
    const scanned = rows.kind[row] ?? 0;
    const { kind, parse } = this.#indexedAs[scanned] ?? this.#learnKind(scanned);
    if (parse === "always" || (parse === "unless flat" && (flags & scanFlags.flat) === 0)) {
      return false;
    }
    const facts = this.#facts;
    facts.offset = offset;
    facts.length = length;
    facts.kind = kind;
    facts.flags = rowFlagsOf[flags] ?? 0;
    const isExact = (flags & scanFlags.exactTime) !== 0;
    facts.time = isExact
      ? (rows.time[row] ?? 0)
      : Date.parse(rows.bytes.toString("latin1", rows.timeStart[row], rows.timeEnd[row]));
    if ((flags & scanFlags.words) !== 0) {
      facts.handle = rows.id[row] ?? 0;
      facts.parentHandle = rows.parent[row] ?? 0;
      this.lines.addRow(this.index.addWords(facts), lineNumber);
      return true;
    }
    const { index } = this;
    index.linkPendingRows();
    const { ids } = index;
    const { bytes, parentStart, parentEnd, idStart, idEnd } = rows;
    facts.parentHandle =
      (flags & scanFlags.root) !== 0
        ? rootHandle
        : ids.addBytes(bytes, parentStart[row] ?? 0, parentEnd[row] ?? 0);
    facts.handle = ids.addBytes(bytes, idStart[row] ?? 0, idEnd[row] ?? 0);
    this.#addRow(facts, lineNumber);
    return true;
  }

  /** Learnt on first use, so that only kinds in this log are numbered. */
  #learnKind(scanned: number): IndexedAs {
    const kind = this.#scannedKinds[scanned];
    if (kind === undefined) throw new RangeError(`no scanned kind ${scanned}`);
    const learnt = { kind: this.index.kinds.add(kind), parse: parsingNeedOf(kind) };
    this.#indexedAs[scanned] = learnt;
    return learnt;
  }

  #addDecoded(decoded: DecodedLine, place: LinePlace): void {
    this.index.linkPendingRows();
    if (!decoded.ok) {
      if (decoded.reason !== "blank") this.#report("bad-line", decoded.reason, place);
      return;
    }
    const { value } = decoded;
    const transcript = this.#transcriptOf(value);
    if (transcript !== undefined) return transcript.add(value, place);
    const record = readRecord(value, entryForm(this.#header?.version ?? 3));
    if (record.kind === "header" || record.kind === "bad-header") this.#addHeader(record, place);
    else if (this.#header === undefined) this.#addBeforeHeader(value, place);
    else if (record.kind === "entry") this.#addEntry(record, value, place);
    else {
      this.lines.addOtherRecord();
      if (record.kind === "other")
        this.#report("not-an-entry", "type and id are not both strings", place);
    }
  }

  /** In the head of a file, also before a record decides whose log it is. */
  #mayHoldRecords(offset: number, lineNumber: number): boolean {
    if (this.#transcript !== undefined) return true;
    const isUndecided = !this.#isSession && this.#header === undefined;
    const isInHead = offset < headBytesMax && lineNumber <= headLinesMax;
    return isUndecided && isInHead && this.#options.transcriptPath !== undefined;
  }

  /**
   * Adds the whole records of a damaged line. Such a line never decides whose log it is: records
   * before the first one that does wait for it.
   */
  #salvage(bytes: Buffer, start: number, length: number, place: LinePlace): void {
    for (const record of recordsBesideDebris(bytes, start, start + length, place.lineNumber)) {
      const offset = place.offset + record.start - start;
      const recordPlace = { ...place, offset, length: record.end - record.start };
      const add = (transcript: TranscriptIndexer): void =>
        transcript.add(record.value, recordPlace, record.line);
      if (this.#transcript === undefined) this.#early.push(add);
      else add(this.#transcript);
    }
  }

  /** The first known record decides whose log it is. */
  #transcriptOf(value: JsonObject): TranscriptIndexer | undefined {
    if (this.#transcript !== undefined) return this.#transcript;
    const isUnknown = !this.#isSession && this.#header === undefined;
    if (!isUnknown || this.#options.transcriptPath === undefined) return undefined;
    this.#isSession = isOfSession(value);
    if (this.#isSession) this.#early = [];
    const format = this.#isSession ? undefined : formatOf(value);
    if (format === undefined) return undefined;
    const transcript = this.#startTranscript(format);
    for (const add of this.#early) add(transcript);
    this.#early = [];
    return transcript;
  }

  #startTranscript(format: TranscriptFormat): TranscriptIndexer {
    const { transcriptPath = "" } = this.#options;
    this.#transcript = new TranscriptIndexer(this, format, transcriptPath);
    return this.#transcript;
  }

  #addHeader(record: LogRecord, place: LinePlace): void {
    this.lines.addOtherRecord();
    if (this.#header !== undefined) {
      this.#report("second-header", "only the first session record counts", place);
    } else if (record.kind === "header") {
      this.#setHeader({ header: record.header, version: record.version, ...place });
    } else {
      this.#report("bad-line", "a session record without a string id", place);
    }
  }

  #setHeader(header: IndexedHeader): void {
    this.#header = header;
    this.#readsEnvelopes = entryForm(header.version) > 1;
  }

  #addBeforeHeader(value: JsonObject, place: LinePlace): void {
    const type = value["type"];
    // A title slot is not a record by the file's own numbering: the header is 0.
    if (type === titleSlotType) return;
    this.lines.addOtherRecord();
    if (typeof type === "string" && (typeof value["id"] === "string" || "message" in value)) {
      this.#entriesBeforeHeader += 1;
    }
    this.#report("before-header", "a record before the session header is not indexed", place);
  }

  #addEntry({ type, id: ownId }: EntryRecord, value: JsonObject, place: LinePlace): void {
    const legacy = entryForm(this.#header?.version ?? 3) === 1;
    const id =
      legacy || ownId === null
        ? legacyEntryId(this.#header?.header.id ?? "", place.lineNumber)
        : ownId;
    const handle = this.index.ids.add(id);
    const parentId = value["parentId"];
    const known = typeof parentId === "string" && parentId !== "";
    const ownParent = known ? this.index.ids.add(parentId) : rootHandle;
    const row = this.#addRow(
      {
        offset: place.offset,
        length: place.length,
        handle,
        parentHandle: legacy ? this.#previousHandle : ownParent,
        kind: this.index.kinds.add(kindOfValue(type, value, this.#header?.version ?? 3)),
        time: timeOfValue(value["timestamp"]),
        flags: 0,
      },
      place.lineNumber,
    );
    if (foldedTypes.has(type)) this.#options.onFolded(row, value);
  }

  #addRow(facts: RowFacts, lineNumber: number): number {
    this.#previousHandle = facts.handle;
    this.lines.addRow(this.index.count, lineNumber);
    return this.index.add(facts);
  }

  #report(
    kind: "bad-line" | "not-an-entry" | "second-header" | "before-header" | "duplicate-id",
    reason: string,
    place: LinePlace,
  ): void {
    const { offset, length, lineNumber } = place;
    this.diagnostics.add({ kind, reason, offset, length, line: lineNumber });
  }
}

interface IndexedAs {
  readonly kind: number;
  readonly parse: ParsingNeed;
}
