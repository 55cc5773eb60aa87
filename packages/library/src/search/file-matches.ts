/** Finds the matches of one file while its lines are read. */
import { decodeLine } from "@branchlog/streaming";
import type { ByteSource, LineSink, LinesSink, LongLine } from "@branchlog/streaming";
import { dialectOfLog, entryForm, legacyEntryId, HeaderSearch } from "@branchlog/core/rows";
import type { TranscriptFormat } from "@branchlog/core/rows";
import { dialectFinder } from "@branchlog/core/files";
import type { DialectName } from "@branchlog/core/entries";
import type { SessionEntry } from "@branchlog/core";
import { LineFilter } from "./line-filter.ts";
import type { Match, Search, SearchHit } from "./search-terms.ts";
import type { SideTexts } from "./side-texts.ts";
import { TranscriptReader, bytesOfLong } from "./transcript-reader.ts";
import type { TranscriptTaker } from "./transcript-reader.ts";

/** Takes the lines of a file and collects hits. */
export interface Matches {
  readonly hits: SearchHit[];
  /** Whether the rest of the file cannot match. */
  readonly isOver: boolean;
  /** Whether the file has to be read from its start so far. */
  readonly needsStart: boolean;
  readonly sink: LineSink | LinesSink;
}

export interface SearchedFile {
  readonly path: string;
  /** The name of the agent of a document; what others write is recognised by its records. */
  readonly owner: string | undefined;
}

/** A searched source: a file, a log of a store, an archived session, a document. */
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

  get needsStart(): boolean {
    return !this.#header.isOver;
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
    const bytes = bytesOfLong(this.#source, long);
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
  readonly needsStart: boolean = false;
  readonly sink: LinesSink = this;
  /** Those that say it. */
  readonly lines: Set<number> = new Set();
  /** Those whose texts may continue in other files. */
  readonly sideLines: Set<number> = new Set();
  readonly #filters: readonly LineFilter[];
  readonly #inherited: number;

  /** @param mentioned Texts whose lines are candidates, too. */
  constructor(filter: LineFilter, inherited = 0, mentioned: readonly string[] = []) {
    this.#filters = [filter, ...mentioned.map((text) => new LineFilter(text, false))];
    this.#inherited = inherited;
  }

  get isEmpty(): boolean {
    return this.lines.size + this.sideLines.size === 0;
  }

  addSideLines(lines: readonly { readonly number: number; readonly at: number }[]): void {
    for (const { number, at } of lines) if (at >= this.#inherited) this.sideLines.add(number);
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

interface FoundTranscript {
  readonly path: string;
  readonly format: TranscriptFormat;
  readonly search: Search;
  readonly candidates: Candidates;
  readonly sides: SideTexts;
  readonly inherited: number;
  /** Its name elsewhere in the agent. */
  readonly name: string | undefined;
}

/** The entries of a transcript in lines that may match. */
export class TranscriptMatches implements Matches, TranscriptTaker {
  readonly hits: SearchHit[] = [];
  readonly sink: TranscriptReader;
  readonly needsStart: boolean = true;
  readonly #found: FoundTranscript;
  readonly #isNamed: boolean;
  readonly #lastLine: number;

  /** @param isNamed Whether that name matches: its hit is at the end of the conversation. */
  constructor(source: ByteSource, found: FoundTranscript, isNamed: boolean) {
    this.#found = found;
    this.#isNamed = isNamed;
    const { lines, sideLines } = found.candidates;
    this.#lastLine = [...lines, ...sideLines].reduce((one, other) => Math.max(one, other), 0);
    this.sink = new TranscriptReader(source, found, this);
  }

  get isOver(): boolean {
    return this.sink.lineNumber >= this.#lastLine && !this.#isNamed;
  }

  isWanted(lineNumber: number): boolean {
    const { lines, sideLines } = this.#found.candidates;
    return lines.has(lineNumber) || sideLines.has(lineNumber);
  }

  /** After the last line. */
  end(): void {
    const { name } = this.#found;
    const timestamp = this.sink.transcript.header?.timestamp ?? "";
    if (this.#isNamed && name !== undefined) this.#addName(name, timestamp);
  }

  takeEntry(entry: SessionEntry, id: string, timestamp: string): void {
    const { search, sides } = this.#found;
    const match = search.match(entry, (text) => sides.wholeOf(text));
    if (match !== undefined) this.#add(match, id, timestamp);
  }

  takeName(name: string, timestamp: string): void {
    if (this.#found.candidates.lines.has(this.sink.lineNumber)) this.#addName(name, timestamp);
  }

  #addName(name: string, timestamp: string): void {
    const { tailId } = this.sink.transcript;
    const match = this.#found.search.matchName(name, timestamp);
    if (match !== undefined && tailId !== null) this.#add(match, tailId, timestamp);
  }

  #add(match: Match, entryId: string, timestamp: string): void {
    const { path, format, search, inherited } = this.#found;
    const { header, isSubagent } = this.sink.transcript;
    // Records before the session id is known are not searched.
    if (header === undefined) return;
    const place = { path, header, transcriptOf: format.agent, entryId, timestamp };
    // Text of a subagent is its own, and a continued part was not copied.
    const hit = search.hitOf(place, match, !isSubagent && inherited === 0);
    if (hit !== undefined) this.hits.push(hit);
  }
}

function countLines(bytes: Buffer, start: number, end: number): number {
  let lines = 1;
  for (let at = bytes.indexOf(10, start); at >= 0 && at < end; at = bytes.indexOf(10, at + 1)) {
    lines += 1;
  }
  return lines;
}
