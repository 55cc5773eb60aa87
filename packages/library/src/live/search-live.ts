/** The hits of a search as an observable. */
import { Observable } from "rxjs";
import { invalidArgument, isInStore } from "@branchlog/core/files";
import { searchSessions } from "../search/session-search.ts";
import type { SearchHit, SearchOptions } from "../search/search-terms.ts";
import { sessions$ } from "./live-sessions.ts";

/** As {@link SearchOptions}, and whether the search continues. */
export interface LiveSearchOptions extends SearchOptions {
  /**
   * Whether hits in later appends and sessions are also emitted: then it never ends by itself. Not
   * for stores. Default false.
   */
  readonly follow?: boolean;
}

/**
 * As {@link searchSessions}: each subscription searches again, and ends its search with itself. The
 * next hit is searched after the subscriber returned. With `follow`, a session that changed is
 * searched again, of which only the unindexed part is read; each hit is emitted once.
 * @throws BranchlogError `ERR_INVALID_ARGUMENT` for a store that is to be followed.
 */
export function search$(
  places: Parameters<typeof searchSessions>[0],
  query: string,
  { follow = false, ...options }: LiveSearchOptions = {},
): Observable<SearchHit> {
  if (follow && isInStore(places)) {
    throw invalidArgument("A search of a store cannot be live: search it again.");
  }
  return new Observable((subscriber) => {
    const end = new AbortController();
    const signals = [end.signal, ...(options.signal === undefined ? [] : [options.signal])];
    const signal = AbortSignal.any(signals);
    const seen = new Set<string>();
    const search = async (searched: typeof places): Promise<void> => {
      for await (const hit of searchSessions(searched, query, { ...options, signal })) {
        const key = JSON.stringify([hit.path, hit.entryId, hit.kind]);
        if (!seen.has(key)) subscriber.next(hit);
        if (follow) seen.add(key);
      }
    };
    const changed = new Changed();
    const following =
      follow && !isInStore(places)
        ? sessions$(typeof places === "string" ? [places] : places).subscribe((list) => {
            for (const { path } of [...list.added, ...list.changed]) changed.add(path);
          })
        : undefined;
    const run = async (): Promise<void> => {
      await search(places);
      if (following === undefined) return;
      for (;;) await search([await changed.next(signal)]);
    };
    run().then(
      () => subscriber.complete(),
      (error: unknown) => subscriber.error(error),
    );
    return () => {
      following?.unsubscribe();
      end.abort();
    };
  });
}

/** Paths that wait to be searched, each once. */
class Changed {
  readonly #paths = new Set<string>();
  #wake: (() => void) | undefined;

  add(path: string): void {
    this.#paths.add(path);
    this.#wake?.();
  }

  /** Rejects with the signal's reason. */
  async next(signal: AbortSignal): Promise<string> {
    for (;;) {
      const [path] = this.#paths;
      if (path !== undefined) {
        this.#paths.delete(path);
        return path;
      }
      await new Promise<void>((resolve, reject) => {
        const stop = (): void => reject(signal.reason as Error);
        if (signal.aborted) stop();
        signal.addEventListener("abort", stop, { once: true });
        this.#wake = () => {
          signal.removeEventListener("abort", stop);
          resolve();
        };
      });
    }
  }
}
