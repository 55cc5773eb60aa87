/** The hits of a search as an observable. */
import { Observable } from "rxjs";
import { searchSessions } from "../search/session-search.ts";
import type { SearchHit, SearchOptions } from "../search/search-terms.ts";

/**
 * As {@link searchSessions}: each subscription searches anew, and ends its search with itself. The
 * next hit is looked for once the subscriber has returned.
 */
export function search$(
  places: Parameters<typeof searchSessions>[0],
  query: string,
  options: SearchOptions = {},
): Observable<SearchHit> {
  return new Observable((subscriber) => {
    const end = new AbortController();
    const signals = [end.signal, ...(options.signal === undefined ? [] : [options.signal])];
    const search = async (): Promise<void> => {
      const hits = searchSessions(places, query, { ...options, signal: AbortSignal.any(signals) });
      for await (const hit of hits) subscriber.next(hit);
    };
    search().then(
      () => subscriber.complete(),
      (error: unknown) => subscriber.error(error),
    );
    return () => end.abort();
  });
}
