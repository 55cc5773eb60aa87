/** Finds the matches of one file while its lines are read. */
import { basename } from "node:path";
import { decodeLine, readFullySync } from "@branchlog/streaming";
import type { ByteSource, JsonObject, LineSink, LinesSink, LongLine } from "@branchlog/streaming";
import { messageBytesMax } from "../catalog/limits.ts";
import {
  dialectOfLog,
  entryForm,
  legacyEntryId,
  transcriptRecords,
  placeOf,
  stringAt,
  HeaderSearch,
} from "@branchlog/core/rows";
import type {
  Transcript,
  TranscriptFormat,
  TranscriptRecord,
  TranscriptRow,
} from "@branchlog/core/rows";
import { dialectFinder } from "@branchlog/core/files";
import type { DialectName } from "@branchlog/core/entries";
import type { SessionEntry } from "@branchlog/core";
import { LineFilter } from "./line-filter.ts";
import type { Match, Search, SearchHit } from "./search-terms.ts";
import type { SideTexts } from "./side-texts.ts";

/** Takes the lines of a file and collects hits. */
export interface Matches {
  readonly hits: SearchHit[];
  /** Whether the rest of the file cannot match. */
  readonly isOver: boolean;
  readonly sink: LineSink | LinesSink;
}

export interface SearchedFile {
  readonly path: string;
  /** The name of the agent of a document; what others write is told by its records. */
  readonly owner: string | undefined;
}

/** What is searched: a file, a log of a store, an archived session, a document. */
export interface SearchedSource extends SearchedFile {
  readonly source: ByteSource;
  readonly size: number;
  /** The first bytes, which are of other sessions: their hits are those. */
  readonly inherited?: number;
}

/** Logs: matching entries are hits. */
export class SessionMatches implements Matches, LinesSink {
  readonly hits: SearchHit[] = [];
  readonly sink: LinesSink = this;
  readonly #source: ByteSource;
  readonly #file: SearchedFile;
  readonly #search: Search;
  readonly #header = new HeaderSearch();

  constructor(source: ByteSource, file: SearchedFile, search: Search) {
    this.#source = source;
    this.#file = file;
    this.#search = search;
  }

  get isOver(): boolean {
    const { isOver, header, slotTitle } = this.#header;
    if (!isOver || header === undefined) return isOver;
    if (this.#file.owner !== undefined) return false;
    const hasTitleSlot = slotTitle !== null;
    const ofPlace = (): DialectName | undefined => dialectFinder()(this.#file.path);
    const evidence = { hasTitleSlot, header, ofEntries: undefined, ofPlace };
    return !this.#search.includes(dialectOfLog(evidence));
  }

  get mayBeTranscript(): boolean {
    return this.#header.mayBeTranscript;
  }

  addLines(bytes: Buffer, start: number, end: number, offset: number, lineNumber: number): number {
    let [at, line] = [start, lineNumber];
    while (!this.#header.isOver && at <= end) {
      const found = bytes.indexOf(10, at);
      const lineEnd = found < 0 || found > end ? end : found;
      this.#header.line(bytes, at, lineEnd, offset + at - start);
      at = lineEnd + 1;
      line += 1;
    }
    if (this.isOver || at > end)
      return at > end ? line - lineNumber : countLines(bytes, start, end);
    const lines = this.#search.sessionLines.lines(bytes, at, end, line, (from, to, number) => {
      this.#take(decodeLine(bytes, from, to), number);
    });
    return line - lineNumber + lines;
  }

  longLine(long: LongLine, lineNumber: number): void {
    const bytes = bytesOf(this.#source, long);
    if (bytes !== undefined) this.addLines(bytes, 0, bytes.length, long.offset, lineNumber);
  }

  #take(line: ReturnType<typeof decodeLine>, lineNumber: number): void {
    const { header, version } = this.#header;
    if (!line.ok || header === undefined) return;
    // Decoding boundary: texts are taken from entries as they are stored.
    const entry = line.value as unknown as SessionEntry;
    const match = this.#search.match(entry);
    if (match === undefined) return;
    const isOld = entryForm(version) === 1;
    const entryId: unknown = isOld ? legacyEntryId(header.id, lineNumber) : entry.id;
    if (typeof entryId !== "string") return;
    const { timestamp } = entry;
    const { path, owner: transcriptOf } = this.#file;
    const place = { path, header, transcriptOf, entryId, timestamp };
    const hit = this.#search.hitOf(place, match, true);
    if (hit !== undefined) this.hits.push(hit);
  }
}

/** The lines of a transcript that may match. */
export class Candidates implements Matches, LinesSink {
  readonly hits: SearchHit[] = [];
  readonly isOver: boolean = false;
  readonly sink: LinesSink = this;
  readonly lines: Set<number> = new Set();
  readonly #filters: readonly LineFilter[];
  readonly #inherited: number;

  /** @param mentioned Texts whose lines are candidates, too. */
  constructor(filter: LineFilter, inherited = 0, mentioned: readonly string[] = []) {
    this.#filters = [filter, ...mentioned.map((text) => new LineFilter(text, false))];
    this.#inherited = inherited;
  }

  addLines(bytes: Buffer, start: number, end: number, offset: number, lineNumber: number): number {
    const counts = this.#filters.map((filter) =>
      filter.lines(bytes, start, end, lineNumber, (from, _to, number) => {
        if (offset + from - start >= this.#inherited) this.lines.add(number);
      }),
    );
    return counts[0] ?? 0;
  }

  longLine({ offset }: LongLine, lineNumber: number): void {
    if (offset >= this.#inherited) this.lines.add(lineNumber);
  }
}

/** As many as bodies are read with. */
const recentRecordsMax = 64;

interface FoundTranscript {
  readonly path: string;
  readonly format: TranscriptFormat;
  readonly search: Search;
  readonly candidates: Candidates;
  readonly sides: SideTexts;
  readonly inherited: number;
  /** What the agent calls it elsewhere. */
  readonly name: string | undefined;
}

/** Reads every record of a transcript, since ids depend on the records before. */
export class TranscriptMatches implements Matches, LineSink {
  readonly hits: SearchHit[] = [];
  readonly sink: LineSink = this;
  readonly #source: ByteSource;
  readonly #found: FoundTranscript;
  readonly #transcript: Transcript;
  readonly #ids = new Set<string>();
  /** The records before, the nearest last: they name the tool of a result. */
  readonly #recent: JsonObject[] = [];
  readonly #isNamed: boolean;
  /** The last name compared. */
  #name: string | undefined;
  #linesLeft: number;

  /** @param isNamed Whether that name matches: its hit is at the end of the conversation. */
  constructor(source: ByteSource, found: FoundTranscript, isNamed: boolean) {
    this.#source = source;
    this.#found = found;
    this.#isNamed = isNamed;
    this.#linesLeft = found.candidates.lines.size;
    this.#transcript = found.format.read(basename(found.path), (id) => this.#ids.has(id));
  }

  get isOver(): boolean {
    return this.#linesLeft === 0 && !this.#isNamed;
  }

  /** After the last line. */
  end(): void {
    const { name, search } = this.#found;
    const { tailId, header } = this.#transcript;
    if (!this.#isNamed || name === undefined || tailId === null) return;
    const timestamp = header?.timestamp ?? "";
    const match = search.matchName(name, timestamp);
    if (match !== undefined) this.#add(match, tailId, timestamp);
  }

  line(bytes: Buffer, start: number, end: number, _offset: number, lineNumber: number): void {
    this.#read(transcriptRecords(bytes, start, end, lineNumber), lineNumber);
  }

  /** As the index, without the records in a damaged one. */
  longLine(long: LongLine, lineNumber: number): void {
    const bytes = bytesOf(this.#source, long);
    const line = bytes && decodeLine(bytes);
    this.#read(line?.ok === true ? [{ value: line.value, line: lineNumber }] : [], lineNumber);
  }

  #read(records: Iterable<Pick<TranscriptRecord, "value" | "line">>, lineNumber: number): void {
    const isCandidate = this.#found.candidates.lines.has(lineNumber);
    if (isCandidate) this.#linesLeft -= 1;
    for (const { value, line } of records) {
      for (const row of this.#transcript.add(value, line)) {
        this.#ids.add(row.id);
        if (isCandidate) this.#take(value, row);
      }
      this.#recent.push(value);
      if (this.#recent.length > recentRecordsMax) this.#recent.shift();
      if (isCandidate) this.#takeName(value);
    }
  }

  #take(record: JsonObject, row: TranscriptRow): void {
    const place = placeOf(row, () => this.#recent.toReversed());
    const entry = this.#transcript.entryOf(record, place);
    // Decoding boundary: made by the transcript, in the form of an entry.
    const said = entry as unknown as SessionEntry | undefined;
    const { search, sides } = this.#found;
    const match = said && search.match(said, (text) => sides.wholeOf(text));
    if (match !== undefined) this.#add(match, row.id, place.timestamp);
  }

  #takeName(record: JsonObject): void {
    const { name, tailId, header } = this.#transcript;
    if (name === undefined || name === this.#name) return;
    this.#name = name;
    const timestamp = stringAt(record, "timestamp") ?? header?.timestamp ?? "";
    const match = this.#found.search.matchName(name, timestamp);
    if (match !== undefined && tailId !== null) this.#add(match, tailId, timestamp);
  }

  #add(match: Match, entryId: string, timestamp: string): void {
    const { path, format, search, inherited } = this.#found;
    const { header, isSubagent } = this.#transcript;
    // Records before the session id is known are not searched.
    if (header === undefined) return;
    const place = { path, header, transcriptOf: format.agent, entryId, timestamp };
    // What a sub-agent says is its own, and what a file continues was not copied.
    const hit = search.hitOf(place, match, !isSubagent && inherited === 0);
    if (hit !== undefined) this.hits.push(hit);
  }
}

/** For lines too long to be joined; undefined if too long for a string. */
function bytesOf(source: ByteSource, { offset, length }: LongLine): Buffer | undefined {
  if (length > messageBytesMax) return undefined;
  return readFullySync(source, Buffer.allocUnsafe(length), offset);
}

function countLines(bytes: Buffer, start: number, end: number): number {
  let lines = 1;
  for (let at = bytes.indexOf(10, start); at >= 0 && at < end; at = bytes.indexOf(10, at + 1)) {
    lines += 1;
  }
  return lines;
}
