/** Finds the sessions of a store, the latest change first, page by page as the store lists them. */
import { requireAtLeast } from "@branchlog/core/files";
import type { ListedSession } from "../catalog/listed-session.ts";
import { StoredCatalog, readStored } from "../catalog/stored-catalog.ts";
import type { StoreReading } from "../catalog/stored-catalog.ts";
import type { ListingStore, StoredFacts } from "@branchlog/core/types";
import type { FindOptions, FoundSessions } from "./find-options.ts";
import { LatestSessions } from "./latest-sessions.ts";

/** As `findSessions`. */
export async function findStored(
  store: ListingStore,
  options: FindOptions,
): Promise<FoundSessions> {
  requireAtLeast("limit", options.limit ?? 0, 0);
  const sessions: ListedSession[] = [];
  if (options.limit !== 0) {
    for await (const session of latestStored(store, options)) {
      sessions.push(session);
      if (sessions.length === options.limit) break;
    }
  }
  const knownIds = sessions.map(({ header }) => header.id);
  return { sessions, unlisted: [], knownIds };
}

/**
 * The sessions of a store in a list, the latest change first, each read whole when its
 * turn comes; the limit is the caller's. Throws as `findSessions`.
 */
export async function* latestStored(
  store: ListingStore,
  options: FindOptions,
): AsyncGenerator<ListedSession, void, undefined> {
  const { onProgress, sinceMs = Number.NEGATIVE_INFINITY, signal } = options;
  const latest = new LatestSessions(options);
  const reading = storeReading(store);
  let searched = 0;
  for await (const stored of store.latest?.(signal) ?? byLastChange(store.list(signal))) {
    if (stored.changedAt.getTime() < sinceMs) return;
    onProgress?.({ searched, total: searched + 1 });
    searched += 1;
    const session = await readStored(reading, stored, signal);
    if (session !== undefined && latest.isWanted(session)) yield session;
  }
}

async function* byLastChange(listed: AsyncIterable<StoredFacts>): AsyncGenerator<StoredFacts> {
  const all: StoredFacts[] = [];
  for await (const stored of listed) all.push(stored);
  yield* all.sort((one, other) => other.changedAt.getTime() - one.changedAt.getTime());
}

export function storedCatalog(store: ListingStore): StoredCatalog {
  return new StoredCatalog(storeReading(store));
}

function storeReading(store: ListingStore): StoreReading {
  return {
    list: (signal) => store.list(signal),
    open: ({ name }, signal) => store.open(name, signal),
  };
}
