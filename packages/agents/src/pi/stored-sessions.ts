/** Finds and lists the sessions of a store, as `session-lookup` those of a directory. */
import { StoredCatalog } from "@branchlog/library/catalogs";
import type { BlockingStore } from "@branchlog/core/files";
import type { StoredFacts } from "@branchlog/core/types";

/** The address of the session with this id, of several the one that changed last. */
export function findStored(store: BlockingStore, sessionId: string): string | undefined {
  return latestOf(store, (session) => session.sessionId === sessionId)?.address;
}

/** The address of the session of `cwd`, if given, that changed last. */
export function latestStored(store: BlockingStore, cwd: string | undefined): string | null {
  const latest = latestOf(store, (session) => cwd === undefined || session.cwd === cwd);
  return latest?.address ?? null;
}

export function blockingCatalog(store: BlockingStore): StoredCatalog {
  return new StoredCatalog({
    list: () => store.listSync(),
    open: ({ name }) => store.openSync(name),
  });
}

function latestOf(
  store: BlockingStore,
  isWanted: (session: StoredFacts) => boolean,
): StoredFacts | undefined {
  const found = store.listSync().filter((session) => isWanted(session));
  return found.sort((one, other) => other.changedAt.getTime() - one.changedAt.getTime())[0];
}
