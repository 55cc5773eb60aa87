/**
 * Turns the lines of a log into index rows, the header and diagnostics. Pure: it is fed lines and
 * holds no file. Most lines are indexed from their envelope alone; entries that projections fold
 * while the log is read are parsed whole and handed on. Bad lines are skipped and reported.
 */
import { EnvelopeReader, decodeLine } from "@branchlog/streaming";
import type { DecodedLine, JsonObject, LineSink, LongLine } from "@branchlog/streaming";
import { tellingTypes } from "../dialects/dialect.ts";
import { entryForm } from "../dialects/header.ts";
import { readRecord, titleSlotType } from "../dialects/log-record.ts";
import type { LogRecord } from "../dialects/log-record.ts";
import { legacyEntryId } from "../dialects/migrate-line.ts";
import { modelRole } from "../dialects/model-reference.ts";
import type { SessionHeader } from "../entries/entry-types.ts";
import { DiagnosticLog } from "./diagnostics.ts";
import type { SavedDiagnostics } from "./diagnostics.ts";
import { hexWord, isHexWord, rootHandle } from "./id-table.ts";
import { IndexTable } from "./index-table.ts";
import type { SavedIndex } from "./index-table.ts";
import { IsoTimeReader, isoTimeOf } from "./iso-time.ts";
import type { Kind } from "./kind-table.ts";
import { LineMap } from "./line-map.ts";
import type { SavedLines } from "./line-map.ts";
import { rowFlags } from "./row-table.ts";
import type { RowFacts } from "./row-table.ts";

/** The header and its place in the log. */
export interface IndexedHeader {
  readonly header: SessionHeader;
  /** 1 to 3, or more for files of a newer version. */
  readonly version: number;
  readonly offset: number;
  readonly length: number;
  readonly lineNumber: number;
}

/** Where the indexer gets and gives what is not in the lines themselves. */
interface LogIndexerOptions {
  /** Facts of a record that is too long to be built: its top-level scalars. */
  readonly readLong: (offset: number, length: number) => DecodedLine;
  /** Called with each entry of {@link foldedTypes}, as stored, once it is indexed. */
  readonly onFolded: (row: number, value: JsonObject) => void;
}

type EntryRecord = Extract<LogRecord, { readonly kind: "entry" }>;

interface LinePlace {
  readonly offset: number;
  readonly length: number;
  readonly lineNumber: number;
}

/** The saved state of an indexer: all but the header itself, which is read again. */
export interface SavedLog {
  readonly index: SavedIndex;
  readonly lines: SavedLines;
  readonly diagnostics: SavedDiagnostics;
  readonly entriesBeforeHeader: number;
}

/** See the file comment. */
export class LogIndexer implements LineSink {
  readonly index: IndexTable = new IndexTable((row, earlier) =>
    this.#reportDuplicate(row, earlier),
  );
  readonly diagnostics: DiagnosticLog = new DiagnosticLog();
  readonly lines: LineMap = new LineMap();
  readonly #options: LogIndexerOptions;
  readonly #envelope = new EnvelopeReader();
  readonly #times = new IsoTimeReader();
  /** The row being made: one object for all, as a million of them would be garbage. */
  readonly #facts = {
    offset: 0,
    length: 0,
    handle: 0,
    parentHandle: 0,
    kind: 0,
    time: 0,
    flags: 0,
  };
  /** Per kind number: whether its lines are parsed whole. */
  readonly #parseWhole: boolean[] = [];
  #header: IndexedHeader | undefined;
  /** Whether lines may be indexed from their envelopes: v1 has no ids there. */
  #readsEnvelopes = false;
  /** Entry lines seen before any header, to tell a damaged header from no session at all. */
  #entriesBeforeHeader = 0;
  #previousHandle = rootHandle;

  constructor(options: LogIndexerOptions) {
    this.#options = options;
  }

  /** The first `session` record, once it has been read. */
  get header(): IndexedHeader | undefined {
    return this.#header;
  }

  /** How many entry-like records are before the header, or in a log without one. */
  get entriesBeforeHeader(): number {
    return this.#entriesBeforeHeader;
  }

  /** The state, as arrays that change with it. */
  save(): SavedLog {
    return {
      index: this.index.save(),
      lines: this.lines.save(),
      diagnostics: this.diagnostics.save(),
      entriesBeforeHeader: this.#entriesBeforeHeader,
    };
  }

  /** Continues from the saved state of a log with this header; nothing was read so far. */
  restore(saved: SavedLog, header: IndexedHeader): void {
    this.index.restore(saved.index);
    this.lines.restore(saved.lines);
    this.diagnostics.restore(saved.diagnostics);
    this.#entriesBeforeHeader = saved.entriesBeforeHeader;
    const { count } = this.index;
    this.#previousHandle = count === 0 ? rootHandle : this.index.rows.handle(count - 1);
    this.#setHeader(header);
  }

  line(bytes: Buffer, start: number, end: number, offset: number, lineNumber: number): void {
    if (this.#readsEnvelopes && this.#envelope.read(bytes, start, end)) {
      const kind = this.#fastKind();
      if (kind >= 0) {
        this.#addEnvelope(kind, offset, end - start, lineNumber);
        return;
      }
    }
    this.#addDecoded(decodeLine(bytes, start, end), { offset, length: end - start, lineNumber });
  }

  batchEnd(): void {
    this.index.linkPendingRows();
    // A session that waits for its next entry keeps no chunk of what it read.
    this.#envelope.release();
  }

  longLine(line: LongLine, lineNumber: number): void {
    const { offset, length } = line;
    if (this.#readsEnvelopes && this.#envelope.readLong(line)) {
      const kind = this.#fastKind();
      if (kind >= 0) {
        this.#addEnvelope(kind, offset, length, lineNumber);
        return;
      }
    }
    this.#addDecoded(this.#options.readLong(offset, length), { offset, length, lineNumber });
  }

  /** The number of the kind of the envelope just read; -1: its line is to be parsed whole. */
  #fastKind(): number {
    const { parentStart, parentEnd } = this.#envelope;
    // An empty parentId ends pi's walk as null does. No agent writes it.
    if (parentStart >= 0 && parentStart === parentEnd) return -1;
    const kind = this.index.kinds.addSpans(this.#envelope);
    if (kind >= this.#parseWhole.length) this.#learnKinds();
    return this.#parseWhole[kind] === true ? -1 : kind;
  }

  #learnKinds(): void {
    for (let kind = this.#parseWhole.length; kind < this.index.kinds.kinds.length; kind += 1) {
      const { type, role } = this.index.kinds.at(kind);
      this.#parseWhole.push(foldedTypes.has(type) || type === "session" || role === "hookMessage");
    }
  }

  #addEnvelope(kind: number, offset: number, length: number, lineNumber: number): void {
    const envelope = this.#envelope;
    const { coreBytes, idStart, idEnd, parentStart, parentEnd, timestampStart } = envelope;
    const exactTime = this.#times.exact(envelope.coreView, timestampStart, envelope.timestampEnd);
    const isExact = !Number.isNaN(exactTime);
    let flags: number = rowFlags.provisional;
    if (envelope.form === "tail") flags |= rowFlags.tailForm;
    if (envelope.endsWithObject) flags |= rowFlags.endsWithObject;
    if (envelope.hasPayload) flags |= rowFlags.hasPayload;
    if (isExact) flags |= rowFlags.exactTime;
    if (parentStart < 0) flags |= rowFlags.root;
    const { index } = this;
    const facts = this.#facts;
    facts.offset = offset;
    facts.length = length;
    facts.kind = kind;
    facts.time = isExact ? exactTime : isoTimeOf(coreBytes, timestampStart, envelope.timestampEnd);
    facts.flags = flags;
    const hasParentWord = parentStart < 0 || isHexWord(coreBytes, parentStart, parentEnd);
    if (hasParentWord && isHexWord(coreBytes, idStart, idEnd)) {
      facts.handle = hexWord(coreBytes, idStart);
      facts.parentHandle = parentStart < 0 ? 0 : hexWord(coreBytes, parentStart);
      this.lines.addRow(index.addWords(facts), lineNumber);
      return;
    }
    index.linkPendingRows();
    const { ids } = index;
    facts.parentHandle =
      parentStart < 0 ? rootHandle : ids.addBytes(coreBytes, parentStart, parentEnd);
    facts.handle = ids.addBytes(coreBytes, idStart, idEnd);
    this.#addRow(facts, lineNumber);
  }

  #addDecoded(decoded: DecodedLine, place: LinePlace): void {
    this.index.linkPendingRows();
    if (!decoded.ok) {
      if (decoded.reason !== "blank") this.#report("bad-line", decoded.reason, place);
      return;
    }
    const { value } = decoded;
    const record = readRecord(value, entryForm(this.#header?.version ?? 3));
    if (record.kind === "header" || record.kind === "bad-header") this.#addHeader(record, place);
    else if (this.#header === undefined) this.#addBeforeHeader(value, place);
    else if (record.kind === "entry") this.#addEntry(record, value, place);
    else {
      this.lines.addOtherRecord();
      if (record.kind === "other") this.#report("not-an-entry", "no string type and id", place);
    }
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
    // A title slot is no record of the file as its indexes count them: the header is 0.
    if (type === titleSlotType) return;
    this.lines.addOtherRecord();
    if (typeof type === "string" && (typeof value["id"] === "string" || "message" in value)) {
      this.#entriesBeforeHeader += 1;
    }
    this.#report("before-header", "a record before the session header is not indexed", place);
  }

  #addEntry({ type, id: ownId }: EntryRecord, value: JsonObject, place: LinePlace): void {
    const legacy = entryForm(this.#header?.version ?? 3) === 1;
    const id = legacy || ownId === null ? this.#legacyId(place.lineNumber) : ownId;
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

  #reportDuplicate(row: number, earlier: number): void {
    const { index } = this;
    this.diagnostics.add({
      kind: "duplicate-id",
      reason: `hides the entry with the same id at byte ${index.rows.offset(earlier)}`,
      offset: index.rows.offset(row),
      length: index.rows.length(row),
      line: this.lines.lineOfRow(row),
      id: index.idOf(row),
    });
  }

  #legacyId(lineNumber: number): string {
    return legacyEntryId(this.#header?.header.id ?? "", lineNumber);
  }

  #report(
    kind: "bad-line" | "not-an-entry" | "second-header" | "before-header",
    reason: string,
    place: LinePlace,
  ): void {
    const { offset, length, lineNumber } = place;
    this.diagnostics.add({ kind, reason, offset, length, line: lineNumber });
  }
}

// What the index keeps of an entry, from its parsed record instead of its envelope.

/** The kind of a parsed entry; v2's role hookMessage is custom since v3. */
function kindOfValue(type: string, value: JsonObject, version: number): Kind {
  const { message, customType } = value;
  const stored =
    type === "message" && message !== null && typeof message === "object" && !Array.isArray(message)
      ? message["role"]
      : undefined;
  const ofMessage = typeof stored === "string" ? stored : undefined;
  const role = type === "model_change" ? modelRole(value) : ofMessage;
  const hasCustomType = type === "custom" || type === "custom_message";
  return {
    type,
    role: role === "hookMessage" && version < 3 ? "custom" : role,
    customType: hasCustomType && typeof customType === "string" ? customType : undefined,
  };
}

/** Epoch milliseconds of a stored timestamp, or NaN. */
function timeOfValue(timestamp: unknown): number {
  if (typeof timestamp === "string") return Date.parse(timestamp);
  // A number that no Date can hold is no time.
  return typeof timestamp === "number" ? new Date(timestamp).getTime() : Number.NaN;
}

/** Types whose entries are parsed whole while reading: projections or the context need them. */
const foldedTypes: ReadonlySet<string> = new Set([
  "label",
  "thinking_level_change",
  ...tellingTypes,
]);
