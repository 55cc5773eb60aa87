/**
 * The index as a search uses it. Nothing fails with it: from the first error on, all files are read
 * as if there were none.
 */
import { quietly } from "@branchlog/core/files";
import type { SessionFile } from "../catalog/session-files.ts";
import type { Search, SearchOptions } from "../search/search-terms.ts";
import { IndexLookup } from "./index-lookup.ts";
import type { IndexedPart, IndexedSource, WithoutMatch } from "./index-lookup.ts";
import { withIndexErrors } from "./index-database.ts";

export class UsedIndex {
  readonly #isOff: boolean;
  readonly #onUnread: SearchOptions["onIndexUnread"];
  #lookup: IndexLookup | undefined;
  #isAsked = false;
  #unindexedBytes = 0;

  constructor({ index = "auto", onIndexUnread }: SearchOptions) {
    this.#isOff = index === "off";
    this.#onUnread = onIndexUnread;
  }

  async open(search: Search): Promise<void> {
    if (this.#isOff || (search.wanted ?? []).length === 0) return;
    try {
      const lookup = await withIndexErrors(() => IndexLookup.open(search));
      this.#isAsked = lookup !== undefined;
      if (lookup !== "missing") this.#lookup = lookup;
    } catch (error) {
      this.#failed(error);
    }
  }

  withoutMatch(file: SessionFile): WithoutMatch | undefined {
    return this.#lookup?.withoutMatch(file);
  }

  isDocumentWithout(file: SessionFile): boolean {
    return this.#lookup?.isDocumentWithout(file) === true;
  }

  /** Of a document that is read whole. */
  addRead(file: SessionFile, size: number): void {
    this.#unindexedBytes += this.#lookup?.unindexedBytes(file, size, undefined) ?? size;
  }

  /** Of a log that never changes. */
  withoutStored(key: string): WithoutMatch | undefined {
    return this.#lookup?.withoutStored(key);
  }

  partOf(file: SessionFile, source: IndexedSource, size: number): IndexedPart | undefined {
    const lookup = this.#lookup;
    const part = this.#partOf(file, source);
    this.#unindexedBytes += lookup === undefined ? size : lookup.unindexedBytes(file, size, part);
    return part;
  }

  #partOf(file: SessionFile, source: IndexedSource): IndexedPart | undefined {
    try {
      return this.#lookup?.partOf(file, source);
    } catch (error) {
      // An error of the system is of the session's file: the index has no calls of its own.
      if (error instanceof Error && "syscall" in error) throw error;
      this.#failed(error);
      return undefined;
    }
  }

  /** In the files that were read; 0 for a query that the index does not answer. */
  get unindexedBytes(): number {
    return this.#isAsked ? this.#unindexedBytes : 0;
  }

  close(): void {
    const lookup = this.#lookup;
    this.#lookup = undefined;
    quietly(() => lookup?.close());
  }

  #failed(reason: unknown): void {
    this.close();
    this.#onUnread?.(reason);
  }
}
