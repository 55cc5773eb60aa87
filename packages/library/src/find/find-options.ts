/** The options and the result of a search for sessions. */
import type { ListingStore } from "@branchlog/core/types";
import type { CatalogMode } from "../catalog/catalog-store.ts";
import type { ListedSession } from "../catalog/listed-session.ts";

/** Progress of a search, in sessions. */
export interface SearchProgress {
  readonly searched: number;
  /** Of a store, which is read page by page, as many as are known. */
  readonly total: number;
}

/** Options of `findSessions`. */
export interface FindOptions {
  /**
   * Whether subagents' sessions are listed. Default false: those of omp are left out, others count
   * as a part of their parent session.
   */
  readonly artifacts?: boolean;
  /** Only of these agents, by their names. Default: all. */
  readonly agents?: readonly string[] | undefined;
  /** Only sessions changed since, in epoch ms. */
  readonly sinceMs?: number | undefined;
  /** Only sessions last changed before then, in epoch ms. */
  readonly untilMs?: number | undefined;
  /**
   * Maximum number of sessions: the most recently changed. Files are read from the latest to the
   * oldest, until no older one can be among them.
   */
  readonly limit?: number | undefined;
  /**
   * Whether sessions in large databases can be listed from their rows, without counts, size,
   * usage, activity and texts, until they are read, some more each time. Default false.
   */
  readonly unread?: boolean | undefined;
  /** Whether facts are saved and loaded; see `sessions$`. Default `auto`. */
  readonly catalog?: CatalogMode;
  /** Called before each file. */
  readonly onProgress?: ((progress: SearchProgress) => void) | undefined;
  /** Ends the search with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Latest change first. */
export interface FoundSessions {
  readonly sessions: readonly ListedSession[];
  /**
   * Skipped paths: those that are not UTF-8, with U+FFFD for the invalid bytes; damaged documents
   * where their agents keep them.
   */
  readonly unlisted: readonly string[];
  /**
   * Of all sessions there, also those that filters leave out, but for subagents that are not
   * listed; of files that were not read, from their names.
   */
  readonly knownIds: readonly string[];
}

/** Where sessions are looked for in a store. */
export interface SearchedStore {
  /** As `postgresStore()` of `@branchlog/postgres`. */
  readonly store: ListingStore;
}
