/** Searches sessions in a store, which says in which of them there may be a hit. */
import { isBranchlogError } from "@branchlog/core";
import type { StoredSession } from "@branchlog/core";
import { Engine, rowsOf } from "@branchlog/core/engine";
import type { StoredLog } from "@branchlog/core/types";
import type { SearchedStore } from "../find/find-options.ts";
import { searchedKinds } from "./entry-texts.ts";
import type { Search, SearchHit, SearchOptions } from "./search-terms.ts";

/** As `searchSessions`, in all sessions of a store or in one of them, in the order of the logs. */
export async function* searchStored(
  place: SearchedStore | StoredSession,
  query: string,
  search: Search,
  options: SearchOptions,
): AsyncGenerator<SearchHit, void, undefined> {
  const { signal } = options;
  if (query === "") return;
  for await (const log of logsOf(place, textsOf(query, options), signal)) {
    try {
      yield* hitsIn(log, search, signal);
    } catch (error) {
      signal?.throwIfAborted();
      unlessSkipped(error);
    }
  }
}

async function* logsOf(
  place: SearchedStore | StoredSession,
  texts: readonly string[] | undefined,
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
  } else yield* store.logsWith(texts, signal);
}

/** Removed meanwhile, or not a session. */
const skipped: ReadonlySet<string> = new Set([
  "ERR_LOG_MISSING",
  "ERR_LOG_GONE",
  "ERR_LOG_EMPTY",
  "ERR_NOT_A_SESSION",
  "ERR_HEADER_DAMAGED",
]);

/** Undefined for what a search leaves out; throws anything else. */
function unlessSkipped(error: unknown): undefined {
  if (!isBranchlogError(error) || !skipped.has(error.code)) throw error;
}

async function* hitsIn(
  log: StoredLog,
  search: Search,
  signal: AbortSignal | undefined,
): AsyncGenerator<SearchHit, void, undefined> {
  const engine = await Engine.openStored(log, { access: "read" }, signal);
  try {
    const { header, bodies, path } = engine;
    const { owner } = engine.log;
    if (!search.includes(owner?.agent ?? engine.dialect)) return;
    for await (const { entry } of bodies.entries(rowsOf(engine, {}, null))) {
      signal?.throwIfAborted();
      const match = search.match(entry);
      if (match === undefined) continue;
      const { id: entryId, timestamp } = entry;
      yield { path, header, transcriptOf: owner?.agent, entryId, timestamp, ...match };
    }
  } finally {
    engine.release();
  }
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
