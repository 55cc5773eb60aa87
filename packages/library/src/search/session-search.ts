/**
 * Searches sessions of every agent: messages, thinking, calls, results, names, labels. One session
 * at a time, latest change first, in bounded memory; hits are yielded at once. Nothing is written;
 * unreadable files are skipped.
 */
import { mayBeDocument } from "../catalog/agent-files.ts";
import { resolve } from "node:path";
import { LineFramer, chunkBytesDefault } from "@branchlog/streaming";
import type { OptionNames } from "@branchlog/streaming";
import { isInStore, requireList, requireOneOf } from "@branchlog/core/files";
import { requireOptions, requireText } from "@branchlog/core/files";
import { isBranchlogError } from "@branchlog/core";
import type { StoredSession } from "@branchlog/core";
import { isUnlistable, lookAtFile, nameBeforeCompression } from "../catalog/session-files.ts";
import type { SessionFile } from "../catalog/session-files.ts";
import { filesIn, sessionDirectories } from "../find/find-sessions.ts";
import type { SearchedStore } from "../find/find-options.ts";
import { documentFormatOf, openLogSource, readableFormat } from "@branchlog/core/rows";
import { bytesSource } from "../catalog/stored-bytes.ts";
import { requireNoAddress } from "@branchlog/core/addresses";
import { searchedKinds } from "./entry-texts.ts";
import { Candidates, SessionMatches, TranscriptMatches } from "./file-matches.ts";
import type { Matches, SearchedSource } from "./file-matches.ts";
import { SideTexts } from "./side-texts.ts";
import { textSearch } from "./search-query.ts";
import { storedSources } from "./stored-search.ts";
import { Search } from "./search-terms.ts";
import type { SearchHit, SearchOptions } from "./search-terms.ts";

const firstReadBytes = 64 * 1024;

const searchNames: OptionNames<SearchOptions> = {
  kinds: true,
  role: true,
  tool: true,
  regex: true,
  sinceMs: true,
  untilMs: true,
  agents: true,
  contextLines: true,
  onUnlisted: true,
  onUnread: true,
  onProgress: true,
  signal: true,
};

/**
 * The hits of a query, one for each entry at most: those of the session that changed last come
 * first, and those of one session in file order. Upper and lower case are the same; in names, the
 * query may leave characters out. An empty query has no hits. O(bytes of the files): lines that
 * cannot have a match are not parsed. A transcript with a match is read a second time, since the
 * ids of its entries depend on the records before.
 * @param places Directories, with all that is below them, and session files; or a store, or a
 * session in it, whose logs are read whole where they may have a hit. What reports files and
 * progress concerns directories only.
 * @throws BranchlogError `ERR_LOG_MISSING`, `ERR_LOG_UNREADABLE`; `ERR_INVALID_ARGUMENT` for a
 * malformed regular expression; the signal's reason.
 * @example
 * for await (const { path, snippet } of searchSessions("sessions", "red build")) {
 *   console.log(path, snippet.text);
 * }
 */
export async function* searchSessions(
  places: string | readonly string[] | SearchedStore | StoredSession,
  query: string,
  options: SearchOptions = {},
): AsyncGenerator<SearchHit, void, undefined> {
  const { signal, onProgress, onUnread } = requireOptions(options, searchNames);
  for (const kind of options.kinds ?? []) requireOneOf("A kind", kind, searchedKinds);
  const search = new Search(textSearch(requireText("The query", query), options), options);
  signal?.throwIfAborted();
  const chunk = Buffer.allocUnsafe(chunkBytesDefault);
  if (isInStore(places)) {
    for await (const stored of storedSources(places, query, options)) {
      yield* hitsIn(stored, search, { chunk, signal });
    }
    return;
  }
  const given =
    typeof places === "string" ? [places] : requireList("What holds the places", places);
  for (const place of given) requireText("A place", place);
  const files = await filesAt(given, options);
  for (const [searched, file] of files.entries()) {
    onProgress?.({ searched, total: files.length });
    try {
      yield* hitsInFile(file, search, { chunk, signal });
    } catch (error) {
      signal?.throwIfAborted();
      if (isBranchlogError(error)) {
        onUnread?.(error);
        continue;
      }
      // Only errors of the system concern the file.
      if (!(error instanceof Error && "syscall" in error)) throw error;
    }
  }
}

interface FoundFile {
  readonly path: string;
  readonly isGiven: boolean;
}

/** Latest change first. */
async function filesAt(
  places: readonly string[],
  { onUnlisted, sinceMs = Number.NEGATIVE_INFINITY, signal }: SearchOptions,
): Promise<FoundFile[]> {
  for (const place of places) requireNoAddress(place);
  const named = places.map((place) => lookAtFile(resolve(place)));
  const directories = places.filter((_place, at) => named[at]?.isReadable !== true);
  const below = await sessionDirectories(directories, signal);
  for (const path of below.unlisted) onUnlisted?.(path);
  const found = await filesIn(below, signal);
  for (const file of found) if (isUnlistable(file)) onUnlisted?.(file.path);
  const isCompressed = (name: string): boolean => nameBeforeCompression(name) !== undefined;
  for (const { name, path } of named) if (isCompressed(name)) onUnlisted?.(path);
  const all = new Map([...named, ...found].map((file) => [file.identity ?? file.path, file]));
  const byPath = (one: SessionFile, other: SessionFile): number => (one.path < other.path ? -1 : 1);
  return [...all.values()]
    .filter(({ isReadable, mtimeMs }) => isReadable && mtimeMs >= sinceMs)
    .sort((one, other) => other.mtimeMs - one.mtimeMs || byPath(one, other))
    .map(({ path }) => ({ path, isGiven: named.some((file) => file.path === path) }));
}

async function* hitsInFile(
  { path, isGiven }: FoundFile,
  search: Search,
  reading: Reading,
): AsyncGenerator<SearchHit, void, undefined> {
  const document = mayBeDocument(path) ? documentFormatOf(path) : undefined;
  if (document !== undefined) {
    if (!search.includes(document.agent)) return;
    const log = await document.toLog(path);
    const made = { path, owner: document.agent, source: bytesSource(log), size: log.length };
    yield* hitsIn(made, search, reading);
    return;
  }
  const source = openLogSource(path);
  try {
    // Given alone, it is searched with what it continues.
    const inherited = isGiven ? 0 : source.inherited;
    const searched = { path, owner: undefined, source, inherited, size: source.sizeSync() };
    yield* hitsIn(searched, search, reading);
  } finally {
    source.closeSync();
  }
}

async function* hitsIn(
  searched: SearchedSource,
  search: Search,
  reading: Reading,
): AsyncGenerator<SearchHit, void, undefined> {
  const { path, source, size, owner } = searched;
  if (owner !== undefined && !search.includes(owner)) return;
  const session = new SessionMatches(source, searched, search);
  yield* hitsOf(session, searched, reading);
  const format = session.mayBeTranscript ? readableFormat(source, size) : undefined;
  if (format === undefined || !search.includes(format.agent)) return;
  const sides = new SideTexts(path, format.agent);
  const mentioned = search.takesResults ? sides.names((file) => search.isInFile(file)) : [];
  const candidates = new Candidates(search.transcriptLines, searched.inherited, mentioned);
  yield* hitsOf(candidates, searched, reading);
  const { inherited = 0 } = searched;
  const found = {
    path,
    format,
    search,
    candidates,
    sides,
    inherited,
    name: format.indexedName?.(path),
  };
  const isNamed = found.name !== undefined && search.matchName(found.name, "") !== undefined;
  if (candidates.lines.size === 0 && !isNamed) return;
  const transcript = new TranscriptMatches(source, found, isNamed);
  yield* hitsOf(transcript, searched, reading);
  transcript.end();
  yield* transcript.hits.splice(0);
}

interface Reading {
  readonly chunk: Buffer;
  readonly signal: AbortSignal | undefined;
}

async function* hitsOf(
  matches: Matches,
  { source, size }: SearchedSource,
  { chunk, signal }: Reading,
): AsyncGenerator<SearchHit, void, undefined> {
  const framer = new LineFramer();
  const { sink } = matches;
  while (framer.offset < size && !matches.isOver) {
    // Of most transcripts the first search needs the first record only.
    const atOnceBytes = framer.offset === 0 ? firstReadBytes : chunk.length;
    const length = Math.min(atOnceBytes, size - framer.offset);
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
  yield* matches.hits.splice(0);
}
