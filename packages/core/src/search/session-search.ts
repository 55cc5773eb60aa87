/**
 * Searches for a text in sessions of every agent: what was said, thought, called and returned,
 * names, labels. Sessions are read one after the other, latest change first, in bounded memory; a
 * hit comes as soon as it is found. Nothing is kept or written, and a file that cannot be read is
 * passed over.
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

/** One place where a query was found. */
export interface SearchHit {
  /** Of the session file, absolute. */
  readonly path: string;
  /** As stored: foreign files may lack any field but the id. */
  readonly header: SessionHeader;
  /** Whose transcript it is in; undefined for a session of pi or omp. */
  readonly transcriptOf: SourceKind | undefined;
  /** What it was found in. A name or label may have been replaced since. */
  readonly kind: SearchedKind;
  /** The entry that says it; of the name of a transcript, its last one. */
  readonly entryId: string;
  /** The role of a message. */
  readonly role?: string;
  /** The name of the tool of a call or a result. */
  readonly tool?: string;
  /** The timestamp of the entry, as stored. */
  readonly timestamp: string;
  /** What is around the first match in the entry. */
  readonly snippet: Snippet;
}

/** Where to look, and for what. */
export interface SearchOptions {
  /** What is searched; default: everything. */
  readonly kinds?: readonly SearchedKind[] | undefined;
  /** Only messages of this role. */
  readonly role?: string | undefined;
  /** Only calls of this tool, and their results. */
  readonly tool?: string | undefined;
  /** Whether the query is a regular expression. Default false. */
  readonly regex?: boolean;
  /** Only entries from this time on, in epoch ms. */
  readonly sinceMs?: number | undefined;
  /** Only sessions of these agents; pi and omp are told apart by the header. Default: all. */
  readonly agents?: readonly (DialectName | SourceKind)[] | undefined;
  /** Lines of the text that a snippet has before and after the match. Default: a part of one. */
  readonly contextLines?: number | undefined;
  /**
   * Called with each file or directory that is not searched because its name is not UTF-8: its
   * path, with U+FFFD for what cannot be written.
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
      // What the system refuses; anything else is not the fault of a file.
      if (!(error instanceof Error && "syscall" in error)) throw error;
    }
  }
}

/** The files to be searched, latest change first. */
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

/** What is searched for. Pure. */
class Search {
  /** Names match with gaps, which no bytes tell. */
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

  /** Whether sessions of an agent are searched. */
  includes(agent: DialectName | SourceKind): boolean {
    return this.#options.agents?.includes(agent) ?? true;
  }

  /** What of an entry matches, in the first text that does. */
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

  /** The same for the name of a session. */
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

/** What is fed with the lines of a file, and gives the hits in them. */
interface Matches {
  readonly hits: SearchHit[];
  /** Whether the rest of the file has none. */
  readonly isOver: boolean;
  readonly sink: LineSink | LinesSink;
}

interface Reading {
  readonly source: FileSource;
  /** Memory to read into. */
  readonly chunk: Buffer;
  readonly signal: AbortSignal | undefined;
}

/** The hits, chunk by chunk. */
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
  // The end of the file may be a whole record without its newline.
  const rest = matches.isOver ? null : framer.rest();
  if (rest?.long) sink.longLine(rest.long, rest.lineNumber);
  else if (rest?.bytes) {
    const { bytes, length, offset, lineNumber } = rest;
    if ("line" in sink) sink.line(bytes, 0, length, offset, lineNumber);
    else sink.addLines(bytes, 0, length, offset, lineNumber);
  }
  yield* matches.hits;
}

/** A session of pi or omp: entries that match are hits by themselves. */
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

/** The lines of a transcript that may have a match. */
class Candidates implements Matches, LinesSink {
  readonly hits: SearchHit[] = [];
  readonly isOver = false;
  readonly sink: LinesSink = this;
  /** By their numbers. */
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

/** A transcript: each record is read, for the ids of the entries in those that may match. */
class TranscriptMatches implements Matches, LineSink {
  readonly hits: SearchHit[] = [];
  readonly sink: LineSink = this;
  readonly #source: ByteSource;
  readonly #found: FoundTranscript;
  readonly #transcript: ReturnType<typeof transcriptOf>;
  readonly #ids = new Set<string>();
  /** The name that was last compared. */
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
    // Records before the first that says of which session it is are not searched.
    if (header === undefined) return;
    this.hits.push({ path, header, transcriptOf: kind, entryId, timestamp, ...match });
  }
}

/** Of a line too long to be joined while reading; undefined for one too long to be built. */
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
