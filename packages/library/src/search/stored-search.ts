/** The logs of a store that a search reads: the store reports which may have a hit. */
import { isBranchlogError } from "@branchlog/core";
import type { StoredSession } from "@branchlog/core";
import type { StoredLog } from "@branchlog/core/types";
import type { SearchedStore } from "../find/find-options.ts";
import { searchedKinds } from "./entry-texts.ts";
import { bytesSource, storedBytes } from "../catalog/stored-bytes.ts";
import type { SearchedSource } from "./file-matches.ts";
import { mayMatchBeside } from "./file-pass.ts";
import { storedKey } from "../index/index-lookup.ts";
import { UsedIndex } from "../index/used-index.ts";
import type { Search, SearchOptions } from "./search-terms.ts";

/** As files are: the bytes of each log of a store that may have a hit, in the order of the logs. */
export async function* storedSources(
  place: SearchedStore | StoredSession,
  query: string,
  options: SearchOptions,
  search: Search,
): AsyncGenerator<SearchedSource, void, undefined> {
  const { signal } = options;
  if (query === "") return;
  const texts = textsOf(query, options);
  const index = new UsedIndex(options);
  const indexedAs = "id" in place ? undefined : place.store.indexedAs;
  if (indexedAs !== undefined) await index.open(search);
  const mayMatch = (name: string): boolean => {
    if (indexedAs === undefined) return true;
    const without = index.withoutStored(storedKey(indexedAs, name));
    return without === undefined || mayMatchBeside(name, without, search);
  };
  try {
    for await (const log of logsOf(place, texts, mayMatch, signal)) {
      try {
        const bytes = await storedBytes(log, signal);
        const { address: path, owner } = log;
        yield { path, owner: owner?.agent, source: bytesSource(bytes), size: bytes.length };
      } catch (error) {
        signal?.throwIfAborted();
        unlessSkipped(error);
      }
    }
  } finally {
    index.close();
  }
}

async function* logsOf(
  place: SearchedStore | StoredSession,
  texts: readonly string[] | undefined,
  mayMatch: (name: string) => boolean,
  signal: AbortSignal | undefined,
): AsyncGenerator<StoredLog, void, undefined> {
  if ("id" in place) {
    yield await place.store.open(place.id, signal);
    return;
  }
  const { store } = place;
  if (store.logsWith === undefined) {
    for await (const { name } of store.list(signal)) {
      const log = await store.open(name, signal).catch(unlessSkipped);
      if (log !== undefined) yield log;
    }
  } else yield* store.logsWith(texts, signal, mayMatch);
}

/** Removed in the meantime. */
const skipped: ReadonlySet<string> = new Set(["ERR_LOG_MISSING", "ERR_LOG_GONE"]);

/** Undefined for errors that a search skips; throws others. */
function unlessSkipped(error: unknown): undefined {
  if (!isBranchlogError(error) || !skipped.has(error.code)) throw error;
}

/** Names match with gaps, and JSON may write any letter as its number. */
function textsOf(
  query: string,
  { regex = false, kinds = searchedKinds }: SearchOptions,
): readonly string[] | undefined {
  // A text of other letters may be stored in another form, or have other cases elsewhere.
  if (regex || !/^[\w .,:;!?()-]+$/.test(query)) return undefined;
  const names = kinds.includes("name") ? ["session_info", '"title"'] : [];
  // White space may be between parts, which are stored apart.
  const words = query.trim().split(/\s+/);
  const longest = words.reduce((one, other) => (other.length > one.length ? other : one));
  return [longest, String.raw`\u00`, ...names];
}
