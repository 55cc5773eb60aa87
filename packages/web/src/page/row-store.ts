/**
 * The rows and facts of one session: fetched in pages once they are in view, refreshed when the
 * session changes. What is shown stays until newer rows are there.
 */
import { signal } from "@preact/signals";
import type { ReadonlySignal } from "@preact/signals";
import type { Row, ServerEvent, SessionFacts } from "../api.ts";
import { fetchFacts, fetchRows, messageOf } from "./client.ts";
import { coalesce } from "./model/coalesce.ts";
import { PageCache } from "./model/page-cache.ts";

/** 16,000 rows, about 10 MB. */
const pagesMax = 80;

/** Rows that a fast scroll passed are not fetched before those where it ended. */
const requestsMax = 2;

export class RowStore {
  readonly key: string;
  readonly #hasTree: boolean;
  readonly #facts = signal<SessionFacts | null>(null);
  readonly #failure = signal<string | null>(null);
  /** Counts changes of rows, for what draws them. */
  readonly #version = signal(0);
  readonly #cache = new PageCache<Row>(pagesMax);
  readonly #requested = new Set<number>();
  /** Counts events, to tell which answers may be older than the latest. */
  #changes = 0;

  /** @param options `hasTree`: what takes a pass over the index is waited for. */
  constructor(key: string, options: { readonly hasTree: boolean }) {
    this.key = key;
    this.#hasTree = options.hasTree;
  }

  get facts(): ReadonlySignal<SessionFacts | null> {
    return this.#facts;
  }

  get failure(): ReadonlySignal<string | null> {
    return this.#failure;
  }

  get version(): ReadonlySignal<number> {
    return this.#version;
  }

  rowAt(row: number): Row | undefined {
    return this.#cache.rowAt(row);
  }

  /** Rows from `first` on, until one is not held. */
  *rowsFrom(first: number, countMax: number): Generator<Row | undefined> {
    for (let row = first; row < first + countMax; row += 1) yield this.rowAt(row);
  }

  /** Fetches what is absent or stale of the rows in view. */
  require(first: number, end: number): void {
    for (const page of this.#cache.missing(first, end)) {
      if (this.#requested.size >= requestsMax) return;
      if (!this.#requested.has(page)) void this.#fetch(page);
    }
  }

  /** Asks for the facts again; at most one request is under way. */
  readonly refresh: () => void = coalesce(async () => {
    try {
      const facts = await fetchFacts(this.key, this.#hasTree);
      if (facts.generation !== this.#facts.value?.generation) this.#cache.clear();
      this.#facts.value = facts;
      this.#failure.value = null;
      this.#version.value += 1;
    } catch (error) {
      this.#failure.value = messageOf(error);
    }
  });

  apply(event: ServerEvent): void {
    if (event.kind === "sessions" || event.key !== this.key) return;
    if (event.kind === "gone") {
      this.#failure.value = event.message;
      return;
    }
    const facts = this.#facts.value;
    if (facts !== null && facts.generation === event.generation) {
      // The rows are asked for at once; the rest of the facts follows.
      this.#facts.value = { ...facts, rowCount: event.rowCount, leafId: event.leafId };
    }
    this.#changes += 1;
    this.#cache.markStale();
    this.#version.value += 1;
    this.refresh();
  }

  async #fetch(page: number): Promise<void> {
    this.#requested.add(page);
    const changes = this.#changes;
    try {
      const { rows, generation } = await fetchRows(this.key, page);
      this.#cache.put(page, rows);
      const facts = this.#facts.peek();
      if (facts !== null && generation !== facts.generation) this.refresh();
      // Rows that were read before a change may be older than it.
      else if (changes !== this.#changes) this.#cache.markStale();
      this.#requested.delete(page);
      this.#version.value += 1;
    } catch (error) {
      // The version stays, so that the next scroll or event retries, not the next frame.
      this.#requested.delete(page);
      this.#failure.value = messageOf(error);
    }
  }
}
