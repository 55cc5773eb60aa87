/**
 * Searches sessions of every agent: messages, thinking, calls, results, names, labels. One session
 * at a time, latest change first, in bounded memory; hits are yielded at once. Nothing is written;
 * unreadable files are skipped.
 */
import { mayBeDocument } from "../catalog/agent-files.ts";
import { chunkBytesDefault } from "@branchlog/streaming";
import type { OptionNames } from "@branchlog/streaming";
import { invalidArgument, isInStore, requireList, requireOneOf } from "@branchlog/core/files";
import { requireOptions, requireText } from "@branchlog/core/files";
import { isBranchlogError } from "@branchlog/core";
import type { StoredSession } from "@branchlog/core";
import { searchedFiles } from "../find/searched-files.ts";
import type { SearchedPath } from "../find/searched-files.ts";
import type { SearchedStore } from "../find/find-options.ts";
import { agentNamed, documentFormatOf, documentFormats, openLogSource } from "@branchlog/core/rows";
import { bytesSource } from "../catalog/stored-bytes.ts";
import { UsedIndex } from "../index/used-index.ts";
import { searchedKinds } from "./entry-texts.ts";
import { hitsIn, mayMatchBeside } from "./file-pass.ts";
import type { Reading } from "./file-pass.ts";
import { textSearch } from "./search-query.ts";
import { storedSources } from "./stored-search.ts";
import { BranchFilter } from "./branch-filter.ts";
import { Search } from "./search-terms.ts";
import type { SearchHit, SearchOptions } from "./search-terms.ts";

const searchNames: OptionNames<SearchOptions> = {
  kinds: true,
  role: true,
  tool: true,
  regex: true,
  exact: true,
  index: true,
  onIndexUnread: true,
  onUnindexed: true,
  project: true,
  path: true,
  branch: true,
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
 * session in it, whose logs are read whole where they may have a hit. Callbacks for files and
 * progress are for directories only.
 * @throws BranchlogError `ERR_LOG_MISSING`, `ERR_LOG_UNREADABLE`; `ERR_INVALID_ARGUMENT` for a
 * malformed regular expression; the signal's reason.
 * @example
 * for await (const { path, snippet } of searchSessions("sessions", "red build")) {
 *   console.log(path, snippet.text);
 * }
 */
export async function* searchSessions(
  places: SearchedPlaces,
  query: string,
  options: SearchOptions = {},
): AsyncGenerator<SearchHit, void, undefined> {
  const { signal, path, branch } = requireOptions(options, searchNames);
  for (const kind of options.kinds ?? []) requireOneOf("A kind", kind, searchedKinds);
  const search = new Search(textSearch(requireText("The query", query), options), options);
  signal?.throwIfAborted();
  if (branch !== undefined && isInStore(places)) {
    throw invalidArgument("A branch can be searched in files only, not in a store.");
  }
  const naming = path === undefined ? undefined : await sessionsNaming(path, places, options);
  const onBranch = branch === undefined ? undefined : new BranchFilter(branch);
  for await (const hit of hitsAt(places, query, options, search)) {
    const isNaming = naming?.has(hit.path) !== false;
    const isWanted =
      isNaming && (onBranch === undefined || (await onBranch.has(hit, options.onUnread)));
    // Of those that are left out, the copies are hits.
    if (isWanted && !search.isCopy(hit)) yield hit;
  }
}

/** The paths of sessions with a call that names a path. */
async function sessionsNaming(
  path: string,
  places: SearchedPlaces,
  { project, agents, index, signal }: SearchOptions,
): Promise<ReadonlySet<string>> {
  const query = requireText("The path", path);
  const options: SearchOptions = { project, agents, signal, kinds: ["call"], exact: true };
  const calls = index === undefined ? options : { ...options, index };
  const search = new Search(textSearch(query, calls), calls);
  const paths = new Set<string>();
  for await (const hit of hitsAt(places, query, calls, search)) paths.add(hit.path);
  return paths;
}

type SearchedPlaces = string | readonly string[] | SearchedStore | StoredSession;

async function* hitsAt(
  places: SearchedPlaces,
  query: string,
  options: SearchOptions,
  search: Search,
): AsyncGenerator<SearchHit, void, undefined> {
  const { signal, onProgress, onUnread } = options;
  const chunk = Buffer.allocUnsafe(chunkBytesDefault);
  if (isInStore(places)) {
    for await (const stored of storedSources(places, query, options, search)) {
      yield* hitsIn(stored, search, { chunk, signal });
    }
    return;
  }
  const given = typeof places === "string" ? [places] : requireList("The places", places);
  for (const place of given) requireText("A place", place);
  const files = await searchedFiles(given, options);
  const index = new UsedIndex(options);
  await index.open(search);
  try {
    for (const [searched, file] of files.entries()) {
      onProgress?.({ searched, total: files.length });
      try {
        yield* hitsInFile(file, search, { chunk, signal, index });
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
    options.onUnindexed?.(index.unindexedBytes);
  } finally {
    index.close();
  }
}

/** Whether a name matches that is in no document: the index has only what is in one. */
function isNamedSo(path: string, search: Search): boolean {
  const owner = documentFormats().find((format) => format.mayBe(path));
  const name = agentNamed(owner?.agent ?? "")?.transcripts?.indexedName?.(path);
  return name !== undefined && search.matchName(name, "") !== undefined;
}

async function* hitsInFile(
  file: SearchedPath,
  search: Search,
  reading: Reading & { readonly index: UsedIndex },
): AsyncGenerator<SearchHit, void, undefined> {
  const { path, isGiven } = file;
  const isDocument = mayBeDocument(path);
  if (isDocument && reading.index.isDocumentWithout(file) && !isNamedSo(path, search)) return;
  const document = isDocument ? documentFormatOf(path) : undefined;
  if (document !== undefined) {
    if (!search.includes(document.agent)) return;
    const log = await document.toLog(path);
    reading.index.addRead(file, log.length);
    const made = { path, owner: document.agent, source: bytesSource(log), size: log.length };
    yield* hitsIn(made, search, reading);
    return;
  }
  const without = reading.index.withoutMatch(file);
  if (without !== undefined && !mayMatchBeside(path, without, search)) return;
  const source = openLogSource(path);
  try {
    // Given alone, it is searched with what it continues.
    const inherited = isGiven ? 0 : source.inherited;
    const size = source.sizeSync();
    const part = reading.index.partOf(file, source, size);
    yield* hitsIn({ path, owner: undefined, source, inherited, size, part }, search, reading);
  } finally {
    source.closeSync();
  }
}
