/**
 * Searches sessions of every agent: messages, thinking, calls, results, names, labels. One session
 * at a time, latest change first, in bounded memory; hits are yielded at once. Nothing is written;
 * unreadable files are skipped.
 */
import { basename, resolve } from "node:path";
import { LineFramer, chunkBytesDefault, decodeLine, openByteSource } from "@branchlog/streaming";
import type {
  ByteSource,
  FileSource,
  JsonObject,
  LineSink,
  LinesSink,
  LongLine,
  OptionNames,
} from "@branchlog/streaming";
import { requireList, requireOneOf, requireOptions, requireText } from "../argument-checks.ts";
import { readFullySync } from "../bodies/body-reader.ts";
import { HeaderSearch } from "../catalog/header-search.ts";
import { messageBytesMax } from "../catalog/limits.ts";
import { isUnlistable, lookAtFile } from "../catalog/session-files.ts";
import type { SessionFile } from "../catalog/session-files.ts";
import { dialectOfLog } from "../dialects/dialect.ts";
import type { DialectName } from "../dialects/dialect.ts";
import { transcriptOf } from "../dialects/foreign-record.ts";
import type { SourceKind } from "../dialects/foreign-record.ts";
import { entryForm } from "../dialects/header.ts";
import { legacyEntryId } from "../dialects/migrate-line.ts";
import { transcriptRecords } from "../dialects/transcript-records.ts";
import type { TranscriptRow } from "../dialects/transcript.ts";
import { filesIn, sessionDirectories } from "../directories/find-sessions.ts";
import type { SessionEntry, SessionHeader } from "../entries/entry-types.ts";
import { stringAt } from "../entries/json-fields.ts";
import { transcriptKind } from "../log/foreign-transcript.ts";
import { storedTimeMs } from "../projections/stored-value.ts";
import { entryTexts, searchedKinds } from "./entry-texts.ts";
import type { EntryText, SearchedKind } from "./entry-texts.ts";
import { LineFilter } from "./line-filter.ts";
import { textSearch } from "./search-query.ts";
import type { Snippet, TextSearch } from "./search-query.ts";

/** A match in an entry. */
export interface SearchHit {
  /** Of the session file, absolute. */
  readonly path: string;
  /** As stored: foreign files may lack any field but the id. */
  readonly header: SessionHeader;
  /** Undefined for a session of pi or omp. */
  readonly transcriptOf: SourceKind | undefined;
  /** A name or label may have been replaced since. */
  readonly kind: SearchedKind;
  /** For the name of a transcript, its last entry. */
  readonly entryId: string;
  readonly role?: string;
  /** Of a call or a result. */
  readonly tool?: string;
  /** As stored. */
  readonly timestamp: string;
  /** The first match in the entry. */
  readonly snippet: Snippet;
}

/** Filters of {@link searchSessions}. */
export interface SearchOptions {
  /** Default: all. */
  readonly kinds?: readonly SearchedKind[] | undefined;
  /** Only messages of this role. */
  readonly role?: string | undefined;
  /** Only calls of this tool, and their results. */
  readonly tool?: string | undefined;
  /** Default false. */
  readonly regex?: boolean;
  /** Only entries from this time on, in epoch ms. */
  readonly sinceMs?: number | undefined;
  /** pi and omp are distinguished by the header. Default: all. */
  readonly agents?: readonly (DialectName | SourceKind)[] | undefined;
  /** Whole lines around a match. Default: a part of one. */
  readonly contextLines?: number | undefined;
  /**
   * Called with each path that is skipped because it is not UTF-8, with U+FFFD for the invalid
   * bytes.
   */
  readonly onUnlisted?: ((path: string) => void) | undefined;
  /** Called before each session. */
  readonly onProgress?: ((progress: SearchProgress) => void) | undefined;
  /** Ends the search with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** How far a search is, in sessions. */
export interface SearchProgress {
  readonly searched: number;
  readonly total: number;
}

const searchNames: OptionNames<SearchOptions> = {
  kinds: true,
  role: true,
  tool: true,
  regex: true,
  sinceMs: true,
  agents: true,
  contextLines: true,
  onUnlisted: true,
  onProgress: true,
  signal: true,
};

/**
 * The hits of a query, one for each entry at most: those of the session that changed last come
 * first, and those of one session in file order. Upper and lower case are the same; in names, the
 * query may leave characters out. An empty query has no hits. O(bytes of the files): lines that
 * cannot have a match are not parsed. A transcript with a match is read a second time, since the
 * ids of its entries depend on the records before.
 * @param places Directories, with all that is below them, and session files.
 * @throws BranchlogError `ERR_LOG_MISSING`, `ERR_LOG_UNREADABLE`; `ERR_INVALID_ARGUMENT` for a
 * malformed regular expression; the signal's reason.
 * @example
 * for await (const { path, snippet } of searchSessions("sessions", "red build")) {
 *   console.log(path, snippet.text);
 * }
 */
export async function* searchSessions(
  places: string | readonly string[],
  query: string,
  options: SearchOptions = {},
): AsyncGenerator<SearchHit, void, undefined> {
  const { signal, onProgress } = requireOptions(options, searchNames);
  const given =
    typeof places === "string" ? [places] : requireList("What holds the places", places);
  for (const place of given) requireText("A place", place);
  for (const kind of options.kinds ?? []) requireOneOf("A kind", kind, searchedKinds);
  const search = new Search(textSearch(requireText("The query", query), options), options);
  signal?.throwIfAborted();
  const files = await filesAt(given, options);
  const chunk = Buffer.allocUnsafe(chunkBytesDefault);
  for (const [searched, file] of files.entries()) {
    onProgress?.({ searched, total: files.length });
    try {
      yield* hitsIn(file.path, search, chunk, signal);
    } catch (error) {
      signal?.throwIfAborted();
      // Only errors of the system concern the file.
      if (!(error instanceof Error && "syscall" in error)) throw error;
    }
  }
}

/** Latest change first. */
async function filesAt(
  places: readonly string[],
  { onUnlisted, sinceMs = Number.NEGATIVE_INFINITY, signal }: SearchOptions,
): Promise<SessionFile[]> {
  const named = places.map((place) => lookAtFile(resolve(place)));
  const directories = places.filter((_place, at) => named[at]?.isReadable !== true);
  const below = await sessionDirectories(directories, signal);
  for (const path of below.unlisted) onUnlisted?.(path);
  const found = await filesIn(below.directories, signal);
  for (const file of found) if (isUnlistable(file)) onUnlisted?.(file.path);
  const all = new Map([...named, ...found].map((file) => [file.identity ?? file.path, file]));
  const byPath = (one: SessionFile, other: SessionFile): number => (one.path < other.path ? -1 : 1);
  return [...all.values()]
    .filter(({ isReadable, mtimeMs }) => isReadable && mtimeMs >= sinceMs)
    .sort((one, other) => other.mtimeMs - one.mtimeMs || byPath(one, other));
}

class Search {
  /** Names match with gaps, so bytes cannot exclude them. */
  readonly sessionLines: LineFilter;
  readonly transcriptLines: LineFilter;
  readonly #text: TextSearch;
  readonly #options: SearchOptions;

  constructor(text: TextSearch, options: SearchOptions) {
    this.#text = text;
    this.#options = options;
    const takesNames = options.kinds?.includes("name") ?? true;
    this.sessionLines = new LineFilter(text.bytesOf, takesNames);
    this.transcriptLines = new LineFilter(text.bytesOf, false);
  }

  includes(agent: DialectName | SourceKind): boolean {
    return this.#options.agents?.includes(agent) ?? true;
  }

  /** The first text that matches. */
  match(entry: SessionEntry): Match | undefined {
    if (storedTimeMs(entry.timestamp) < (this.#options.sinceMs ?? Number.NEGATIVE_INFINITY)) {
      return undefined;
    }
    for (const text of entryTexts(entry)) {
      const match = this.#matchOf(text);
      if (match !== undefined) return match;
    }
    return undefined;
  }

  matchName(name: string): Match | undefined {
    return this.#matchOf({ kind: "name", text: name });
  }

  #matchOf({ text, ...said }: EntryText): Match | undefined {
    const { kinds, role, tool } = this.#options;
    if (kinds !== undefined && !kinds.includes(said.kind)) return undefined;
    if (role !== undefined && said.role !== role) return undefined;
    if (tool !== undefined && said.tool?.toLowerCase() !== tool.toLowerCase()) return undefined;
    const snippet = said.kind === "name" ? this.#text.inName(text) : this.#text.inText(text);
    return snippet && { ...said, snippet };
  }
}

type Match = Pick<SearchHit, "kind" | "role" | "tool" | "snippet">;

async function* hitsIn(
  path: string,
  search: Search,
  chunk: Buffer,
  signal: AbortSignal | undefined,
): AsyncGenerator<SearchHit, void, undefined> {
  const source = openByteSource(path);
  try {
    const session = new SessionMatches(source, path, search);
    yield* hitsOf(session, { source, chunk, signal });
    const size = source.sizeSync();
    const kind = session.mayBeTranscript ? transcriptKind(source, size) : undefined;
    if (kind === undefined || !search.includes(kind)) return;
    const candidates = new Candidates(search.transcriptLines);
    yield* hitsOf(candidates, { source, chunk, signal });
    if (candidates.lines.size === 0) return;
    const transcript = new TranscriptMatches(source, { path, kind, search, candidates });
    yield* hitsOf(transcript, { source, chunk, signal });
  } finally {
    source.closeSync();
  }
}

/** Takes the lines of a file and collects hits. */
interface Matches {
  readonly hits: SearchHit[];
  /** Whether the rest of the file cannot match. */
  readonly isOver: boolean;
  readonly sink: LineSink | LinesSink;
}

interface Reading {
  readonly source: FileSource;
  readonly chunk: Buffer;
  readonly signal: AbortSignal | undefined;
}

async function* hitsOf(
  matches: Matches,
  { source, chunk, signal }: Reading,
): AsyncGenerator<SearchHit, void, undefined> {
  const framer = new LineFramer();
  const size = source.sizeSync();
  const { sink } = matches;
  while (framer.offset < size && !matches.isOver) {
    const length = Math.min(chunk.length, size - framer.offset);
    const bytesRead = await source.read(chunk, 0, length, framer.offset);
    signal?.throwIfAborted();
    if (bytesRead === 0) break;
    framer.push(chunk.subarray(0, bytesRead), sink);
    yield* matches.hits.splice(0);
  }
  // The unterminated end may be a whole record.
  const rest = matches.isOver ? null : framer.rest();
  if (rest?.long) sink.longLine(rest.long, rest.lineNumber);
  else if (rest?.bytes) {
    const { bytes, length, offset, lineNumber } = rest;
    if ("line" in sink) sink.line(bytes, 0, length, offset, lineNumber);
    else sink.addLines(bytes, 0, length, offset, lineNumber);
  }
  yield* matches.hits;
}

/** Sessions of pi and omp: matching entries are hits. */
class SessionMatches implements Matches, LinesSink {
  readonly hits: SearchHit[] = [];
  readonly sink: LinesSink = this;
  readonly #source: ByteSource;
  readonly #path: string;
  readonly #search: Search;
  readonly #header = new HeaderSearch();

  constructor(source: ByteSource, path: string, search: Search) {
    this.#source = source;
    this.#path = path;
    this.#search = search;
  }

  get isOver(): boolean {
    const { isOver, header, slotTitle } = this.#header;
    if (!isOver || header === undefined) return isOver;
    const hasTitleSlot = slotTitle !== null;
    return !this.#search.includes(dialectOfLog({ hasTitleSlot, header, ofEntries: undefined }));
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
    const path = this.#path;
    this.hits.push({ path, header, transcriptOf: undefined, entryId, timestamp, ...match });
  }
}

/** The lines of a transcript that may match. */
class Candidates implements Matches, LinesSink {
  readonly hits: SearchHit[] = [];
  readonly isOver = false;
  readonly sink: LinesSink = this;
  readonly lines = new Set<number>();
  readonly #filter: LineFilter;

  constructor(filter: LineFilter) {
    this.#filter = filter;
  }

  addLines(bytes: Buffer, start: number, end: number, _offset: number, lineNumber: number): number {
    return this.#filter.lines(bytes, start, end, lineNumber, (_start, _end, number) => {
      this.lines.add(number);
    });
  }

  longLine(_long: LongLine, lineNumber: number): void {
    this.lines.add(lineNumber);
  }
}

interface FoundTranscript {
  readonly path: string;
  readonly kind: SourceKind;
  readonly search: Search;
  readonly candidates: Candidates;
}

/** Reads every record of a transcript, since ids depend on the records before. */
class TranscriptMatches implements Matches, LineSink {
  readonly hits: SearchHit[] = [];
  readonly sink: LineSink = this;
  readonly #source: ByteSource;
  readonly #found: FoundTranscript;
  readonly #transcript: ReturnType<typeof transcriptOf>;
  readonly #ids = new Set<string>();
  /** The last name compared. */
  #name: string | undefined;
  #linesLeft: number;

  constructor(source: ByteSource, found: FoundTranscript) {
    this.#source = source;
    this.#found = found;
    this.#linesLeft = found.candidates.lines.size;
    this.#transcript = transcriptOf(found.kind, basename(found.path), (id) => this.#ids.has(id));
  }

  get isOver(): boolean {
    return this.#linesLeft === 0;
  }

  line(bytes: Buffer, start: number, end: number, _offset: number, lineNumber: number): void {
    const isCandidate = this.#found.candidates.lines.has(lineNumber);
    if (isCandidate) this.#linesLeft -= 1;
    for (const { value, line } of transcriptRecords(bytes, start, end, lineNumber)) {
      for (const row of this.#transcript.add(value, line)) {
        this.#ids.add(row.id);
        if (isCandidate) this.#take(value, row);
      }
      if (isCandidate) this.#takeName(value);
    }
  }

  longLine(long: LongLine, lineNumber: number): void {
    const bytes = bytesOf(this.#source, long);
    if (bytes !== undefined) this.line(bytes, 0, bytes.length, long.offset, lineNumber);
  }

  #take(record: JsonObject, row: TranscriptRow): void {
    const entry = this.#transcript.entryOf(record, { ...row, above: () => [] });
    // Decoding boundary: made by the transcript, in the form of an entry.
    const match = entry && this.#found.search.match(entry as unknown as SessionEntry);
    if (match !== undefined) this.#add(match, row.id, row.timestamp);
  }

  #takeName(record: JsonObject): void {
    const { name, tailId, header } = this.#transcript;
    if (name === undefined || name === this.#name) return;
    this.#name = name;
    const match = this.#found.search.matchName(name);
    const timestamp = stringAt(record, "timestamp") ?? header?.timestamp ?? "";
    if (match !== undefined && tailId !== null) this.#add(match, tailId, timestamp);
  }

  #add(match: Match, entryId: string, timestamp: string): void {
    const { path, kind } = this.#found;
    const { header } = this.#transcript;
    // Records before the session id is known are not searched.
    if (header === undefined) return;
    this.hits.push({ path, header, transcriptOf: kind, entryId, timestamp, ...match });
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
