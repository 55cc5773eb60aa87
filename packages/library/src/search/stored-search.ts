/** Searches sessions in a store, which says in which of them there may be a hit. */
import type { OptionNames } from "@branchlog/streaming";
import { requireOneOf, requireOptions, requireText } from "@branchlog/core/files";
import { isBranchlogError } from "@branchlog/core";
import { Engine, rowsOf } from "@branchlog/core/engine";
import type { StoredLog } from "@branchlog/core/types";
import { searchedKinds } from "./entry-texts.ts";
import { textSearch } from "./search-query.ts";
import { Search } from "./search-terms.ts";
import type { SearchHit, SearchOptions } from "./search-terms.ts";

/** What concerns directories and documents is not among them. */
export type StoredSearchOptions = Omit<SearchOptions, "documents" | "onUnlisted" | "onProgress">;

const optionNames: OptionNames<StoredSearchOptions> = {
  kinds: true,
  role: true,
  tool: true,
  regex: true,
  sinceMs: true,
  agents: true,
  contextLines: true,
  signal: true,
};

/**
 * As `searchSessions`, in the order of the logs.
 * @param logsWith The logs that hold one of these texts, whatever its case, or more logs;
 * undefined: all.
 */
export async function* searchStored(
  logsWith: (texts: readonly string[] | undefined) => AsyncIterable<StoredLog>,
  query: string,
  options: StoredSearchOptions = {},
): AsyncGenerator<SearchHit, void, undefined> {
  const { kinds = searchedKinds, signal } = requireOptions(options, optionNames);
  for (const kind of kinds) requireOneOf("A kind", kind, searchedKinds);
  const search = new Search(textSearch(requireText("The query", query), options), options);
  if (query === "") return;
  for await (const log of logsWith(textsOf(query, options, kinds.includes("name")))) {
    try {
      yield* hitsIn(log, search, signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (!isBranchlogError(error) || !skipped.has(error.code)) throw error;
    }
  }
}

/** Removed meanwhile, or not a session. */
const skipped: ReadonlySet<string> = new Set([
  "ERR_LOG_MISSING",
  "ERR_LOG_GONE",
  "ERR_LOG_EMPTY",
  "ERR_NOT_A_SESSION",
  "ERR_HEADER_DAMAGED",
]);

async function* hitsIn(
  log: StoredLog,
  search: Search,
  signal: AbortSignal | undefined,
): AsyncGenerator<SearchHit, void, undefined> {
  const engine = await Engine.openStored(log, { access: "read" }, signal);
  const { header, bodies, path } = engine;
  const { transcript } = engine.log.state.indexer;
  if (!search.includes(transcript?.kind ?? engine.dialect)) return;
  for await (const { entry } of bodies.entries(rowsOf(engine, {}, null))) {
    signal?.throwIfAborted();
    const match = search.match(entry);
    if (match === undefined) continue;
    const { id: entryId, timestamp } = entry;
    yield { path, header, transcriptOf: transcript?.kind, entryId, timestamp, ...match };
  }
}

/** Names match with gaps, and JSON may write any letter as its number. */
function textsOf(
  query: string,
  { regex = false }: StoredSearchOptions,
  takesNames: boolean,
): readonly string[] | undefined {
  // A text of other letters may be stored in another form, or have other cases elsewhere.
  if (regex || !/^[\w .,:;!?()-]+$/.test(query)) return undefined;
  const names = takesNames ? ["session_info", '"title"'] : [];
  return [query, String.raw`\u00`, ...names];
}
